package fault

import (
	"strings"
)

// classify applies the rules in order: what a machine wrote (codes, types)
// before what a person reads, and phrases only where the status allows them.
// status is below 400 when nothing told one.
func (r *reading) classify(status int) (k Kind, useless bool) {
	text := r.lowerText()
	if k = r.byCode(status); k == 0 {
		k = byMoney(status, text)
	}
	if k == 0 {
		k = byStatusOrText(status, text)
	}
	if k == 0 && status < statusError && r.hasCode(BadRequest) {
		k = BadRequest
	}
	if k == 0 {
		k = byStatus(status)
	}
	return k, k == RateLimit && strings.Contains(text, "request too large for")
}

// lowerText returns what phrases are looked for in. The words of a web page
// are a proxy's own, not the service's.
func (r *reading) lowerText() string {
	if r.page {
		return ""
	}
	return strings.ToLower(strings.Join(r.texts, "\n"))
}

// byCode goes by the structured codes. A few hold for some statuses only: 429
// is a rate limit unless a code says that there is no money.
func (r *reading) byCode(status int) Kind {
	found := Kind(0)
	for _, order := range codeOrder {
		if r.hasCode(order) {
			found = order
			break
		}
	}
	limited := r.hasCode(RateLimit)
	switch {
	case found == Quota:
		return Quota
	case status == statusTooMany:
		return RateLimit
	case limited && (found == Server || found == BadRequest || found == Overloaded):
		return RateLimit
	case found == Server && status >= statusError:
		return 0 // the status says more
	case found == BadRequest:
		return 0 // so do the words
	}
	return found
}

func (r *reading) hasCode(k Kind) bool {
	for _, code := range r.codes {
		if codes[code] == k {
			return true
		}
	}
	return false
}

// byMoney finds the accounts that are out of money or of allowance behind the
// statuses that makers use for it.
func byMoney(status int, text string) Kind {
	switch status {
	case statusPayment:
		return Quota
	case statusBadRequest, statusForbidden:
	default:
		return 0
	}
	if containsAny(text, moneyPhrases) {
		return Quota
	}
	if strings.Contains(text, "quota") && containsAny(text, usedUpPhrases) {
		if containsAny(text, ratePhrases) {
			return RateLimit
		}
		return Quota
	}
	return 0
}

// byStatusOrText goes by the phrases that count for the status.
func byStatusOrText(status int, text string) Kind {
	switch {
	case status < statusError:
		return firstOf(text, tooLong, refused, busy, limited, timedOut)
	case status == statusTooLarge:
		return ContextLength
	case status == statusBadRequest:
		return firstOf(text, tooLong, refused, badKey, noModel)
	case status == statusUnprocessed:
		return firstOf(text, tooLong, refused)
	case status == statusForbidden:
		return firstOf(text, flagged)
	}
	return 0
}

func firstOf(text string, rules ...func(string) Kind) Kind {
	if text == "" {
		return 0
	}
	for _, rule := range rules {
		if k := rule(text); k != 0 {
			return k
		}
	}
	return 0
}

// byStatus is the last resort.
func byStatus(status int) Kind {
	switch status {
	case statusUnauthorized, statusForbidden, statusProxyAuth:
		return Auth
	case statusNotFound, statusMethod, statusGone:
		return NotFound
	case statusTimeout:
		return Timeout
	case statusConflict, statusTooEarly:
		return Conflict
	case statusUnavailable, statusOverloaded:
		return Overloaded
	}
	if status >= statusError && status < statusServer {
		return BadRequest
	}
	return Server
}
