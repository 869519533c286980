package policies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gatewright/wasm/abi"
)

// tryTime is how long a trial may take, loading included, which is nearly all of it: a
// large module on a busy machine.
const tryTime = 30 * time.Second

// Try evaluates a version with an input in the contract's JSON form, with
// parameters (nil = none). What it would do to live traffic is not done, counted
// or suspended. The error is about the input, the parameters or the version; a
// fault of the policy is in the trial.
func (l *Library) Try(ctx context.Context, p *Policy, v *Version, text, parameters []byte) (*Trial, error) {
	in, err := readInput(text)
	if err != nil {
		return nil, fmt.Errorf("%w: input: %w", ErrInvalid, err)
	}
	b := &Binding{ID: "try", Policy: p.Name, Parameters: parameters}
	if err := b.check(Admission); err != nil { // the parameters: nothing else is set
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	u, _, release, err := l.load(ctx, p, v, b)
	if err != nil {
		return nil, err
	}
	defer release()
	var out verdict
	began := time.Now()
	err = u.decide(ctx, in, &out)
	t := &Trial{Micros: time.Since(began).Microseconds()}
	switch {
	case err != nil:
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t.Outcome, t.Fault = "fault", bounded(err.Error())
	case p.Kind == Ranking:
		t.rank(in, &out)
	default:
		t.admit(in, &out)
	}
	return t, nil
}

// admit shows what an admission said.
func (t *Trial) admit(in *input, out *verdict) {
	t.Outcome = "allowed"
	if f := &out.refusal; f.status != 0 {
		t.Outcome = "refused"
		t.Refusal = &TrialRefusal{Code: f.code, Message: f.message, Status: f.status, RetryAfter: int64(f.retryAfter / time.Second)}
	}
	for i := range out.removals {
		m := &out.removals[i]
		r := TrialRemoval{ID: in.Records[m.index].ID, Reason: m.reason}
		if !m.until.IsZero() {
			at := m.until.UTC()
			r.Until = &at
		}
		t.Removed = append(t.Removed, r)
	}
	if t.Removed != nil && t.Refusal == nil {
		t.Outcome = "removed"
	}
}

// rank shows the order that a ranking gave, ties as they came, without those
// that are not in the pool.
func (t *Trial) rank(in *input, out *verdict) {
	t.Outcome = "ranked"
	var order []int
	for i := range in.Records {
		if in.Records[i].Skipped == 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareScores(out.scores[a], out.scores[b]) })
	t.Order = []TrialRank{}
	for _, i := range order {
		r := TrialRank{ID: in.Records[i].ID}
		if s := out.scores[i]; !math.IsNaN(s) {
			r.Score = &s
		}
		t.Order = append(t.Order, r)
	}
}

// errTwice is an input with two candidates of one id.
var errTwice = errors.New("two candidates have the same id")

// checkInput reports what is wrong with an input that a person wrote.
func checkInput(in *abi.Input) error {
	if len(in.Records) > abi.MaxRecords {
		return abi.ErrTooMany
	}
	seen := make(map[string]bool, len(in.Records))
	for i := range in.Records {
		id := in.Records[i].ID
		if id == "" {
			return fmt.Errorf("candidates[%d] has no id", i)
		}
		if seen[id] {
			return fmt.Errorf("candidates[%d]: %q: %w", i, id, errTwice)
		}
		seen[id] = true
	}
	return nil
}
