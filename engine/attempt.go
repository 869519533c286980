package engine

import "time"

// FailureClass says what kind of failure an attempt met. The class alone
// decides what may happen next: see Rule.
type FailureClass uint8

// The classes. ClassNone is success.
const (
	ClassNone           FailureClass = iota
	ClassConnect                     // connect, TLS, DNS, reset before any byte
	ClassTimeout                     // no first byte, headers or content in time
	ClassServer                      // 5xx, 529, an empty or undecodable 200
	ClassRateLimitTimed              // 429 with a valid Retry-After
	ClassRateLimit                   // 429 without one
	ClassQuota                       // out of quota or credit
	ClassConflict                    // 408, 409, 425
	ClassAuth                        // the upstream refuses our credential
	ClassNotFound                    // model or endpoint unknown upstream
	ClassContext                     // context window exceeded
	ClassContent                     // content policy refused
	ClassClient                      // another 4xx: the caller's error
	ClassLocal                       // refused here
	ClassCancelled                   // the client hung up
	ClassTruncated                   // broke after the first byte went to the client
)

// Chain names the fallback table that a class leads to.
type Chain uint8

// The fallback tables of a model.
const (
	ChainNone Chain = iota
	ChainGeneral
	ChainContext
	ChainContent
	chainCount
)

// String returns the table's name in the configuration.
func (c Chain) String() string {
	switch c {
	case ChainGeneral:
		return "fallbacks"
	case ChainContext:
		return "context_window_fallbacks"
	case ChainContent:
		return "content_policy_fallbacks"
	case ChainNone, chainCount:
	}
	return "none"
}

// Rule is what a class of failure allows.
type Rule struct {
	Name      string
	SameAgain bool  // the same deployment may be called again
	Next      bool  // the next candidate may be called
	Chain     Chain // fallback table once the pool is used up
	Circuit   bool  // counts towards opening the circuit
}

// Rule returns what the class allows.
func (c FailureClass) Rule() Rule {
	switch c {
	case ClassNone:
		return Rule{Name: "ok"}
	case ClassConnect:
		return Rule{Name: "connect", SameAgain: true, Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassTimeout:
		return Rule{Name: "timeout", Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassServer:
		return Rule{Name: "server", SameAgain: true, Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassRateLimitTimed:
		return Rule{Name: "rate_limit_timed", Next: true, Chain: ChainGeneral}
	case ClassRateLimit:
		return Rule{Name: "rate_limit", SameAgain: true, Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassQuota:
		return Rule{Name: "quota", Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassConflict:
		return Rule{Name: "conflict", Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassAuth:
		return Rule{Name: "auth", Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassNotFound:
		return Rule{Name: "not_found", Next: true, Chain: ChainGeneral, Circuit: true}
	case ClassContext:
		return Rule{Name: "context_window", Chain: ChainContext}
	case ClassContent:
		return Rule{Name: "content_policy", Chain: ChainContent}
	case ClassClient:
		return Rule{Name: "client"}
	case ClassLocal:
		return Rule{Name: "local"}
	case ClassCancelled:
		return Rule{Name: "cancelled"}
	case ClassTruncated:
		return Rule{Name: "truncated", Circuit: true}
	}
	return Rule{Name: "unknown"}
}

// String returns the name that decisions show.
func (c FailureClass) String() string { return c.Rule().Name }

// MarshalText writes the class by its name.
func (c FailureClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MaxAttempts bounds the calls of one request, over all plans.
const MaxAttempts = 10

// RetryPolicy is how often and how long one deployment is tried.
type RetryPolicy struct {
	MaxAttempts      int           // calls of one deployment, the first included
	Timeout          time.Duration // wait for the first content event of a stream
	FailureThreshold int           // failures in a row that open the circuit; 0 = never
	Cooldown         time.Duration // how long an opened circuit stays open
}

// DefaultRetryPolicy returns what holds when nothing else is configured.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxAttempts: 1, Timeout: time.Minute, FailureThreshold: 3, Cooldown: time.Minute}
}

// Attempt is one call to one deployment, as the decision keeps it.
type Attempt struct {
	Deployment        string        `json:"deployment"`
	SelectionSource   string        `json:"selection_source"`
	Start             time.Time     `json:"start"`
	Duration          time.Duration `json:"-"`
	FirstByte         time.Duration `json:"-"` // 0 = none came
	Class             FailureClass  `json:"class"`
	Status            int           `json:"status,omitempty"` // the upstream's; 0 = no answer
	UpstreamRequestID string        `json:"upstream_request_id,omitempty"`
	Usage             Usage         `json:"-"`
	Message           string        `json:"message,omitempty"` // sanitised
	Note              string        `json:"note,omitempty"`    // e.g. why a repeat was not made
}
