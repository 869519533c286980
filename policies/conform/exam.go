package conform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// Subject is a module of the contract's ABI that is to be examined.
type Subject struct {
	Name    string
	Bytes   []byte
	Profile string // "" = small
	Budget  int64  // of one call, in units; 0 = that of the profile
	Params  []byte // JSON; nil = none
	// Stateful says that the module keeps state on purpose, as its binding will.
	Stateful bool
}

// ErrOPA is returned for a module of OPA's compiler.
var ErrOPA = errors.New("the module was made by OPA's compiler; test the policy in Rego that it was made of")

// Examine holds a module to the contract. What is wrong with the module is in the
// report; the error is about something else: ErrOPA, the end of ctx, an unknown
// profile.
func (k *Kit) Examine(ctx context.Context, s Subject) (*Report, error) {
	if check.Recognize(s.Bytes) == check.KindOPA {
		return nil, ErrOPA
	}
	e := &exam{kit: k, subject: s}
	defer e.close(context.WithoutCancel(ctx))
	m, err := e.load(ctx, s.Stateful)
	if refused, ok := errors.AsType[*wasm.LoadError](err); ok && refused.Step != wasm.StepSource {
		return e.refused(refused), nil
	}
	if err != nil {
		return nil, err
	}
	info := m.Info()
	e.stage = stageOf(info.Kind)
	e.report = newReport(&e.stage)
	e.report.Kind, e.report.Profile, e.report.Budget = string(info.Kind), string(info.Profile), info.Budget
	e.report.kept(structural...)
	for _, step := range []func(context.Context, *wasm.Module) error{e.answers, e.determinism, e.costs} {
		if err := step(ctx, m); err != nil {
			return nil, err
		}
	}
	e.settle(&info)
	return e.report, nil
}

// structural are the clauses that hold for what could be loaded.
var structural = []abi.Clause{
	abi.ClauseForm, abi.ClauseExports, abi.ClauseImports, abi.ClauseVersion, abi.ClauseAlloc, abi.ClauseConfigure, abi.ClauseManifest,
}

// exam is one examination.
type exam struct {
	kit     *Kit
	subject Subject
	stage   abi.Stage
	loaded  []*wasm.Module
	report  *Report

	own      int // answers that were the policy's own error
	ordinary int // ordinary requests that were answered
	refusing int // ordinary requests that it ended with its own error
	unscored string
}

func stageOf(k check.Kind) abi.Stage {
	if k == check.KindRanking {
		return abi.Ranking
	}
	return abi.Admission
}

// load makes one more module of the bytes, of one instance: two of them are two
// instances that know nothing of each other.
func (e *exam) load(ctx context.Context, stateful bool) (*wasm.Module, error) {
	s := e.subject
	m, err := e.kit.runtime.Load(ctx, wasm.Source{
		Name: s.Name, Bytes: s.Bytes, Profile: wasm.Profile(s.Profile), Budget: s.Budget, Params: s.Params,
		Stateful: stateful, Unprobed: true, Instances: 1,
	})
	if err == nil {
		e.loaded = append(e.loaded, m)
	}
	return m, err
}

func (e *exam) close(ctx context.Context) {
	for _, m := range e.loaded {
		_ = m.Close(ctx) // it ends with the kit at the latest
	}
}

// refused reports on a module that cannot be loaded.
func (e *exam) refused(err *wasm.LoadError) *Report {
	e.report = newReport(nil)
	e.report.Profile = e.subject.Profile
	if e.report.Profile == "" {
		e.report.Profile = string(wasm.ProfileSmall)
	}
	if structure, ok := errors.AsType[*check.Error](err); ok {
		for _, p := range structure.Problems {
			e.report.broken(clauseOfSection(p.Section), "%s", p.String())
		}
	} else {
		e.report.broken(clauseOfStep(err), "%s", strings.TrimPrefix(err.Err.Error(), "policy \""+e.subject.Name+"\": "))
	}
	for i := range e.report.Findings {
		if f := &e.report.Findings[i]; f.Outcome != Broken {
			f.Outcome, f.Detail = Skipped, "the module cannot be loaded"
		}
	}
	return e.report
}

func clauseOfSection(section string) abi.Clause {
	switch section {
	case "export":
		return abi.ClauseExports
	case "import":
		return abi.ClauseImports
	}
	return abi.ClauseForm
}

// clauseOfStep is the clause for which a module could not be loaded.
func clauseOfStep(err *wasm.LoadError) abi.Clause {
	if said, ok := errors.AsType[*abi.AnswerError](err); ok && said.Clause != "" {
		return said.Clause
	}
	fault, _ := errors.AsType[*wasm.Fault](err)
	switch {
	case err.Step == wasm.StepManifest:
		return abi.ClauseManifest
	case fault != nil && strings.HasPrefix(fault.Detail, "gw_configure"):
		return abi.ClauseConfigure
	case fault != nil && strings.HasPrefix(fault.Detail, "gw_alloc"):
		return abi.ClauseAlloc
	case fault != nil && strings.HasPrefix(fault.Detail, "gw_abi_version"):
		return abi.ClauseVersion
	case fault != nil && fault.Kind == wasm.FaultBudget:
		return abi.ClauseBudget
	case fault != nil:
		return abi.ClauseAnswers
	}
	return abi.ClauseForm
}

// patience bounds how long an instance may be missing after a fault.
const patience = 30 * time.Second

// ask asks once, and waits for an instance if the last one was lost.
func (e *exam) ask(ctx context.Context, m *wasm.Module, in *abi.Input, out *abi.Result) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var err error
		if e.stage == abi.Ranking {
			err = m.Rank(ctx, in, out)
		} else {
			err = m.Admit(ctx, in, out)
		}
		if f, ok := errors.AsType[*wasm.Fault](err); ok && f.Kind == wasm.FaultBusy && ctx.Err() == nil {
			continue
		}
		return err
	}
}

// answers asks every question once.
func (e *exam) answers(ctx context.Context, m *wasm.Module) error {
	for _, q := range questions() {
		var out abi.Result
		err := e.ask(ctx, m, q.in, &out)
		if _, ok := errors.AsType[*wasm.Fault](err); err != nil && !ok {
			return err
		}
		e.judge(&q, &out, err)
	}
	return nil
}

// verified are the clauses that an answer was held to when it is one.
var verified = map[abi.Stage][]abi.Clause{
	abi.Admission: {abi.ClauseReturn, abi.ClauseMessage, abi.ClauseVerdict, abi.ClauseUntil, abi.ClauseRemoved, abi.ClauseRefusal, abi.ClauseBudget},
	abi.Ranking:   {abi.ClauseReturn, abi.ClauseMessage, abi.ClauseOrder, abi.ClauseOrderCount, abi.ClauseScore, abi.ClauseBudget},
}

// judge notes what an answer keeps to or breaks.
func (e *exam) judge(q *question, out *abi.Result, err error) {
	if err != nil {
		clause, what := clauseOfFault(err, q.clause)
		if clause == "" {
			e.own++
			if q.clause == abi.ClauseAnswers {
				e.refusing++
			}
			e.report.kept(q.clause)
			return
		}
		e.report.broken(clause, "%s: %s", q.name, what)
		return
	}
	e.report.kept(q.clause)
	e.report.kept(verified[e.stage]...)
	if q.clause == abi.ClauseAnswers {
		e.ordinary++
	}
	if e.stage != abi.Ranking {
		return
	}
	place := places(out, len(q.in.Records))
	if what := noPermutation(place, len(q.in.Records)); what != "" {
		e.report.broken(abi.ClauseOrder, "%s: %s", q.name, what)
	}
	if n := unranked(out, q.in); n > 0 && q.clause == abi.ClauseAnswers && e.unscored == "" {
		e.unscored = fmt.Sprintf("of %s it ranks all but %d; those are tried last, in base order", q.name, n)
	}
}

// clauseOfFault is the clause that a fault breaks, when it was asked about
// another; "" = none: the policy said that it has an error of its own.
func clauseOfFault(err error, about abi.Clause) (abi.Clause, string) {
	fault, _ := errors.AsType[*wasm.Fault](err)
	text, _, _ := strings.Cut(fault.Detail, "; wasm stack trace")
	what := fault.Kind.String() + ": " + text
	if said, ok := errors.AsType[*abi.AnswerError](err); ok && said.Clause != "" {
		return said.Clause, fault.Detail
	}
	if said, ok := errors.AsType[*abi.ReturnedError](err); ok {
		if said.Code <= abi.CodeOwn {
			return "", said.Error()
		}
		return about, fault.Detail
	}
	if fault.Kind == wasm.FaultBudget {
		return abi.ClauseBudget, fault.Detail
	}
	return about, what
}

// places is the order in which candidates are tried after an answer, all of them.
func places(out *abi.Result, count int) []int {
	order := make([]int, 0, count)
	if !out.Ordered {
		for i := range count {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return compareScores(out.Scores[a], out.Scores[b]) })
		return order
	}
	named := make([]bool, count)
	for _, i := range out.Order {
		order = append(order, int(i))
		if int(i) < count {
			named[i] = true
		}
	}
	for i, is := range named {
		if !is {
			order = append(order, i)
		}
	}
	return order
}

// compareScores puts the better score first, and none behind all.
func compareScores(a, b float64) int {
	switch {
	case a < b || (math.IsNaN(b) && !math.IsNaN(a)):
		return -1
	case a > b || (math.IsNaN(a) && !math.IsNaN(b)):
		return 1
	}
	return 0
}

// noPermutation says why an order does not name each candidate once.
func noPermutation(order []int, count int) string {
	seen := make([]bool, count)
	for _, i := range order {
		if i < 0 || i >= count {
			return fmt.Sprintf("candidate %d is tried, and there are %d", i, count)
		}
		if seen[i] {
			return fmt.Sprintf("candidate %d is tried twice", i)
		}
		seen[i] = true
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Sprintf("candidate %d is never tried", i)
	}
	return ""
}

// unranked is how many candidates of the pool an answer leaves out.
func unranked(out *abi.Result, in *abi.Input) (n int) {
	for i := range in.Records {
		if in.Records[i].Skipped != 0 {
			continue
		}
		if out.Ordered && !slices.Contains(out.Order, uint32(i)) || !out.Ordered && math.IsNaN(out.Scores[i]) {
			n++
		}
	}
	return n
}
