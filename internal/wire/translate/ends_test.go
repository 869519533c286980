package translate_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"gatewright/internal/wire/translate"
)

// upstreamEnds are the ways in which answers end, in the words of upstreams, and
// answers that end so.
var upstreamEnds = []upstreamEnd{
	{translate.Chat, "stop", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`},
	{translate.Chat, "stop, with tool calls", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`},
	{translate.Chat, "stop, with a refusal", `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`},
	{translate.Chat, "length", `{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}`},
	{translate.Chat, "tool_calls", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
	{translate.Chat, "content_filter", `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`},
	{translate.Chat, "any other", `{"choices":[{"message":{"content":"a"},"finish_reason":"eos"}]}`},
	{translate.Messages, "end_turn", `{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`},
	{translate.Messages, "stop_sequence", `{"content":[{"type":"text","text":"a"}],"stop_reason":"stop_sequence","stop_sequence":"x"}`},
	{translate.Messages, "pause_turn", `{"content":[{"type":"text","text":"a"}],"stop_reason":"pause_turn"}`},
	{translate.Messages, "max_tokens", `{"content":[{"type":"text","text":"a"}],"stop_reason":"max_tokens"}`},
	{translate.Messages, "model_context_window_exceeded", `{"content":[{"type":"text","text":"a"}],"stop_reason":"model_context_window_exceeded"}`},
	{translate.Messages, "tool_use", `{"content":[{"type":"tool_use","id":"c","name":"f","input":{}}],"stop_reason":"tool_use"}`},
	{translate.Messages, "refusal", `{"content":[],"stop_reason":"refusal"}`},
	{translate.Messages, "any other", `{"content":[{"type":"text","text":"a"}],"stop_reason":"new"}`},
}

// TestEnds checks the table of docs/protocols.md that says how an answer ends for
// a client. With -update it writes it.
func TestEnds(t *testing.T) {
	page, err := os.ReadFile(protocolsPage)
	if err != nil {
		t.Fatal(err)
	}
	clients := []translate.Protocol{translate.Chat, translate.Messages, translate.Responses}
	var table bytes.Buffer
	table.WriteString("| upstream | ends with |")
	for _, p := range clients {
		fmt.Fprintf(&table, " a client of %s sees |", p)
	}
	table.WriteString("\n|---|---|---|---|---|\n")
	for _, end := range slices.Concat(upstreamEnds, elsewhereEnds) {
		a, err := codecOf(t, end.p).DecodeAnswer([]byte(end.body), anyRequest, anyUpstream)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "| %s | %s |", end.p, end.words)
		for _, p := range clients {
			in := codecOf(t, p)
			whole := seenBy(t, p, in.EncodeAnswer(nil, a, anyRequest, publicModel), false)
			e := in.NewEncoder(anyRequest, publicModel)
			var stream []byte
			for _, ev := range translate.Unfold(a) {
				stream = e.Event(stream, &ev)
			}
			if streamed := seenBy(t, p, stream, true); streamed.reason != whole.reason || streamed.sequence != whole.sequence {
				t.Errorf("%v, %s: a stream ends with %q, a whole answer with %q", end.p, end.words, streamed.reason, whole.reason)
			}
			if p == end.p && whole.reason != end.words && finishes[end.words] != translate.FinishNone && end.words != "model_context_window_exceeded" {
				t.Errorf("%v, %s: became %q", end.p, end.words, whole.reason)
			}
			shown := shownEnd(p, whole)
			if p == end.p {
				shown = "the same"
			}
			fmt.Fprintf(&table, " %s |", shown)
		}
		table.WriteString("\n")
	}
	page = replaceTable(t, page, "ends", table.Bytes())
	if *update {
		if err := os.WriteFile(protocolsPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
