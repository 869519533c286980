package policies

import (
	"math"
	"slices"
	"time"

	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// verdict is what one evaluation came to, in the engine's terms. Its slices are
// used again.
type verdict struct {
	refusal  refusal
	removals []removal
	scores   []float64 // of a ranking: one a candidate, low is better; NaN = none

	began time.Duration // since epoch; 0 = nothing was evaluated

	// The rest is scratch of programs.
	guest  abi.Result  // what a guest answered
	asked  []byte      // the input as JSON
	said   []byte      // what a rule answered
	answer rego.Answer // the same, read
	filter filter      // of a decision
}

// refusal is a refusal of the whole request; a status of 0 is none.
type refusal struct {
	status     int
	code       string // "" = the policy's name
	message    string
	retryAfter time.Duration
}

// removal is one candidate that may not serve.
type removal struct {
	index  int
	reason string
	until  time.Time // zero = lasting
}

func (v *verdict) reset() {
	v.refusal, v.removals, v.scores, v.began = refusal{}, v.removals[:0], v.scores[:0], 0
}

// epoch is what instants are measured from: reading the monotonic clock alone costs
// half of what a time does.
var epoch = time.Now()

// begin notes when an evaluation begins.
func (v *verdict) begin() { v.began = time.Since(epoch) }

// took is how long it is since then; 0 if nothing has begun.
func (v *verdict) took() time.Duration {
	if v.began == 0 {
		return 0
	}
	return time.Since(epoch) - v.began
}

// sameAdmission reports whether two verdicts let the same candidates serve.
func sameAdmission(a, b *verdict) bool {
	if a.refusal.status != 0 || b.refusal.status != 0 {
		return a.refusal.status == b.refusal.status && a.refusal.code == b.refusal.code
	}
	return slices.Equal(a.removed(), b.removed())
}

// removed lists the indexes of the removed candidates, sorted, each once.
func (v *verdict) removed() []int {
	list := make([]int, len(v.removals))
	for i := range v.removals {
		list[i] = v.removals[i].index
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sameRanking reports whether two lists of scores put the candidates that may
// serve in the same order, ties included.
func sameRanking(a, b []float64, admitted func(i int) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !admitted(i) {
			continue
		}
		for j := range i {
			if admitted(j) && compareScores(a[i], a[j]) != compareScores(b[i], b[j]) {
				return false
			}
		}
	}
	return true
}

// compareScores orders the better score first; none is behind all.
func compareScores(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(b) || a < b:
		return -1
	case math.IsNaN(a) || a > b:
		return 1
	}
	return 0
}
