package engine

import "context"

// PolicyRecord is what one user's policy did in one request.
type PolicyRecord struct {
	Name    string  `json:"name"`
	Version string  `json:"version"` // SHA-256 of what was uploaded, hex
	Stage   string  `json:"stage"`   // StageAdmission or StageOrdering
	Mode    string  `json:"mode,omitempty"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"` // of a fault: what happened
	Micros  int64   `json:"micros"`           // time it took; 0 of an answer that was kept
	Removed int     `json:"removed,omitempty"`
	// Differs says of a shadow that it would have decided otherwise.
	Differs bool `json:"differs,omitempty"`
	// Stateful says that the policy keeps a memory between requests, so that the
	// decision cannot be replayed.
	Stateful bool `json:"stateful,omitempty"`
}

// The stages that a PolicyRecord names.
const (
	StageAdmission = "admission"
	StageOrdering  = "ordering"
)

// The modes of a policy's version other than active, whose mode is "".
const (
	ModeShadow = "shadow" // evaluated and recorded, never used
	ModeCanary = "canary" // used for a share of the sessions
)

// Outcome is what came of a policy's evaluation.
type Outcome string

// The outcomes.
const (
	OutcomeAllowed   Outcome = "allowed"         // admission: it removed nobody
	OutcomeRemoved   Outcome = "removed"         // admission: it removed candidates
	OutcomeRefused   Outcome = "refused"         // admission: it refused the request
	OutcomeRanked    Outcome = "ranked"          // ordering: its answer was used
	OutcomeClosed    Outcome = "fail_closed"     // admission: a fault, and the request was refused for it
	OutcomeOpen      Outcome = "fail_open"       // admission: a fault, and its binding says to go on
	OutcomeFallback  Outcome = "policy_fallback" // ordering: a fault, and the base order was used
	OutcomeSuspended Outcome = "suspended"       // it failed too often and was not asked
)

// Trail collects what policies did in one request. The zero value is ready to use.
type Trail struct {
	list []PolicyRecord
	memo Memo
}

// Memo is what policies know of a pool and keep for those that are asked about the
// same pool after them. The engine does not look into it.
type Memo interface {
	// Done gives it back: nobody will ask for it any more.
	Done()
}

// NewTrail returns an empty trail. Its first records stand in room, which is its own
// from now on.
func NewTrail(room []PolicyRecord) Trail { return Trail{list: room[:0]} }

// Record adds one evaluation.
func (t *Trail) Record(p PolicyRecord) { t.list = append(t.list, p) }

// List returns what was collected, in order. It is valid until the next use.
func (t *Trail) List() []PolicyRecord { return t.list }

// Leave keeps m for the policies that are asked about the same pool later. Between
// its first check and its order nothing of a pool changes but what is Skipped, and
// nothing of the request. What was left before is done.
func (t *Trail) Leave(m Memo) {
	t.End()
	t.memo = m
}

// Left returns what a policy has left for this pool; nil = nothing.
func (t *Trail) Left() Memo { return t.memo }

// End ends a pool: what was left for it is done. The records stay.
func (t *Trail) End() {
	if m := t.memo; m != nil {
		t.memo = nil
		m.Done()
	}
}

// PolicyKey is a SortKey made of a user's ranking: it tells what it did.
type PolicyKey interface {
	SortKey
	// Rank does what Values does, which the engine calls in its place only where
	// nothing is recorded.
	Rank(ctx context.Context, r *Request, pool []Candidate, out []float64, trail *Trail) error
}

// ClientData is what a client sent beyond what routing needs. Rules that are
// granted it ask for it; nothing is computed before. Its methods may run in
// parallel and are bounded by the limits of the request.
type ClientData interface {
	// Header returns the first value of a header, "" if there is none.
	Header(name string) string
	// Metadata calls each for every member of the request's metadata that is a
	// text, in the order sent.
	Metadata(each func(key, value string))
	// Text returns the text of the conversation, or with last only that of the
	// user's last message.
	Text(last bool) string
}
