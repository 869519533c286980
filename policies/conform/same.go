package conform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// answer is what a module said to a question, kept.
type answer struct {
	result abi.Result
	err    error // a *wasm.Fault
}

func (e *exam) answer(ctx context.Context, m *wasm.Module, q *question) (*answer, error) {
	a := &answer{}
	err := e.ask(ctx, m, q.in, &a.result)
	if fault, ok := errors.AsType[*wasm.Fault](err); ok {
		a.err = fault
		return a, nil
	}
	return a, err
}

// differs says in what two answers differ; "" = in nothing.
func (a *answer) differs(b *answer) string {
	if a.err != nil || b.err != nil {
		if fmt.Sprint(a.err) == fmt.Sprint(b.err) {
			return ""
		}
		return fmt.Sprintf("%s, then %s", outcomeOf(a.err), outcomeOf(b.err))
	}
	x, y := &a.result, &b.result
	if x.Ordered != y.Ordered {
		return "once an order, once scores"
	}
	for i := range x.Order {
		if i >= len(y.Order) || x.Order[i] != y.Order[i] {
			return fmt.Sprintf("the orders %v and %v", firstOf(x.Order), firstOf(y.Order))
		}
	}
	if len(x.Order) != len(y.Order) {
		return fmt.Sprintf("orders of %d and %d candidates", len(x.Order), len(y.Order))
	}
	for i := range x.Scores {
		if s, t := x.Scores[i], y.Scores[i]; math.Float64bits(s) != math.Float64bits(t) && !(math.IsNaN(s) && math.IsNaN(t)) {
			return fmt.Sprintf("candidate %d has the scores %v and %v", i, s, t)
		}
	}
	for i := range x.Verdicts {
		if x.Verdicts[i] != y.Verdicts[i] {
			return fmt.Sprintf("candidate %d has the verdicts %d and %d", i, x.Verdicts[i].Reason, y.Verdicts[i].Reason)
		}
	}
	if x.Refusal != y.Refusal {
		return fmt.Sprintf("the refusals %+v and %+v", x.Refusal, y.Refusal)
	}
	if !slices.Equal(x.Message, y.Message) {
		return fmt.Sprintf("the messages %q and %q", x.Message, y.Message)
	}
	return ""
}

func outcomeOf(err error) string {
	if err == nil {
		return "an answer"
	}
	return err.Error()
}

// firstOf are the first few of an order.
func firstOf(order []uint32) []uint32 {
	const few = 8
	return order[:min(few, len(order))]
}

// repeated are the questions whose answers are compared. None needs a larger
// buffer than an instance is born with.
func repeated() []question {
	var list []question
	for _, q := range questions() {
		switch q.name {
		case "3 candidates", "20 candidates", "20 candidates, not streamed", "one candidate",
			"20 candidates, nothing known of each second", "20 candidates, each second skipped", "20 candidates that are the same":
			list = append(list, q)
		}
	}
	return list
}

// determinism compares answers. m has been asked all questions, also those that
// need more memory.
func (e *exam) determinism(ctx context.Context, m *wasm.Module) error {
	if e.subject.Stateful {
		e.report.skipped(abi.ClauseState, "the module keeps state on purpose")
		return e.sameStory(ctx)
	}
	twin, err := e.load(ctx, false)
	if err != nil {
		return err
	}
	for _, q := range repeated() {
		one, err := e.answer(ctx, m, &q)
		if err != nil {
			return err
		}
		for what, other := range map[string]*wasm.Module{"asked again": m, "asked of another instance": twin} {
			two, err := e.answer(ctx, other, &q)
			if err != nil {
				return err
			}
			e.compare(abi.ClauseRepeat, q.name+", "+what, one, two)
		}
	}
	return e.state(ctx)
}

func (e *exam) compare(clause abi.Clause, what string, one, two *answer) {
	if d := one.differs(two); d != "" {
		e.report.broken(clause, "%s: %s", what, d)
		return
	}
	e.report.kept(clause)
}

// state looks for what a module keeps from one call to the next. The gateway
// takes it away after each call, so a module that counts on it does not do what
// its author thinks: here it is left to the module.
func (e *exam) state(ctx context.Context) error {
	m, err := e.load(ctx, true)
	if err != nil {
		return err
	}
	list := repeated()
	first := make([]*answer, len(list))
	for i := range list {
		if first[i], err = e.answer(ctx, m, &list[i]); err != nil {
			return err
		}
		again, err := e.answer(ctx, m, &list[i])
		if err != nil {
			return err
		}
		e.compare(abi.ClauseState, list[i].name+", asked twice by one who keeps what it likes", first[i], again)
	}
	for i := len(list) - 1; i >= 0; i-- {
		again, err := e.answer(ctx, m, &list[i])
		if err != nil {
			return err
		}
		e.compare(abi.ClauseState, list[i].name+", asked again after others by one who keeps what it likes", first[i], again)
	}
	if e.report.finding(abi.ClauseState).Outcome == Broken {
		e.report.advise("it keeps state, which is put back after each call, so none of it ever counts; a binding with stateful: true leaves it (and its decisions cannot be replayed), and policy test --stateful tests it so")
	}
	return nil
}

// sameStory asks two instances the same questions in the same order.
func (e *exam) sameStory(ctx context.Context) error {
	var twins [2]*wasm.Module
	for i := range twins {
		var err error
		if twins[i], err = e.load(ctx, true); err != nil {
			return err
		}
	}
	for range 3 {
		for _, q := range repeated() {
			var said [2]*answer
			for i, m := range twins {
				var err error
				if said[i], err = e.answer(ctx, m, &q); err != nil {
					return err
				}
			}
			e.compare(abi.ClauseRepeat, q.name+", asked of another instance with the same past", said[0], said[1])
		}
	}
	return nil
}
