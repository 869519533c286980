package rego

import "slices"

// A body that is undefined makes its rule say nothing, and for `deny` and
// `exclude` nothing means yes. Where a value may be missing (a number that nobody
// has measured, a tag that is not set, an entry of data for a team that has
// none), the language treats these places in a way that reads like the opposite:
//
//   - x != y is not true, and not false either;
//   - not f(x) takes x out of the negation: it is not true;
//   - x == "" and x == false are not true when x is missing: that is neither;
//   - every over a list that is missing is not true;
//   - a refusal whose message names the value is no refusal.
//
// Each of them is refused in an admission policy, unless what fails makes a
// refusal more likely. x == y, x in list or x < limit fail when x is missing, as
// one would read them; of those that compare by size the author is told.
type use uint8

const (
	differs   use = iota // x != y
	behindNot            // not f(x)
	asNothing            // x == "", x == false
	inEvery              // every … in x
	inHead               // deny contains {"message": x}
	bySize               // x < y
	neverThere
)

// consequence is what a missing value does there.
var consequence = [...]string{
	differs:    " may be missing, and then != is undefined and the rule says nothing",
	behindNot:  " may be missing, and then `not` is undefined, not true, and the rule says nothing",
	asNothing:  " may be missing, which is neither empty nor false, and then the rule says nothing",
	inEvery:    " may be missing, and then `every` is undefined and the rule says nothing",
	inHead:     " may be missing, and then this rule says nothing, whatever its conditions are",
	bySize:     " may be missing, and then this comparison is undefined and the rule says nothing",
	neverThere: " is not there, so this rule can never say anything",
}

// hazard is a place where a missing value makes a rule undefined.
type hazard struct {
	rule string // its path
	sign sign
	note bool // told, not refused
	p    Problem
}

// hazard notes what a value that may be missing does in a place.
func (s *scope) hazard(v *shape, u use) {
	for _, c := range v.absent {
		if s.guarded[c.key] || u == bySize && c.never {
			continue // tested; or reported because the rule can never apply
		}
		s.note(c, u)
	}
}

func (s *scope) note(c *cause, u use) {
	message, fix := c.what+consequence[u], c.fix
	if c.never {
		message, fix = c.what+consequence[neverThere], c.fix+"; or take it with object.get and a default"
	}
	s.a.hazards = append(s.a.hazards, hazard{
		rule: s.path, sign: s.sign, note: u == bySize,
		p: problemAt(s.at, s.name(), fix, "%s", message),
	})
}

// usedByTest notes that a test of the body fails if the value is missing: then
// the author has said that the rule is for values that are there.
func (s *scope) usedByTest(v *shape) {
	for _, c := range v.absent {
		if !s.negated {
			s.tested[c.key] = true
		}
		if c.never && !s.negated {
			s.note(c, neverThere)
		}
	}
}

// untested reports values of a head that may be missing and that no condition
// names.
func (s *scope) untested(v *shape) {
	for _, c := range v.absent {
		if !s.tested[c.key] && !s.guarded[c.key] {
			s.note(c, inHead)
		}
	}
}

// signs finds how the outputs depend on each rule they use, as sets of signs.
func (a *analysis) signs(outputs []string) map[string]map[sign]bool {
	found := map[string]map[sign]bool{}
	type visit struct {
		path string
		sign sign
	}
	var queue []visit
	for _, o := range outputs {
		queue = append(queue, visit{o, direct})
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		if found[v.path][v.sign] {
			continue
		}
		if found[v.path] == nil {
			found[v.path] = map[sign]bool{}
		}
		found[v.path][v.sign] = true
		for _, e := range a.edges[v.path] {
			queue = append(queue, visit{e.to, v.sign * e.sign})
		}
	}
	return found
}

// judgeHazards reports the hazards that can turn a refusal into a permission
// and returns what the author should know.
func (a *analysis) judgeHazards(signs map[string]map[sign]bool) (notes []Problem) {
	if a.kind != Admission {
		return nil
	}
	for _, h := range a.hazards {
		if !slices.ContainsFunc([]sign{direct, unclear, reverse}, func(s sign) bool { return signs[h.rule][s] && s*h.sign != reverse }) {
			continue
		}
		if !h.note {
			a.r.add(h.p)
		} else if !slices.Contains(notes, h.p) {
			notes = append(notes, h.p)
		}
	}
	return inOrder(notes)
}
