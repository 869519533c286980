package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// emptiness says why a model has nobody to call.
type emptiness uint8

const (
	emptyLasting  emptiness = iota // lasting reasons alone
	emptyTried                     // this request has called the others, and they failed
	emptyContext                   // the context window removed some
	emptyPassing                   // some come back by themselves
	emptyCircuits                  // all that were admitted have an open circuit
)

// chain is the fallback table that an empty pool leads to. Lasting reasons lead
// to none.
func (e emptiness) chain() Chain {
	switch e {
	case emptyPassing, emptyCircuits, emptyTried:
		return ChainGeneral
	case emptyContext:
		return ChainContext
	case emptyLasting:
	}
	return ChainNone
}

// notes are what an empty plan is explained by, over source and chain.
type notes struct {
	skipped  []Skipped // removed by admission
	broken   []Skipped // left alone: their circuit is open
	earliest time.Time // when the first of them comes back
	notQuota bool      // someone is held by something else than quota
	denied   bool      // the caller may not use the model asked for
}

// note keeps who was removed from a pool, and says what the pool would be empty
// for.
func (w *walk) note(pool []Candidate) emptiness {
	why := emptyLasting
	for i := range pool {
		s := pool[i].Skipped
		if s == nil {
			continue
		}
		w.notes.skipped = append(w.notes.skipped, *s)
		switch {
		case s.Passing():
			why = emptyPassing
			w.notes.notQuota = w.notes.notQuota || s.Reason != ReasonQuotaExhausted
			w.until(s.Until)
		case s.Reason == ReasonContextWindow:
			why = max(why, emptyContext)
		case s.Reason == ReasonAlreadyTried:
			why = max(why, emptyTried)
		}
	}
	return why
}

func (w *walk) noteBroken(c *Candidate) {
	w.notes.broken = append(w.notes.broken, Skipped{Deployment: c.ID, Reason: ReasonCircuitOpen, Until: c.CircuitUntil})
	if c.CircuitUntil.After(w.request.Now) {
		w.until(c.CircuitUntil)
	}
}

func (w *walk) until(t time.Time) {
	if w.notes.earliest.IsZero() || t.Before(w.notes.earliest) {
		w.notes.earliest = t
	}
}

// refusal explains a request that nobody may serve. why is about the model that
// was asked for.
func (w *walk) refusal(why emptiness) error {
	n := &w.notes
	e := &RefusedError{Skipped: append(slices.Clone(n.skipped), n.broken...)}
	summary := summarise(e.Skipped)
	switch {
	case n.denied:
		e.Code, e.Param = CodeModelNotAllowed, "model"
		e.Message = fmt.Sprintf("this key may not use the model %q", w.res.model.Name)
	case why == emptyCircuits:
		e.Code = CodeAllCircuitsOpen
		e.Message = "every candidate has failed too often and is being left alone: " + summary
	case why == emptyPassing && !n.notQuota:
		e.Code = CodeAllQuotaExhausted
		e.Message = "the quota of every candidate is used up: " + summary
	case why == emptyPassing && n.policyCode() != "":
		e.Code = n.policyCode()
		e.Status = statusTooMany
		e.Message = "a policy holds every candidate back for now: " + summary
	case why == emptyPassing:
		e.Code = CodeAllCandidatesCooling
		e.Message = "every candidate is waiting out a rate limit: " + summary
	case why == emptyContext:
		e.Code, e.Param = CodeContextLengthExceeded, "messages"
		e.Message = "the request is larger than the context window of every deployment that could serve it: " + summary
	case w.request.Owner != "":
		e.Code = CodeNoEligibleCandidate
		e.Message = "the deployment that issued what this request continues cannot serve it: " + summary
	default:
		e.Code = CodeNoEligibleCandidate
		e.Message = fmt.Sprintf("no deployment of %q may serve this request: %s", w.res.model.Name, summary)
	}
	if (why == emptyPassing || why == emptyCircuits) && !n.denied {
		e.RetryAfter = max(n.earliest.Sub(w.request.Now), time.Second)
	}
	return e
}

// statusTooMany is the status of a policy's passing removal.
const statusTooMany = 429

// policyCode is the error code of the first policy that holds a candidate back:
// its own, else its name; "" = none does.
func (n *notes) policyCode() string {
	for _, s := range n.skipped {
		switch {
		case !s.Passing() || !s.Reason.IsPolicy():
		case s.Code != "":
			return s.Code
		default:
			return s.Reason.policyName()
		}
	}
	return ""
}

// summarise says per reason how many candidates were removed.
func summarise(list []Skipped) string {
	var order []Reason
	count := make(map[Reason]int)
	for _, s := range list {
		if count[s.Reason] == 0 {
			order = append(order, s.Reason)
		}
		count[s.Reason]++
	}
	parts := make([]string, len(order))
	for i, r := range order {
		parts[i] = fmt.Sprintf("%d %s", count[r], r)
	}
	if len(parts) == 0 {
		return "it has no deployments"
	}
	return strings.Join(parts, ", ")
}

// uncalled lists the candidates that were left alone to the end because their
// circuit was open.
func (w *walk) uncalled() []Skipped {
	return slices.DeleteFunc(w.notes.broken, func(s Skipped) bool {
		return slices.ContainsFunc(w.decision.Attempts, func(a Attempt) bool { return a.Deployment == s.Deployment })
	})
}
