package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// Clients of chat completions want a function in every piece of a call, also in the
// one that brings the signature.
func TestEveryPieceOfACallHasItsFunction(t *testing.T) {
	chat := codecOf(t, translate.Chat)
	r := &translate.Request{Stream: true}
	a := &translate.Answer{End: translate.End{Finish: translate.FinishCalls}, Parts: []translate.Part{{
		Kind: translate.KindCall, Call: translate.Call{ID: "c", Name: "f", Arguments: `{"a":1}`},
		Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "s"},
	}}}
	encoder := chat.NewEncoder(r, "m")
	var stream []byte
	for _, ev := range translate.Unfold(a) {
		stream = encoder.Event(stream, &ev)
	}
	signed := false
	for line := range strings.Lines(string(stream)) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					ToolCalls []struct {
						Function     *struct{ Name, Arguments *string }
						ExtraContent json.RawMessage `json:"extra_content"`
					} `json:"tool_calls"`
				}
			}
		}
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok || json.Unmarshal([]byte("{"+data), &chunk) != nil || len(chunk.Choices) == 0 {
			continue
		}
		for _, call := range chunk.Choices[0].Delta.ToolCalls {
			if call.Function == nil || call.Function.Arguments == nil {
				t.Errorf("a piece without a function: %s", line)
			}
			signed = signed || len(call.ExtraContent) > 0
		}
	}
	if !signed {
		t.Errorf("no signature in %s", stream)
	}
}
