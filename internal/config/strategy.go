package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxStrategyKeys is how many sort keys one combo may list.
const maxStrategyKeys = 32

// Strategy is a combo: a named list of sort keys.
type Strategy struct {
	// Name is what selection, strategy and :@name call it.
	Name string `config:",key"`
	// Keys are applied in order, each inside the bands that the one before cut.
	Keys []KeyUse `config:",whole"`
}

// KeyUse is one sort key as a combo uses it.
//
// The numbers are in the unit that SortKeys gives for the key.
type KeyUse struct {
	// Key is the name of the sort key.
	Key string `config:"key"`
	// Policy is the ranking policy whose scores the sort key score takes.
	Policy string `config:"policy"`
	// Tolerance is how far from the best of its band a candidate may lie: 2% of it,
	// or a plain number or duration in the key's unit; without it the key's own.
	Tolerance *Tolerance `config:"tolerance" kind:"bound"`
	// Enough makes all values that are at least this good equal.
	Enough *int64 `config:"enough" kind:"bound"`
	// Max puts all values that are worse into a last band.
	Max *int64 `config:"max" kind:"bound"`
}

// Tolerance is a width of bands; one of the two is set, or none for 0.
type Tolerance struct {
	RelativePPM int64 // of the band's best, in parts per million
	Absolute    int64 // in the key's unit
}

// readNode reads the object. The key decides how the rest is written, so it is
// read first.
func (u *KeyUse) readNode(d *decoder, n *yaml.Node, at path) {
	if n.Kind == yaml.ScalarNode {
		d.fail(at, "write {key: "+d.unquoted(n.Value)+"}", "found %s, want a sort key", d.describe(n, field{}))
		return
	}
	if !d.isMapping(n, at) {
		return
	}
	values := make(map[string]*yaml.Node)
	for _, e := range d.known(n, reflect.TypeFor[KeyUse](), at) {
		values[e.name] = e.value
	}
	key, ok := u.readKey(d, values["key"], at)
	if !ok {
		return
	}
	u.readPolicy(d, values["policy"], key, at)
	for _, name := range []string{"tolerance", "enough", "max"} {
		v, given := values[name]
		if !given {
			continue
		}
		inner := at.key(name)
		v, ok := d.enter(v, inner)
		if !ok {
			continue
		}
		if !isNull(v) {
			u.readBound(d, v, key, name, inner)
		}
		d.leave()
	}
}

// readKey reads the name of the sort key.
func (u *KeyUse) readKey(d *decoder, n *yaml.Node, at path) (SortKey, bool) {
	if n == nil || isNull(n) {
		d.fail(at, "write key: price, or another sort key", "the sort key is missing")
		return SortKey{}, false
	}
	inner := at.key("key")
	d.value(n, reflect.ValueOf(&u.Key).Elem(), field{}, inner)
	if d.broken(inner) {
		return SortKey{}, false
	}
	key, ok := sortKey(u.Key)
	switch {
	case !ok && strings.HasPrefix(u.Key, policyPrefix):
		d.fail(inner, "write {key: score, policy: "+strings.TrimPrefix(u.Key, policyPrefix)+"}", "%s is a strategy, no sort key", d.shown(u.Key))
	case !ok:
		d.fail(inner, suggest(u.Key, sortKeyNames(), ""), "there is no sort key %s", d.shown(u.Key))
	}
	return key, ok
}

// readPolicy reads the policy of the sort key that takes scores.
func (u *KeyUse) readPolicy(d *decoder, n *yaml.Node, key SortKey, at path) {
	inner := at.key("policy")
	given := n != nil && !isNull(n)
	if given {
		d.value(n, reflect.ValueOf(&u.Policy).Elem(), field{}, inner)
	}
	switch {
	case given && key.Unit != UnitScore:
		d.fail(inner, removeIt+", or write key: score", "only the sort key score takes a policy")
	case !given && key.Unit == UnitScore:
		d.fail(at, "write {key: score, policy: NAME}", "the ranking policy that gives the scores is missing")
	}
}

// readBound reads tolerance, enough or max.
func (u *KeyUse) readBound(d *decoder, n *yaml.Node, key SortKey, name string, at path) {
	tolerance := name == "tolerance"
	switch {
	case key.Unit == UnitFlag:
		d.fail(at, removeIt, "the sort key %s is 0 or 1 and takes no %s", key.Name, name)
		return
	case key.Unit == UnitInstant && !tolerance:
		d.fail(at, removeIt, "the sort key %s is a time and takes no %s", key.Name, name)
		return
	}
	num, relative, ok := d.bound(n, key.Unit, tolerance, at)
	if !ok {
		return
	}
	switch {
	case relative:
		u.Tolerance = &Tolerance{RelativePPM: num}
	case tolerance:
		u.Tolerance = &Tolerance{Absolute: num}
	case name == "enough":
		u.Enough = &num
	default:
		u.Max = &num
	}
}

// bound reads a number in a unit, or the percentage of a tolerance.
func (d *decoder) bound(n *yaml.Node, unit Unit, tolerance bool, at path) (num int64, relative, ok bool) {
	relative = tolerance && n.ShortTag() == "!!str" && strings.HasSuffix(n.Value, "%") && unit != UnitInstant
	form := boundForms[unit]
	switch {
	case relative && unit == UnitScore:
		form = wholeForm
	case relative:
		form = relativeForm
	}
	before := len(d.problems)
	d.scalar(n, reflect.ValueOf(&num).Elem(), field{min: form.least, max: form.most}, form.form, at)
	return num, relative, len(d.problems) == before
}

// readNode reads the tolerance of a score. How those of combos are written
// depends on their key: KeyUse reads them.
func (t *Tolerance) readNode(d *decoder, n *yaml.Node, at path) {
	num, relative, ok := d.bound(n, UnitScore, true, at)
	switch {
	case !ok:
	case relative:
		t.RelativePPM = num
	default:
		t.Absolute = num
	}
}

// boundForm is how a bound in one unit is written, with its limits.
type boundForm struct {
	form
	least, most string
}

// relativeForm is a tolerance relative to the band's best.
var relativeForm = boundForm{
	form:  form{wants: "a percentage such as 2%", text: true, count: percent, decimal: 4},
	least: "0%", most: "1000%",
}

// wholeForm is the same for scores, of which no more than all can be meant.
var wholeForm = boundForm{form: relativeForm.form, least: "0%", most: "100%"}

var boundForms = map[Unit]boundForm{
	UnitNumber: {form{
		wants: "a whole number", number: true, count: forms["int"].count,
	}, "0", "1000000000000"},
	UnitUSD: {form{
		wants: "US dollars per million tokens such as 0.50", number: true, count: forms["usd"].count, decimal: 9,
	}, "0", "1000000"},
	UnitDuration: {form{wants: wantsDuration, text: true, count: duration}, "0s", "365d"},
	UnitInstant:  {form{wants: wantsDuration, text: true, count: duration}, "0s", "365d"},
	UnitPPM: {form{
		wants: "parts per million such as 300000, or a percentage such as 30%", number: true, text: true, count: shareOfMillion,
	}, "0", "100%"},
	UnitThroughput: {form{
		wants: "tokens per second such as 50", number: true, decimal: 3, count: func(s string) (int64, error) { return decimal(s, 3) },
	}, "0", "1000000"},
	UnitScore: {form{
		wants: "a number such as 0.5", number: true, decimal: 6, count: func(s string) (int64, error) { return decimal(s, 6) },
	}, "0", "1000000000000"},
}

// shareOfMillion reads parts per million, or a percentage.
func shareOfMillion(text string) (int64, error) {
	if strings.HasSuffix(text, "%") {
		return percent(text)
	}
	return decimal(text, 0)
}
