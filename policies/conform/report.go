package conform

import (
	"fmt"
	"time"

	"gatewright/wasm/abi"
)

// Outcome is what became of a clause.
type Outcome string

// The outcomes.
const (
	Kept    Outcome = "ok"
	Broken  Outcome = "broken"
	Skipped Outcome = "skipped" // the detail says why
)

// Report is what a module keeps to and what it costs.
type Report struct {
	Kind    string // admission or ranking; "" = it could not be read
	Profile string
	Budget  int64 // of one call, in units

	Findings []Finding // one for each clause that binds its kind, in the order of the contract
	Costs    []Cost
	Advice   []string // what breaks nothing and may still be wanted otherwise
}

// Finding is what became of one clause.
type Finding struct {
	Clause  abi.Clause
	Demand  string // what the clause says
	Outcome Outcome
	Asked   int    // how often it was looked at
	Failed  int    // how often it was broken
	Detail  string // of the first time, or why it was not looked at
}

// Cost is what one call took.
type Cost struct {
	Candidates int
	Units      int64         // of the budget; the same on every machine
	Took       time.Duration // the median, on this machine, with all that the sandbox does
	Fault      string        // "" = it answered
}

// OK reports whether no clause is broken.
func (r *Report) OK() bool {
	for _, f := range r.Findings {
		if f.Outcome == Broken {
			return false
		}
	}
	return true
}

// newReport has a finding for each clause of a stage; nil = the stage is not
// known, so only those that bind both are there.
func newReport(stage *abi.Stage) *Report {
	r := &Report{}
	for _, c := range abi.Clauses {
		if stage != nil && !c.Clause.Binds(*stage) {
			continue
		}
		if stage == nil && (!c.Clause.Binds(abi.Admission) || !c.Clause.Binds(abi.Ranking)) {
			continue
		}
		r.Findings = append(r.Findings, Finding{Clause: c.Clause, Demand: c.Text, Outcome: Kept})
	}
	return r
}

func (r *Report) finding(c abi.Clause) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Clause == c {
			return &r.Findings[i]
		}
	}
	// What an answer of the other kind would break cannot come up.
	r.Findings = append(r.Findings, Finding{Clause: c, Demand: "unknown"})
	return &r.Findings[len(r.Findings)-1]
}

// kept counts that a clause was looked at.
func (r *Report) kept(clauses ...abi.Clause) {
	for _, c := range clauses {
		r.finding(c).Asked++
	}
}

// broken counts that a clause was looked at and broken.
func (r *Report) broken(c abi.Clause, format string, args ...any) {
	f := r.finding(c)
	f.Asked++
	f.Failed++
	f.Outcome = Broken
	if f.Detail == "" {
		f.Detail = fmt.Sprintf(format, args...)
	}
}

// skipped says why nobody looked at a clause.
func (r *Report) skipped(c abi.Clause, why string) {
	f := r.finding(c)
	f.Outcome, f.Detail = Skipped, why
}

func (r *Report) advise(format string, args ...any) {
	r.Advice = append(r.Advice, fmt.Sprintf(format, args...))
}
