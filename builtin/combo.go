package builtin

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gatewright/engine"
)

// Step is one sort key of a combo, as a user writes it. Tolerance, Enough and
// Max are in the key's unit, which its type in builtin/ordering documents.
type Step struct {
	Key       string            // name of a built-in sort key
	Score     engine.SortKey    // a ranking policy's scores, in place of a built-in; nil = Key is one
	Tolerance *engine.Tolerance // nil = the key's own
	Enough    *float64          // values at least this good count as equal; nil = none do
	Max       *float64          // worse values form a last band; nil = none do
}

// Combo makes a strategy of the given steps, of which it keeps nothing. The
// error names every fault with its place under strategies.NAME: a name that
// cannot stand behind ":@" or that a built-in strategy has, no steps at all, an
// unknown key, a tolerance or limit that means nothing.
func Combo(name string, steps []Step) (*engine.Strategy, error) {
	var faults []error
	fail := func(place, format string, a ...any) {
		faults = append(faults, errors.New("strategies."+name+place+": "+fmt.Sprintf(format, a...)))
	}
	switch {
	case !validName(name):
		fail("", "the name %q: write letters, digits, -, _ and . only", name)
	case Strategies()[name] != nil:
		fail("", "a built-in strategy has this name: choose another")
	}
	if len(steps) == 0 {
		fail("", "no sort keys: list at least one, or select %q for the weighted draw alone", engine.StrategyBalanced)
	}
	keys := SortKeys()
	s := &engine.Strategy{Name: name, Keys: make([]engine.KeyUse, 0, len(steps))}
	for i := range steps {
		use := steps[i].use(keys, func(field, format string, a ...any) {
			fail("["+strconv.Itoa(i)+"]."+field, format, a...)
		})
		s.Keys = append(s.Keys, use)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// validName reports whether a name can stand behind ":@" in a model name and in
// a header. A colon would also make it look like a ranking policy's.
func validName(name string) bool {
	const other = "-_."
	for _, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune(other, c) {
			return false
		}
	}
	return name != ""
}

// use makes the step's key use. What is wrong goes to fail, with its field.
func (s *Step) use(keys map[string]engine.SortKey, fail func(field, format string, a ...any)) engine.KeyUse {
	key := keys[s.Key]
	if s.Score != nil {
		key = s.Score
	}
	if key == nil {
		names := slices.Sorted(maps.Keys(keys))
		hint := ""
		if near := nearest(s.Key, names); near != "" {
			hint = " (did you mean " + strconv.Quote(near) + "?)"
		}
		fail("key", "unknown sort key %q%s: write one of %s", s.Key, hint, strings.Join(names, ", "))
		return engine.KeyUse{}
	}
	use := engine.Use(key)
	if t := s.Tolerance; t != nil {
		switch {
		case t.RelativePPM != 0 && t.Absolute != 0:
			fail("tolerance", "both relative (%d ppm) and absolute (%v): write one of them", t.RelativePPM, t.Absolute)
		case t.RelativePPM < 0 || t.Absolute < 0 || !finite(t.Absolute):
			fail("tolerance", "%d ppm, %v: write a finite number of at least 0", t.RelativePPM, t.Absolute)
		}
		use.Tolerance = *t
	}
	use.Enough = limit("enough", s.Enough, fail)
	use.Max = limit("max", s.Max, fail)
	if use.Enough != nil && use.Max != nil {
		if high := key.Spec().HighFirst; *use.Max != *use.Enough && high == (*use.Max > *use.Enough) {
			fail("max", "%v is better than enough, %v: nothing could be enough and not beyond max", *use.Max, *use.Enough)
		}
	}
	return use
}

// limit returns a copy of a limit that is set and finite.
func limit(field string, v *float64, fail func(field, format string, a ...any)) *float64 {
	if v == nil {
		return nil
	}
	if !finite(*v) {
		fail(field, "%v: write a finite number", *v)
		return nil
	}
	return new(*v)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
