package admission_test

import (
	"math"
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestContextWindow(t *testing.T) {
	tokens := func(input, output, limit int64) func(*engine.Request, *engine.Candidate) {
		return func(r *engine.Request, c *engine.Candidate) {
			r.InputTokens, r.MaxOutput, c.Context = input, output, limit
		}
	}
	// The two other candidates take 8000 tokens.
	runCases(t, admission.ContextWindow{}, []refusalCase{
		{name: "exactly full", set: tokens(7000, 900, 7900)},
		{name: "one too many", set: tokens(7000, 901, 7900), detail: "about 7000 input tokens and 901 of output exceed its context limit of 7900"},
		{name: "limit not known", set: tokens(7000, 1000, 0)},
		{name: "no output named", set: tokens(7900, 0, 7900)},
		{name: "input alone is too long", set: tokens(7901, 0, 7900), detail: "about 7901 input tokens and 0 of output exceed its context limit of 7900"},
		{name: "input not known, output alone is too long", set: tokens(0, 7901, 7900), detail: "about 0 input tokens and 7901 of output exceed its context limit of 7900"},
		{name: "neither known", set: tokens(0, 0, 1)},
		{name: "embeddings have it for each input", set: func(r *engine.Request, c *engine.Candidate) {
			r.Endpoint, r.InputTokens, c.Context = engine.EndpointEmbeddings, 100_000, 8191
		}},
		{name: "negative numbers count as none", set: tokens(-5, math.MinInt64, 1)},
	})
}

// The sum of what a caller asks for may not fit into an integer.
func TestContextWindowWithAbsurdOutput(t *testing.T) {
	r, c := healthy()
	r.MaxOutput = math.MaxInt64
	var out engine.Refusals
	if err := (admission.ContextWindow{}).Refuse(t.Context(), r, []engine.Candidate{c}, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.List()) != 1 {
		t.Errorf("refused %v, want the one candidate", out.List())
	}
}
