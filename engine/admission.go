package engine

import (
	"context"
	"strings"
	"time"
)

// Check is one admission rule. It sees every candidate of the model at once,
// those that other rules removed too, and can only refuse. One value serves
// many requests in parallel; it must not keep the slices that it is given.
type Check interface {
	// Name is the rule's name, as documents and decisions show it.
	Name() string
	// Refuse reports who may not serve. An error is a fault of the rule: the
	// request is refused with policy_error, for a rule that cannot say who may
	// serve is never read as "all". A rule that fails open returns no error.
	Refuse(ctx context.Context, r *Request, pool []Candidate, out *Refusals) error
}

// Refusal is one removal, or with Candidate = WholeRequest a refusal of all.
type Refusal struct {
	Candidate  int
	Reason     Reason
	Detail     string    // for people: what was wrong, with numbers
	Until      time.Time // zero = lasting
	Code       string    // a policy's error code for the client; "" = the reason's
	Status     int       // whole request only: 400, 402, 403 or 429; 0 = 403
	RetryAfter time.Duration
}

// WholeRequest in Refusal.Candidate refuses the request, not one candidate.
const WholeRequest = -1

// Refusals collects what checks refuse.
type Refusals struct {
	list []Refusal
	// Trail takes what policies did.
	Trail Trail
}

// Remove takes the candidate at index out for good.
func (r *Refusals) Remove(index int, reason Reason, detail string) {
	r.list = append(r.list, Refusal{Candidate: index, Reason: reason, Detail: detail})
}

// RemoveUntil takes the candidate at index out until an instant that is known.
func (r *Refusals) RemoveUntil(index int, reason Reason, detail string, until time.Time) {
	r.list = append(r.list, Refusal{Candidate: index, Reason: reason, Detail: detail, Until: until})
}

// Refuse refuses the whole request.
func (r *Refusals) Refuse(f Refusal) {
	f.Candidate = WholeRequest
	r.list = append(r.list, f)
}

// List returns what was collected, in order. It is valid until the next use.
func (r *Refusals) List() []Refusal { return r.list }

// Reason says why admission removed a candidate.
type Reason string

// The reasons of the built-in checks. A policy's reason is "policy:" and its
// name.
const (
	ReasonDisabled           Reason = "disabled"
	ReasonZeroWeight         Reason = "zero_weight"
	ReasonModelNotAllowed    Reason = "model_not_allowed"
	ReasonProviderNotAllowed Reason = "provider_not_allowed"
	ReasonSupplyTier         Reason = "supply_tier"
	ReasonNoCredential       Reason = "no_credential" //nolint:gosec // a name, no credential
	ReasonProtocol           Reason = "protocol"
	ReasonCapability         Reason = "capability"
	ReasonContextWindow      Reason = "context_window"
	ReasonLatencyCap         Reason = "latency_cap"
	ReasonCostCap            Reason = "cost_cap"
	ReasonCooldown           Reason = "cooldown"
	ReasonQuotaExhausted     Reason = "quota_exhausted"
	ReasonAlreadyTried       Reason = "already_tried" // a fallback met a deployment that this request has called
	ReasonCircuitOpen        Reason = "circuit_open"  // recorded only: an open circuit that was not called
	policyReason                    = "policy:"
)

// lastingOrder ranks lasting reasons: the first is the one that is named.
var lastingOrder = []Reason{
	ReasonDisabled, ReasonZeroWeight, ReasonModelNotAllowed, ReasonProviderNotAllowed,
	ReasonSupplyTier, ReasonNoCredential, ReasonProtocol, ReasonCapability,
	ReasonContextWindow, ReasonLatencyCap, ReasonCostCap, ReasonAlreadyTried,
}

func (r Reason) rank() int {
	for i, x := range lastingOrder {
		if r == x {
			return i
		}
	}
	return len(lastingOrder)
}

// PolicyReason is the reason of a policy of that name.
func PolicyReason(name string) Reason { return Reason(policyReason + name) }

// policyName is the name of the policy that gave the reason.
func (r Reason) policyName() string { return strings.TrimPrefix(string(r), policyReason) }

// IsPolicy reports whether a user's policy gave the reason.
func (r Reason) IsPolicy() bool { return strings.HasPrefix(string(r), policyReason) }

// Skipped is one candidate that was removed, and why.
type Skipped struct {
	Deployment string    `json:"deployment"`
	Reason     Reason    `json:"reason"`
	Detail     string    `json:"detail,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	Code       string    `json:"code,omitempty"` // the policy's own error code
}

// Passing reports whether the removal ends by itself.
func (s *Skipped) Passing() bool { return !s.Until.IsZero() }

// outranks reports whether s is to be named rather than old: a lasting reason
// before a passing one, lasting ones in their order, passing ones by the latest
// end.
func (s *Skipped) outranks(old *Skipped) bool {
	switch {
	case old == nil:
		return true
	case s.Passing() != old.Passing():
		return !s.Passing()
	case s.Passing():
		return s.Until.After(old.Until)
	}
	return s.Reason.rank() < old.Reason.rank()
}
