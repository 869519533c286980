package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// emptiness says why the model asked for has nobody to call.
type emptiness uint8

const (
	emptyLasting  emptiness = iota // lasting reasons alone
	emptyContext                   // the context window removed some
	emptyPassing                   // some come back by themselves
	emptyCircuits                  // all that were admitted have an open circuit
)

// pendingModel is a fallback model that has not been tried.
type pendingModel struct {
	model *Model
	path  []string
}

// emptiness reads what is noted so far, which is about the model asked for.
func (w *walk) emptiness() emptiness {
	switch {
	case len(w.broken) > 0:
		return emptyCircuits
	case w.passing:
		return emptyPassing
	case w.removedFor(ReasonContextWindow) && !w.modelDenied:
		return emptyContext
	}
	return emptyLasting
}

// removedFor reports whether any candidate was removed for the reason.
func (w *walk) removedFor(reason Reason) bool {
	return slices.ContainsFunc(w.reasons, func(s Skipped) bool { return s.Reason == reason })
}

// refusal explains a request that nobody may serve.
func (w *walk) refusal(why emptiness) error {
	e := &RefusedError{Skipped: w.reasons}
	summary := summarise(w.reasons)
	held := why == emptyPassing || why == emptyCircuits
	switch {
	case w.modelDenied:
		e.Code, e.Param = CodeModelNotAllowed, "model"
		e.Message = fmt.Sprintf("this key may not use the model %q", w.res.model.Name)
	case why == emptyCircuits:
		e.Code = CodeAllCircuitsOpen
		e.Message = "every candidate has failed too often and is being left alone: " + summary
	case why == emptyPassing && !w.notQuota:
		e.Code = CodeAllQuotaExhausted
		e.Message = "the quota of every candidate is used up: " + summary
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
	if held {
		e.RetryAfter = max(w.earliest.Sub(w.request.Now), time.Second)
	}
	return e
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
