package engine_test

import (
	"math"
	"testing"
	"time"

	"gatewright/engine"
)

// counter counts to a fixed number and remembers for which models.
type counter struct {
	tokens int64
	models []string
}

func (c *counter) count(model string) (int64, time.Duration) {
	c.models = append(c.models, model)
	return c.tokens, 3 * time.Millisecond
}

// TestEstimate checks what the input is taken to be, when it is counted, and
// what that decides. The pool has limits of 1000 and 8000 tokens.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		name      string
		bytes     int64 // of text, at 4 a token
		output    int64
		tokens    int64 // that a count gives
		input     int64 // that rules see
		counted   bool
		remaining int // candidates
	}{
		{"far below", 2396, 0, 5000, 599, false, 2},
		{"near from below, fits", 2400, 0, 1000, 1000, true, 2},
		{"near from below, does not fit", 2400, 0, 1001, 1001, true, 1},
		{"at the limit, fits", 4000, 0, 900, 900, true, 2},
		{"near from above, fits after all", 5600, 0, 999, 999, true, 2},
		{"far above", 5604, 0, 1, 1401, false, 1},
		{"output takes room", 2000, 500, 499, 499, true, 2},
		{"output takes all room", 4000, 1000, 1, 1000, false, 2},
		{"absurd output", 4000, math.MaxInt64, 1, 1000, false, 2},
		{"a count that fails", 4000, 0, 0, 1000, true, 2},
		{"too long for all", 8000 * 4, 0, 1, 8000, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, []string{"m", "a/small", "b/large"})
			w.deployment("a/small").Context, w.deployment("b/large").Context = 1000, 8000
			w.deployment("a/small").TokenSize, w.deployment("b/large").TokenSize = 3000, 4000
			s := w.start(t)
			n := counter{tokens: c.tokens}
			r := request("m")
			r.TextBytes, r.MaxOutput, r.CountTokens = c.bytes, c.output, n.count
			d, err := w.serve(s, r)
			if err != nil {
				t.Fatal(err)
			}
			if r.InputTokens != c.input || len(d.Order) != c.remaining {
				t.Errorf("input %d for %v, want %d for %d candidates", r.InputTokens, d.Order, c.input, c.remaining)
			}
			want := 0
			if c.counted {
				want = 1
			}
			if len(n.models) != want || want > 0 && n.models[0] != "small" {
				t.Errorf("counted for %q, want %d times for the smallest", n.models, want)
			}
			if c.counted != (d.Counting == 3*time.Millisecond) || d.CountedTokens != min(int64(want), 1)*c.tokens {
				t.Errorf("the decision says %d tokens in %s", d.CountedTokens, d.Counting)
			}
			if r.CountTokens != nil {
				t.Error("the finished request still holds the counter, and with it the body")
			}
		})
	}
}

// TestEstimateOfFallbacks counts once, whichever pool needs it, and otherwise
// estimates for each pool anew.
func TestEstimateOfFallbacks(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"}, []string{"n", "b/n"}, []string{"o", "c/o"})
	w.model("m").Route.Chains[engine.ChainContext] = []string{"n", "o"}
	w.deployment("a/m").Context, w.deployment("b/n").Context, w.deployment("c/o").Context = 100, 1000, 2000
	w.deployment("b/n").TokenSize = 4000
	s := w.start(t)
	n := counter{tokens: 1500}
	r := request("m")
	r.TextBytes, r.CountTokens = 4000, n.count // 666 tokens for m, 1000 for n
	d, err := w.serve(s, r)
	if err != nil || d.Result.Deployment != "c/o" {
		t.Fatalf("served by %q, %v", d.Result.Deployment, err)
	}
	if len(n.models) != 1 || n.models[0] != "n" || r.InputTokens != 1500 {
		t.Errorf("counted for %q, input %d", n.models, r.InputTokens)
	}
}

// TestEstimateIsLeftAlone where the server knows better, or nobody can count.
func TestEstimateIsLeftAlone(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"})
	w.deployment("a/m").Context = 1000
	s := w.start(t)
	r := request("m")
	r.InputTokens = 900
	if _, err := w.serve(s, r); err != nil || r.InputTokens != 900 {
		t.Errorf("input %d, %v", r.InputTokens, err)
	}
	r = request("m")
	r.TextBytes = 5400
	if _, err := w.serve(s, r); err != nil || r.InputTokens != 900 {
		t.Errorf("input %d, %v; want the default of 6 bytes a token", r.InputTokens, err)
	}
}
