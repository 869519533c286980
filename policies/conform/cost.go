package conform

import (
	"context"
	"errors"
	"slices"
	"time"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// costed are the pools of which the costs are reported.
var costed = [...]int{3, 20, 200, 1000}

// calls is of how many calls the median is taken.
const calls = 21

// costs measures what calls take.
func (e *exam) costs(ctx context.Context, m *wasm.Module) error {
	for _, n := range costed {
		c, grown, err := e.cost(ctx, m, n)
		if err != nil {
			return err
		}
		e.report.Costs = append(e.report.Costs, c)
		if c.Fault == "" && grown >= calls {
			e.report.advise("with %d candidates its memory grows in every call, and each time its instance is replaced: begin with more memory, or allocate less", n)
		}
	}
	return nil
}

// cost measures calls with so many candidates; grown is how many instances had
// to be replaced.
func (e *exam) cost(ctx context.Context, m *wasm.Module, candidates int) (c Cost, grown uint64, err error) {
	c.Candidates = candidates
	in := request(candidates)
	var out abi.Result
	var took []time.Duration
	before := m.Stats()
	for range calls {
		start := time.Now()
		err := e.ask(ctx, m, in, &out)
		took = append(took, time.Since(start))
		if fault, ok := errors.AsType[*wasm.Fault](err); ok {
			c.Fault = fault.Kind.String() + ": " + fault.Detail
			if clause, what := clauseOfFault(err, abi.ClauseCount); clause != "" {
				e.report.broken(clause, "%d candidates: %s", candidates, what)
			}
			break
		}
		if err != nil {
			return c, 0, err
		}
	}
	after := m.Stats()
	c.Units = int64((after.Units - before.Units) / max(after.Calls-before.Calls, 1)) //nolint:gosec // below the budget
	slices.Sort(took)
	c.Took = took[len(took)/2]
	return c, after.Outgrown - before.Outgrown, nil
}

// settle adds what only the whole shows.
func (e *exam) settle(info *wasm.Info) {
	r := e.report
	ordinary := r.finding(abi.ClauseAnswers)
	if e.refusing > 0 && e.refusing == ordinary.Asked {
		r.broken(abi.ClauseAnswers, "it ends every ordinary request with an error of its own")
	}
	if ordinary.Outcome == Broken {
		for _, c := range []abi.Clause{abi.ClauseCount, abi.ClauseUnknown, abi.ClauseSkipped, abi.ClauseTies, abi.ClauseTexts, abi.ClauseNumbers} {
			if r.finding(c).Outcome == Broken {
				r.skipped(c, "ordinary requests are not answered either")
			}
		}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Outcome == Kept && f.Asked == 0 {
			f.Outcome, f.Detail = Skipped, "each time another clause was broken"
		}
	}
	if e.own > 0 && e.ordinary > 0 {
		r.advise("it ends %d of its calls with an error of its own: a fault, so requests are refused by an admission and lose their ranking", e.own)
	}
	if e.unscored != "" {
		r.advise("%s", e.unscored)
	}
	if info.Manifest == nil {
		r.advise("it has no manifest: its only reason is policy, and everything a policy may read counts as read by it")
	}
	e.adviseCosts()
}

// adviseCosts says what the costs mean.
func (e *exam) adviseCosts() {
	const half, percent, steep = 2, 100, 2
	var last Cost
	for _, c := range e.report.Costs {
		if c.Fault != "" {
			return
		}
		if c.Units*half >= e.report.Budget {
			e.report.advise("with %d candidates it uses %d %% of its budget", c.Candidates, c.Units*percent/e.report.Budget)
		}
		if c.Candidates > 20 && c.Units*int64(last.Candidates) > steep*last.Units*int64(c.Candidates) {
			e.report.advise("its cost grows faster than the number of candidates: %d units with %d, %d with %d", last.Units, last.Candidates, c.Units, c.Candidates)
		}
		last = c
	}
}
