package policies

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Upload is a policy as it arrives.
type Upload struct {
	Name    string
	Kind    Kind   // "" = what the source says
	Format  Format // "" = found by the first bytes
	Profile string // of the sandbox; "" = the one that fits
	File    string // name for messages; "" = made of the name
	Body    []byte

	Signature []byte // of Body, Ed25519; nil = none
}

// Problem is one thing that is wrong with a source.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Rule    string `json:"rule,omitempty"` // which rule it breaks
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what to write instead
}

// String shows the problem in one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
			if p.Column > 0 {
				fmt.Fprintf(&b, ":%d", p.Column)
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// SourceError is everything that is wrong with an uploaded source.
type SourceError struct {
	Name     string
	Problems []Problem // at least one
}

// Error shows the first problem and how many there are.
func (e *SourceError) Error() string {
	text := fmt.Sprintf("policy %q: %s", e.Name, e.Problems[0])
	if n := len(e.Problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// ErrBusy means that too many policies are being compiled; try again.
var ErrBusy = errors.New("busy")

// Status is how a version of a policy is doing since it was loaded.
type Status struct {
	Evaluations    uint64     `json:"evaluations"`
	Faults         uint64     `json:"faults"`
	LastFault      string     `json:"last_fault,omitempty"`
	LastFaultAt    *time.Time `json:"last_fault_at,omitempty"`
	SuspendedUntil *time.Time `json:"suspended_until,omitempty"`
	Differs        uint64     `json:"differs,omitempty"` // of a shadow: decisions that would have been others
	CacheHits      uint64     `json:"cache_hits,omitempty"`
}

// Trial is what one evaluation came to.
type Trial struct {
	Outcome string         `json:"outcome"`
	Fault   string         `json:"fault,omitempty"`
	Refusal *TrialRefusal  `json:"refusal,omitempty"`
	Removed []TrialRemoval `json:"removed,omitempty"`
	Order   []TrialRank    `json:"order,omitempty"`
	Micros  int64          `json:"micros"`
}

// TrialRefusal is a refusal of the whole request.
type TrialRefusal struct {
	Code       string `json:"code"`
	Message    string `json:"message,omitempty"`
	Status     int    `json:"status"`
	RetryAfter int64  `json:"retry_after,omitempty"` // seconds
}

// TrialRemoval is a candidate that the policy removed.
type TrialRemoval struct {
	ID     string     `json:"id"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitempty"`
}

// TrialRank is a candidate in the order that the policy gave.
type TrialRank struct {
	ID    string   `json:"id"`
	Score *float64 `json:"score,omitempty"` // none: behind those that have one
}
