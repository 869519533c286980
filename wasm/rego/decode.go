package rego

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// answerReader reads an answer. Every fault ends it.
type answerReader struct {
	scanner
	a     *Answer
	index func(id string) int
}

func (r *answerReader) finish(complete bool, what string) error {
	r.end()
	if r.what == "" && !complete {
		r.fail("%s", what)
	}
	if r.what == "" {
		r.settle()
	}
	if r.what != "" {
		r.a.reset()
		return &AnswerError{r.what}
	}
	return nil
}

func (r *answerReader) output(o Output) {
	switch o {
	case OutputDecision:
		r.decision()
	case OutputDeny:
		r.entries("deny", func() { r.a.Refusals = append(r.a.Refusals, r.refusal("an element of deny")) })
	case OutputExclude:
		r.entries("exclude", r.removal)
	case OutputScore:
		r.scores()
	case OutputOrder:
		r.entries("order", func() { r.a.Order = append(r.a.Order, r.candidate(r.name("an entry of order", math.MaxInt))) })
	default:
		r.fail("the unknown output %q", short(string(o)))
	}
}

// entries reads a list of a bounded length.
func (r *answerReader) entries(what string, each func()) {
	if r.peek() != '[' {
		r.fail("%s is not a list or a set", what)
		return
	}
	r.list(func(i int) {
		if i == maxAnswers {
			r.fail("%s has more than %d entries", what, maxAnswers)
			return
		}
		each()
	})
}

// fields reads an object of which every key is known.
func (r *answerReader) fields(what string, each func(key string) bool) {
	if r.peek() != '{' {
		r.fail("%s is not an object", what)
		return
	}
	r.object(func(key string) {
		if !each(key) {
			r.fail("%s has the unknown key %q", what, short(key))
		}
	})
}

// name reads a text of bounded length.
func (r *answerReader) name(what string, limit int) string {
	if r.peek() != '"' {
		r.fail("%s is not a text", what)
		return ""
	}
	t := r.text()
	if len(t) > limit {
		r.fail("%s has %d bytes, the limit is %d", what, len(t), limit)
	}
	return t
}

// code reads a code: what programs compare.
func (r *answerReader) code(what string) string {
	t := r.name(what, maxCode)
	if !isCode(t) {
		r.fail("%s is %q: write lower case letters, digits, _ . and -", what, short(t))
	}
	return t
}

func isCode(t string) bool {
	for _, c := range []byte(t) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return t != "" && len(t) <= maxCode
}

// integer reads a whole number within bounds. 3, 3.0 and 3e0 are the same.
func (r *answerReader) integer(what string, least, most int64) int64 {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		r.fail("%s is not a number", what)
		return 0
	}
	t := r.number()
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		f, bad := strconv.ParseFloat(t, 64)
		if bad != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			r.fail("%s is %s, not a whole number", what, short(t))
			return 0
		}
		n = int64(f)
	}
	if n < least || n > most {
		r.fail("%s is %d, not between %d and %d", what, n, least, most)
	}
	return n
}

func (r *answerReader) candidate(id string) int {
	if r.what != "" {
		return 0
	}
	i := r.index(id)
	if i < 0 {
		r.fail("there is no candidate %q", short(id))
	}
	return i
}

func (r *answerReader) refusal(what string) Refusal {
	f := Refusal{Status: statusForbidden}
	r.fields(what, func(key string) bool {
		switch key {
		case "code":
			f.Code = r.code("the code of a refusal")
		case "message":
			f.Message = cutMessage(r.name("the message of a refusal", math.MaxInt))
		case "status":
			f.Status = int(r.integer("the status of a refusal", 0, math.MaxInt32))
			if !slices.Contains(statuses[:], f.Status) {
				r.fail("the status of a refusal is %d, not one of %v", f.Status, statuses)
			}
		case "retry_after":
			f.RetryAfter = r.integer("retry_after", 0, maxRetry)
		default:
			return false
		}
		return true
	})
	if f.Code == "" {
		r.fail("%s has no code", what)
	}
	return f
}

// cutMessage bounds a message. A longer one is no fault: it may quote what a client
// has sent, who could make the policy fail then.
func cutMessage(t string) string {
	if len(t) <= maxMessage {
		return t
	}
	end := maxMessage
	for !utf8.RuneStart(t[end]) {
		end--
	}
	return t[:end]
}

func (r *answerReader) removal() {
	m, id := Removal{}, false
	r.fields("an element of exclude", func(key string) bool {
		switch key {
		case "id":
			m.Candidate, id = r.candidate(r.name("the id of an exclusion", math.MaxInt)), true
		case "reason":
			m.Reason = r.code("the reason of an exclusion")
		case "until":
			m.Until = r.integer("until", 1, lastInstant)
		default:
			return false
		}
		return true
	})
	if !id || m.Reason == "" {
		r.fail("an element of exclude needs id and reason")
	}
	r.a.Removals = append(r.a.Removals, m)
}

func (r *answerReader) scores() {
	n := 0
	r.fields("score", func(key string) bool {
		if n++; n > maxAnswers {
			r.fail("more than %d scores", maxAnswers)
			return true
		}
		c := r.peek()
		if c != '-' && (c < '0' || c > '9') {
			r.fail("the score of %q is not a number", short(key))
			return true
		}
		t := r.number()
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			r.fail("the score of %q is %s, which is not finite", short(key), short(t))
			return true
		}
		r.a.Scores = append(r.a.Scores, Score{r.candidate(key), v})
		return true
	})
}

func (r *answerReader) decision() {
	d := &r.a.Decision
	r.fields("decision", func(key string) bool {
		switch key {
		case "refuse":
			f := r.refusal("refuse")
			d.Refuse = &f
		case "only":
			r.fields("only", r.only)
		case "deny":
			r.fields("deny", r.deny)
		case "limits":
			r.fields("limits", r.limit)
		default:
			return false
		}
		return true
	})
}

func (r *answerReader) only(facet string) bool {
	if !isFacet(facet) {
		return false
	}
	var o Only
	if d := &r.a.Decision; len(d.Only) < cap(d.Only) {
		o.Values = d.Only[:cap(d.Only)][len(d.Only)].Values[:0]
	}
	o.Facet = facet
	values := false
	r.fields("only", func(key string) bool {
		switch key {
		case "values":
			values = true
			r.entries("the values of only", func() { o.Values = append(o.Values, r.facetValue(facet)) })
		case "reason":
			o.Reason = r.code("the reason of only")
		default:
			return false
		}
		return true
	})
	if !values || o.Reason == "" {
		r.fail("only: %s needs values and reason", short(facet))
	}
	r.a.Decision.Only = append(r.a.Decision.Only, o)
	return true
}

// facetValue reads a value of a facet: the tier is a number, all else is text.
func (r *answerReader) facetValue(facet string) string {
	if facet == tierFacet {
		return strconv.FormatInt(r.integer("a tier", 0, math.MaxUint32), 10)
	}
	if r.peek() != '"' {
		r.fail("a value of %s is not a text", facet)
		return ""
	}
	t := r.text()
	if len(t) > maxFacetVal {
		r.fail("a value of %s has %d bytes, the limit is %d", facet, len(t), maxFacetVal)
	}
	return t
}

func (r *answerReader) deny(facet string) bool {
	if !isFacet(facet) {
		return false
	}
	n := 0
	r.fields("deny", func(value string) bool {
		if n++; n > maxAnswers {
			r.fail("more than %d values are denied", maxAnswers)
		}
		if facet == tierFacet {
			if _, err := strconv.ParseUint(value, 10, 32); err != nil {
				return false
			}
		}
		r.a.Decision.Deny = append(r.a.Decision.Deny, Deny{facet, value, r.code("the reason of deny")})
		return true
	})
	return true
}

func (r *answerReader) limit(name string) bool {
	if !slices.Contains(limitNames, name) {
		return false
	}
	l, value := Limit{Name: name}, false
	r.fields("limits", func(key string) bool {
		switch key {
		case "value":
			l.Value, value = r.integer("the value of "+name, 0, math.MaxInt64), true
		case "reason":
			l.Reason = r.code("the reason of a limit")
		default:
			return false
		}
		return true
	})
	if !value || l.Reason == "" {
		r.fail("limits: %s needs value and reason", name)
	}
	r.a.Decision.Limits = append(r.a.Decision.Limits, l)
	return true
}

// settle puts what came in no order into one, and checks what only the whole
// can show.
func (r *answerReader) settle() {
	a := r.a
	slices.SortFunc(a.Refusals, func(x, y Refusal) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Message, y.Message), cmp.Compare(x.Status, y.Status), cmp.Compare(x.RetryAfter, y.RetryAfter))
	})
	// A candidate may be removed for several reasons: the one that lasts longest
	// counts, and of those the first by name.
	slices.SortFunc(a.Removals, func(x, y Removal) int {
		return cmp.Or(cmp.Compare(x.Candidate, y.Candidate), -cmp.Compare(x.end(), y.end()), cmp.Compare(x.Reason, y.Reason))
	})
	a.Removals = slices.CompactFunc(a.Removals, func(x, y Removal) bool { return x.Candidate == y.Candidate })
	slices.SortFunc(a.Decision.Only, func(x, y Only) int { return cmp.Compare(x.Facet, y.Facet) })
	slices.SortFunc(a.Decision.Deny, func(x, y Deny) int { return cmp.Or(cmp.Compare(x.Facet, y.Facet), cmp.Compare(x.Value, y.Value)) })
	slices.SortFunc(a.Decision.Limits, func(x, y Limit) int { return cmp.Compare(x.Name, y.Name) })
	for i := range a.Decision.Only {
		slices.Sort(a.Decision.Only[i].Values)
	}
	slices.SortFunc(a.Scores, func(x, y Score) int { return cmp.Compare(x.Candidate, y.Candidate) })
	for i, s := range a.Scores {
		if i > 0 && s.Candidate == a.Scores[i-1].Candidate {
			r.fail("a candidate has two scores")
		}
	}
	var seen [maxAnswers / 64]uint64
	for _, i := range a.Order {
		if i >= maxAnswers {
			r.fail("candidate %d is beyond the limit of %d", i, maxAnswers)
			return
		}
		if seen[i/64]&(1<<(i%64)) != 0 {
			r.fail("order names a candidate twice")
			return
		}
		seen[i/64] |= 1 << (i % 64)
	}
}

// end is when a removal ends, for comparing.
func (m Removal) end() int64 {
	if m.Until == 0 {
		return math.MaxInt64
	}
	return m.Until
}
