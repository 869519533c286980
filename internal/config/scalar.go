package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// form is one way to write a single value.
type form struct {
	wants   string                      // "a whole number", for messages
	text    bool                        // taken as text: variables expand
	number  bool                        // taken as a plain number
	date    bool                        // taken as a date
	count   func(string) (int64, error) // reads a number or text with a unit; nil = the text itself
	schema  map[string]any              // the JSON Schema of it
	decimal int                         // power of ten between what is written and what is kept
}

// forms are the ways to write a value, by the kind that a field's tag names.
var forms = map[string]form{
	"text": {wants: "text", text: true, schema: map[string]any{"type": "string"}},
	"bool": {wants: "true or false", schema: map[string]any{"enum": []any{true, false, "on", "off", "yes", "no"}}},
	"int": {
		wants: "a whole number", number: true, count: func(s string) (int64, error) { return decimal(s, 0) },
		schema: map[string]any{"type": "integer"},
	},
	"weight": {
		wants: "a number", number: true, count: weight, schema: map[string]any{"type": "number"},
	},
	"duration": {
		wants: wantsDuration, text: true, count: duration,
		schema: map[string]any{"type": "string", "pattern": `^(0|([0-9.]+(ns|us|ms|s|m|h|d))+|.*\$\{.*)$`},
	},
	"seconds": {
		wants: "a plain number of seconds", number: true, decimal: 9, count: func(s string) (int64, error) { return decimal(s, 9) },
		schema: map[string]any{"type": "number"},
	},
	"ms": {
		wants: "a plain number of milliseconds", number: true, decimal: 6, count: func(s string) (int64, error) { return decimal(s, 6) },
		schema: map[string]any{"type": "number"},
	},
	"size": {
		wants: wantsSize, text: true, number: true, count: size,
		schema: map[string]any{"type": []any{"string", "integer"}, "pattern": `^([0-9.]+ *([KMG]i?)?B|.*\$\{.*)$`},
	},
	"usd": {
		wants: "an amount in US dollars such as 2.50", number: true, decimal: 9, count: func(s string) (int64, error) { return decimal(s, 9) },
		schema: map[string]any{"type": "number", "minimum": 0},
	},
	"amount": { // read as the unit beside it says
		wants: "a number", number: true, schema: map[string]any{"type": "number", "minimum": 0},
	},
	"share": {
		wants: "a share such as 0.2 or 20%", text: true, number: true, count: share, decimal: 6,
		schema: map[string]any{"type": []any{"string", "number"}, "pattern": `^([0-9.]+ *%|.*\$\{.*)$`},
	},
	"date": {
		wants: "a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z", text: true, date: true,
		schema: map[string]any{"type": "string"},
	},
	"version": { // a date without quotes is no text to YAML
		wants: "a version such as 2024-10-21", text: true, date: true,
		schema: map[string]any{"type": "string"},
	},
	"bound": {
		wants:  "a number in the key's unit, a percentage or a duration",
		schema: map[string]any{"type": []any{"string", "number"}},
	},
}

func share(text string) (int64, error) {
	if strings.HasSuffix(text, "%") {
		return percent(text)
	}
	return decimal(text, 6)
}

// formOf returns how a field of that type is written; false for containers.
func formOf(t reflect.Type, f field) (form, bool) {
	kind := f.kind
	switch {
	case kind != "" && t.Kind() != reflect.Slice && t.Kind() != reflect.Map:
	case t == reflect.TypeFor[time.Duration]():
		kind = "duration"
	case t == reflect.TypeFor[time.Time]():
		kind = "date"
	case t == reflect.TypeFor[Secret](), t.Kind() == reflect.String:
		kind = "text"
	case t.Kind() == reflect.Bool:
		kind = "bool"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		kind = "int"
	default:
		return form{}, false
	}
	fm, ok := forms[kind]
	return fm, ok
}

// scalar reads a single value into v.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, f field, fm form, at path) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fail(at, "", "found %s, want %s", d.describe(n, f), fm.wants)
	case v.Kind() == reflect.Bool:
		d.boolean(n, v, f, at)
	case v.Type() == reflect.TypeFor[time.Time]():
		if text, ok := d.written(n, f, fm, at); ok {
			t, err := instant(text)
			if err != nil {
				d.fail(at, "write "+fm.wants, "%s is not a date", d.shown(text))
				return
			}
			v.Set(reflect.ValueOf(t))
		}
	case fm.count != nil:
		d.counted(n, v, f, fm, at)
	default:
		if text, ok := d.written(n, f, fm, at); ok && d.allowed(text, f, at) {
			if f.secret {
				d.hide(text, shortestHidden)
				v.Set(reflect.ValueOf(NewSecret(text)))
			} else {
				v.SetString(text)
			}
		}
	}
}

// written returns the text of a scalar of a class that the form takes, with
// variables replaced.
func (d *decoder) written(n *yaml.Node, f field, fm form, at path) (string, bool) {
	if looksSecret(n.Value) {
		d.hide(n.Value, 1)
	}
	var ok bool
	switch n.ShortTag() {
	case "!!str":
		ok = fm.text
	case "!!int", "!!float":
		ok = fm.number
	case "!!timestamp":
		ok = fm.date
	}
	if !ok {
		d.fail(at, d.otherClass(n, f, fm), "found %s, want %s", d.describe(n, f), fm.wants)
		return "", false
	}
	if !fm.text {
		return n.Value, true
	}
	text, values, faults := expand(n.Value, d.lookup)
	for _, v := range values {
		d.hide(v, shortestHidden)
	}
	for _, ft := range faults {
		d.fail(at, ft.fix, "%s", ft.message)
	}
	return text, len(faults) == 0
}

// otherClass advises on a value of the wrong class: quotes too many or too few.
func (d *decoder) otherClass(n *yaml.Node, f field, fm form) string {
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	switch {
	case f.sample != "":
		return "write " + f.sample
	case n.ShortTag() == "!!str" && strings.Contains(n.Value, "${"):
		return "variables stand for text alone; write the value itself"
	case n.ShortTag() == "!!str" && quoted && fm.count != nil:
		if _, err := fm.count(n.Value); err == nil {
			return "remove the quotes"
		}
	case n.ShortTag() != "!!str" && fm.text && fm.count == nil && !fm.date:
		if f.secret {
			return "write it in quotes"
		}
		return "write " + strconv.Quote(n.Value)
	case fm.wants == wantsDuration && n.ShortTag() == "!!int":
		return "write " + n.Value + "s or " + n.Value + "ms"
	}
	return ""
}

// allowed checks a text against the list of the field.
func (d *decoder) allowed(text string, f field, at path) bool {
	if f.oneof == nil || slices.Contains(f.oneof, text) {
		return true
	}
	d.fail(at, suggest(text, f.oneof, ""), "%s is not one of the words taken", d.shown(text))
	return false
}

// boolean reads true and false, and the switch words.
func (d *decoder) boolean(n *yaml.Node, v reflect.Value, f field, at path) {
	word := strings.ToLower(n.Value)
	truth, ok := switchWords[word]
	if n.ShortTag() == "!!bool" {
		truth, ok = word == "true", true
	}
	if ok {
		v.SetBool(truth)
		return
	}
	fix := ""
	switch {
	case word == "true" || word == "false":
		fix = "remove the quotes"
	case strings.Contains(word, "${"):
		fix = "variables stand for text alone; write the value itself"
	}
	d.fail(at, fix, "found %s, want true or false", d.describe(n, f))
}

// switchWords are truth values of old YAML, which new YAML and JSON hold to be
// text.
var switchWords = map[string]bool{"on": true, "yes": true, "off": false, "no": false}

// counted reads a number, or text with a unit, into an integer.
func (d *decoder) counted(n *yaml.Node, v reflect.Value, f field, fm form, at path) {
	text, ok := d.written(n, f, fm, at)
	if !ok {
		return
	}
	num, err := fm.count(text)
	if text != n.Value { // what a variable holds is not shown
		if err != nil {
			d.fail(at, "", "the value of %s is not %s", d.unquoted(n.Value), why(err, fm))
			return
		}
		text = n.Value
	}
	if err != nil {
		d.fail(at, fixCount(text, err, fm), "%s is not %s", d.unquoted(text), why(err, fm))
		return
	}
	if low, err := fm.count(f.min); f.min != "" && err == nil && num < low {
		d.fail(at, "write "+f.min+" or more", "%s is too small", d.unquoted(text))
		return
	}
	if high, err := fm.count(f.max); f.max != "" && err == nil && num > high {
		d.fail(at, "write "+f.max+" or less", "%s is too large", d.unquoted(text))
		return
	}
	if f.kind == "weight" && num == 0 && strings.ContainsAny(text, "123456789") {
		d.warn(at, "weights are whole numbers: write 600 and 400 instead of 0.6 and 0.4", "%s counts as 0, so nothing is routed there", d.unquoted(text))
	}
	v.SetInt(num)
}

// unquoted shows a value without quotes if it is short and plain.
func (d *decoder) unquoted(text string) string {
	q := d.shown(text)
	if inner := strings.Trim(q, `"`); inner == text && !strings.ContainsAny(text, " ,") && text != "" {
		return inner
	}
	return q
}

func why(err error, fm form) string {
	if errors.Is(err, errTooPrecise) && fm.decimal > 0 {
		return fmt.Sprintf("kept exactly: at most %d decimals are", fm.decimal)
	}
	if errors.Is(err, errTooLarge) {
		return "a number that fits"
	}
	return fm.wants
}

// fixCount advises on a number or measure that cannot be read.
func fixCount(text string, err error, fm form) string {
	switch {
	case errors.Is(err, errNoUnit) && fm.wants == wantsDuration && strings.ContainsAny(text, "smhd"):
		return "write a unit after each number"
	case errors.Is(err, errNoUnit) && fm.wants == wantsDuration:
		return "write " + text + "s or " + text + "ms"
	case errors.Is(err, errNegative):
		return "write a positive one"
	case errors.Is(err, errNotUnit) && fm.wants == wantsSize:
		number := text[:numberEnd(text)]
		return "write " + number + "KiB, " + number + "MiB or " + number + "GiB"
	case errors.Is(err, errNotUnit) && fm.wants == wantsDuration:
		return "the units are ns, us, ms, s, m, h and d"
	}
	return ""
}
