package rego

import "slices"

// Bounds of an answer.
const (
	maxAnswers  = 4096              // entries of one part
	maxCode     = 64                // bytes of a code or reason
	maxMessage  = 512               // bytes of a message
	maxFacetVal = 256               // bytes of a facet's value
	maxRetry    = 31 * 24 * 60 * 60 // seconds
	lastInstant = 253402300799999   // the end of the year 9999 in Unix milliseconds
)

// The status of a refusal that names none, and those that there are.
const statusForbidden = 403

var statuses = [...]int{400, 402, statusForbidden, 429}

// Answer is what a policy said, verified. Read fills it and uses its slices
// again; its texts are parts of one copy of the document. Which part holds what
// is the policy's Form.
type Answer struct {
	Decision Decision  // FormFacet
	Refusals []Refusal // FormCandidate: ordered by code, then message; the first is told to the caller
	Removals []Removal // FormCandidate: each candidate once, by index
	Scores   []Score   // FormScore: each candidate once at most
	Order    []int     // FormOrder: indexes, each once, the first is tried first
}

// Refusal refuses the whole request.
type Refusal struct {
	Code       string // lower case letters, digits, _ . and -
	Message    string // for people; may be empty
	Status     int    // 400, 402, 403 or 429
	RetryAfter int64  // seconds; 0 = not said
}

// Removal removes a candidate.
type Removal struct {
	Candidate int
	Reason    string
	Until     int64 // Unix milliseconds; 0 = as long as the policy says so
}

// Score is what a ranking gives a candidate: the lower, the earlier.
type Score struct {
	Candidate int
	Value     float64 // finite
}

// Decision is one answer for the whole pool, which the host applies. The zero
// value allows everything.
type Decision struct {
	Refuse *Refusal // nil = none
	Only   []Only
	Deny   []Deny
	Limits []Limit
}

// Only keeps the candidates whose facet has one of the values; one without the
// facet goes.
type Only struct {
	Facet  string // of tags "tag.NAME"
	Values []string
	Reason string
}

// Deny removes the candidates whose facet has the value; one without the facet
// stays.
type Deny struct {
	Facet  string
	Value  string
	Reason string
}

// Limit removes the candidates beyond it; one whose value nobody knows stays.
type Limit struct {
	Name   string // min_context, max_cost_nusd, min_success_ppm or min_quota_left_ppm
	Value  int64
	Reason string
}

// AnswerError is an answer that breaks the contract: all of it is void.
type AnswerError struct{ What string }

func (e *AnswerError) Error() string { return "the policy's answer: " + e.What }

// reset empties the answer and keeps its room.
func (a *Answer) reset() {
	a.Decision = Decision{Only: a.Decision.Only[:0], Deny: a.Decision.Deny[:0], Limits: a.Decision.Limits[:0]}
	a.Refusals, a.Removals, a.Scores, a.Order = a.Refusals[:0], a.Removals[:0], a.Scores[:0], a.Order[:0]
}

// Read reads the answer of a compiled policy or of Native: an object with one
// value for each output. index gives the place of a candidate by its id, below
// 0 if there is none of that id. The error is an *AnswerError, and then nothing
// of the answer counts.
func (a *Answer) Read(document []byte, outputs []Output, index func(id string) int) error {
	a.reset()
	r := answerReader{scanner: scanner{s: string(document)}, a: a, index: index}
	seen := 0
	r.object(func(key string) {
		o := Output(key)
		if !slices.Contains(outputs, o) {
			r.fail("the unknown output %q", short(key))
			return
		}
		seen++
		r.output(o)
	})
	return r.finish(seen == len(outputs), "an output is missing")
}

// ReadOutput reads the value of one output and adds it to the answer: what an
// entry point of a module gives that OPA's own tool made. Reset begins anew.
func (a *Answer) ReadOutput(o Output, value []byte, index func(id string) int) error {
	r := answerReader{scanner: scanner{s: string(value)}, a: a, index: index}
	r.output(o)
	return r.finish(true, "")
}

// Reset empties the answer.
func (a *Answer) Reset() { a.reset() }
