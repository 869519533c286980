package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// indexedGemini is the right reading of a recorded answer of Gemini's.
type indexedGemini struct {
	Text          digest
	Reasoning     digest
	FunctionCalls []struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"function_calls"`
	FinishReason string `json:"finish_reason"`
	Usage        struct {
		PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, CachedContentTokenCount int64
	}
}

// commonWords are Gemini's words for the ends of answers in those of the other
// protocols. What it says with a MODEL_ARMOR is told as a refusal.
var commonWords = map[string]string{"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "MODEL_ARMOR": "refusal"}

func (e *indexedGemini) read(r *recorded) {
	r.text, r.reasoning = e.Text, e.Reasoning
	r.reason = commonWords[e.FinishReason]
	for _, c := range e.FunctionCalls {
		r.calls = append(r.calls, call{ID: c.ID, Name: c.Name, Arguments: string(c.Args)})
		r.reason = "tool_calls"
	}
	u := &e.Usage
	r.usage = &translate.Usage{
		Input: u.PromptTokenCount, Output: u.CandidatesTokenCount + u.ThoughtsTokenCount,
		Cached: u.CachedContentTokenCount, Reasoning: u.ThoughtsTokenCount, Known: true,
	}
}

// indexedResponses is the right reading of a recorded answer of Responses.
type indexedResponses struct {
	Text      digest
	Reasoning digest
	ToolCalls []struct {
		CallID                 string `json:"call_id"`
		Name, Arguments, Input string
	} `json:"tool_calls"`
	Status string
	Usage  *struct {
		InputTokens  int64 `json:"input_tokens"`
		InputDetails struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputTokens  int64 `json:"output_tokens"`
		OutputDetails struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
}

func (e *indexedResponses) read(r *recorded) {
	r.text, r.reasoning = e.Text, e.Reasoning
	r.fails = e.Status == "failed"
	r.reason = "stop"
	for _, c := range e.ToolCalls {
		r.calls = append(r.calls, call{ID: c.CallID, Name: c.Name, Arguments: c.Arguments + c.Input})
		r.reason = "tool_calls"
	}
	if u := e.Usage; u != nil {
		r.usage = &translate.Usage{
			Input: u.InputTokens, Output: u.OutputTokens, Cached: u.InputDetails.Cached,
			Reasoning: u.OutputDetails.Reasoning, Known: true,
		}
	}
}

// recordedElsewhere returns the recorded answers of Gemini and Responses.
func recordedElsewhere(tb testing.TB) (all []recorded) {
	tb.Helper()
	for folder, p := range map[string]translate.Protocol{"gemini": translate.Gemini, "responses": translate.Responses} {
		var index struct {
			Files []struct {
				File    string
				Request struct{ Body json.RawMessage }
				Expect  json.RawMessage
			}
		}
		if err := json.Unmarshal(readMaterial(tb, folder, "index.json"), &index); err != nil {
			tb.Fatal(err)
		}
		for i := range index.Files {
			f := &index.Files[i]
			r := recorded{protocol: p, file: f.File, body: readMaterial(tb, folder, f.File), request: f.Request.Body}
			var expect interface{ read(*recorded) } = &indexedGemini{}
			if p == translate.Responses {
				expect = &indexedResponses{}
			}
			if err := json.Unmarshal(f.Expect, expect); err != nil {
				tb.Fatal(err)
			}
			expect.read(&r)
			if !r.stream() {
				var exchange struct {
					Request, Response struct{ Body json.RawMessage }
				}
				if err := json.Unmarshal(r.body, &exchange); err != nil {
					tb.Fatal(err)
				}
				r.request, r.body = exchange.Request.Body, exchange.Response.Body
			}
			if strings.HasSuffix(r.file, "responses-phase.sse") {
				// The recording was shortened: of its texts only the ends are whole, and
				// what a reader of the pieces gets is checked apart.
				r.text = digest{text: phaseText}
			}
			all = append(all, r)
		}
	}
	if len(all) < 20 {
		tb.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

// phaseText is what the pieces of the shortened recording make.
const phaseText = "Got itHere are a few **AI"
