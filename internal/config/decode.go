package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of one file. They keep a hostile file from costing more than reading
// it: aliases count each time they are followed.
const (
	maxBytes    = 4 << 20
	maxDepth    = 64
	maxValues   = 500_000
	maxProblems = 500 // of each severity
)

// nodeReader is a type that reads itself from a node, because it has more than
// one form or because its fields depend on each other.
type nodeReader interface {
	readNode(d *decoder, n *yaml.Node, at path)
}

// defaulter is a type that has other defaults than zero values.
type defaulter interface{ defaults() }

// decoder walks the nodes of one file along the types of the struct fields and
// collects every problem. It serves one goroutine and one file.
type decoder struct {
	file     string
	lookup   func(string) (string, bool)
	problems Problems
	reported [2]int // problems by severity, those that were not kept too
	places   map[path]place
	blank    map[path]struct{}   // where a name stands with no value behind it
	hidden   map[string]struct{} // texts that no message may show
	values   int
	depth    int
	stopped  bool // a bound was met: nothing more is read
}

func newDecoder(file string, lookup func(string) (string, bool)) *decoder {
	return &decoder{
		file: file, lookup: lookup,
		places: make(map[path]place), blank: make(map[path]struct{}), hidden: make(map[string]struct{}),
	}
}

// fail records an error at a path whose place is known from the walk.
func (d *decoder) fail(at path, fix, format string, a ...any) {
	d.report(SeverityError, d.placeOf(at), at, fault{fmt.Sprintf(format, a...), fix})
}

// await says which file the error that was recorded at a path is about.
func (d *decoder) await(at path, file string) {
	if n := len(d.problems); n > 0 && d.problems[n-1].Path == string(at) {
		d.problems[n-1].Awaits = file
	}
}

// warn records a warning in the same way.
func (d *decoder) warn(at path, fix, format string, a ...any) {
	d.report(SeverityWarning, d.placeOf(at), at, fault{fmt.Sprintf(format, a...), fix})
}

func (d *decoder) report(s Severity, p place, at path, f fault) {
	d.reported[s]++
	switch n := d.reported[s]; {
	case n > maxProblems+1:
		return
	case n > maxProblems:
		p, at, f = place{}, "", fault{fmt.Sprintf("there are more than %d problems", maxProblems), "mend these and check again"}
	}
	d.problems = append(d.problems, Problem{
		Severity: s, File: d.file, Line: p.line, Column: p.column,
		Path: string(at), Message: f.message, Fix: f.fix,
	})
}

// placeOf returns where a path stands, or the nearest path around it that was
// written.
func (d *decoder) placeOf(at path) place {
	for ; ; at = at.parent() {
		if p, ok := d.places[at]; ok || at == "" {
			return p
		}
	}
}

// given reports whether the file has a value at the path.
func (d *decoder) given(at path) bool {
	_, written := d.places[at]
	_, blank := d.blank[at]
	return written && !blank
}

// broken reports whether an error was found at the path or inside it, so that
// what follows from it alone is not reported again.
func (d *decoder) broken(at path) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return p.Severity == SeverityError && path(p.Path).within(at)
	})
}

// shortestHidden is the length from which a secret or the value of a variable is
// hidden. Shorter ones are no secrets, and hiding them would garble messages.
const shortestHidden = 8

// hide keeps text out of every message if it is that long.
func (d *decoder) hide(text string, shortest int) {
	if len(text) >= shortest {
		d.hidden[text] = struct{}{}
		quoted := strconv.Quote(text) // as paths and messages show it
		d.hidden[quoted[1:len(quoted)-1]] = struct{}{}
	}
}

// finish returns the problems in order, with everything hidden masked.
func (d *decoder) finish() Problems {
	if len(d.hidden) > 0 {
		texts := make([]string, 0, len(d.hidden))
		for t := range d.hidden {
			texts = append(texts, t)
		}
		// The longest first: a secret may begin with another.
		slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
		pairs := make([]string, 0, 2*len(texts))
		for _, t := range texts {
			pairs = append(pairs, t, masked)
		}
		mask := strings.NewReplacer(pairs...)
		for i := range d.problems {
			p := &d.problems[i]
			p.Path, p.Message, p.Fix = mask.Replace(p.Path), mask.Replace(p.Message), mask.Replace(p.Fix)
		}
	}
	d.problems.sort()
	return slices.Compact(d.problems)
}

// enter counts one value in and follows aliases; ok is false when a bound is
// met. Each enter that returns true is paired with a leave.
func (d *decoder) enter(n *yaml.Node, at path) (target *yaml.Node, ok bool) {
	if d.stopped {
		return nil, false
	}
	if _, known := d.places[at]; !known {
		d.places[at] = place{n.Line, n.Column}
	}
	if !d.count(at) {
		return nil, false
	}
	if d.depth >= maxDepth {
		d.stopped = true
		d.fail(at, "an alias may stand inside its own anchor", "the file nests deeper than %d levels", maxDepth)
		return nil, false
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Style&yaml.TaggedStyle != 0 {
		d.fail(at, "remove it", "the tag %s is not taken", d.shown(n.Tag))
		return nil, false
	}
	d.depth++
	return n, true
}

func (d *decoder) leave() { d.depth-- }

// count counts one step of the walk; false when there were too many.
func (d *decoder) count(at path) bool {
	if d.values++; d.values > maxValues && !d.stopped {
		d.stopped = true
		d.fail(at, "split the file, or use fewer aliases", "the file has more than %d names and values, aliases followed", maxValues)
	}
	return !d.stopped
}

// full reports whether more problems would not be kept anyway.
func (d *decoder) full() bool { return d.reported[SeverityError] > maxProblems }

// value reads a node into v. A value that is left empty (null) keeps what v
// holds, the default.
func (d *decoder) value(n *yaml.Node, v reflect.Value, f field, at path) {
	n, ok := d.enter(n, at)
	if !ok {
		return
	}
	defer d.leave()
	if isNull(n) {
		d.blank[at] = struct{}{}
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if r, ok := reflect.TypeAssert[nodeReader](v.Addr()); ok {
		r.readNode(d, n, at)
		return
	}
	if form, ok := formOf(v.Type(), f); ok {
		d.scalar(n, v, f, form, at)
		return
	}
	switch v.Kind() { //nolint:exhaustive // formOf has taken every scalar; what is left are the containers
	case reflect.Struct:
		d.object(n, v, at)
	case reflect.Map:
		d.labels(n, v, f, at)
	case reflect.Slice:
		if keyField(v.Type().Elem()) >= 0 {
			d.named(n, v, at)
		} else {
			d.list(n, v, f, at)
		}
	default:
		panic("config: no reader for " + v.Type().String()) // a type of this package that no test has read
	}
}

// object reads a mapping into the fields of a struct.
func (d *decoder) object(n *yaml.Node, v reflect.Value, at path) {
	if !d.isMapping(n, at) {
		return
	}
	fields := fieldsOf(v.Type())
	for _, e := range d.known(n, v.Type(), at) {
		f := fields[e.name]
		d.value(e.value, v.Field(f.index), f, at.key(e.name))
	}
}

// known returns the entries of a mapping whose names are fields of the struct
// type, and reports the others.
func (d *decoder) known(n *yaml.Node, t reflect.Type, at path) []entry {
	fields := fieldsOf(t)
	var list []entry
	for _, e := range d.entries(n, at) {
		if _, ok := fields[e.name]; !ok {
			d.unknown(e, t, at)
			continue
		}
		d.places[at.key(e.name)] = place{e.key.Line, e.key.Column}
		list = append(list, e)
	}
	return list
}

// unknown reports a name that the struct type does not have.
func (d *decoder) unknown(e entry, t reflect.Type, at path) {
	if d.full() {
		return
	}
	where := place{e.key.Line, e.key.Column}
	if laterNames[t][e.name] {
		d.report(SeverityError, where, at.key(e.name), fault{notYet, removeIt})
		return
	}
	fix, ok := misplaced[t][e.name]
	if !ok {
		fix = suggest(e.name, fieldNames(t), "")
	}
	d.report(SeverityError, where, at, fault{"unknown key " + d.shown(e.name), fix})
}

// named reads a mapping into a slice of structs, in the order of the file; the
// field with the option "key" gets the name.
func (d *decoder) named(n *yaml.Node, v reflect.Value, at path) {
	if !d.isMapping(n, at) {
		return
	}
	entries := d.entries(n, at)
	list := reflect.MakeSlice(v.Type(), len(entries), len(entries))
	for i, e := range entries {
		item, inner := list.Index(i), at.key(e.name)
		d.places[inner] = place{e.key.Line, e.key.Column}
		setDefaults(item)
		item.Field(keyField(item.Type())).SetString(e.name)
		if whole := wholeField(item.Type()); whole >= 0 {
			d.value(e.value, item.Field(whole), field{}, inner)
		} else {
			d.value(e.value, item, field{}, inner)
		}
	}
	v.Set(list)
}

// list reads a sequence. The result is not nil even when it is empty.
func (d *decoder) list(n *yaml.Node, v reflect.Value, f field, at path) {
	if n.Kind != yaml.SequenceNode {
		fix := ""
		if n.Kind == yaml.ScalarNode {
			fix = "write it in brackets: [a, b]"
		}
		d.fail(at, fix, "found %s, want a list", d.describe(n, f))
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, min(len(n.Content), maxValues))
	for i, c := range n.Content {
		if d.stopped {
			break
		}
		inner := at.index(i)
		if isNull(c) {
			d.places[inner] = place{c.Line, c.Column}
			d.fail(inner, "remove the item or write a value", "the item is empty")
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		setDefaults(item)
		d.value(c, item, f, inner)
		list = reflect.Append(list, item)
	}
	v.Set(list)
}

// labels reads a mapping from names to scalars.
func (d *decoder) labels(n *yaml.Node, v reflect.Value, f field, at path) {
	if !d.isMapping(n, at) {
		return
	}
	m := reflect.MakeMap(v.Type())
	for _, e := range d.entries(n, at) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.places[at.key(e.name)] = place{e.key.Line, e.key.Column}
		d.value(e.value, item, f, at.key(e.name))
		m.SetMapIndex(reflect.ValueOf(e.name), item)
	}
	v.Set(m)
}

func (d *decoder) isMapping(n *yaml.Node, at path) bool {
	if n.Kind == yaml.MappingNode {
		return true
	}
	d.fail(at, "", "found %s, want a mapping of names to values", d.describe(n, field{}))
	return false
}

func setDefaults(v reflect.Value) {
	if d, ok := reflect.TypeAssert[defaulter](v.Addr()); ok {
		d.defaults()
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe says what a node is, for "found …". Of a secret it shows nothing.
func (d *decoder) describe(n *yaml.Node, f field) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode, yaml.AliasNode, yaml.DocumentNode:
	}
	kind := "the text"
	switch n.ShortTag() {
	case "!!int", "!!float":
		kind = "the number"
	case "!!bool":
		return n.Value
	case "!!timestamp":
		kind = "the date"
	case "!!null":
		return "nothing"
	}
	if f.secret {
		return strings.NewReplacer("the text", "text", "the ", "a ").Replace(kind)
	}
	if kind == "the text" {
		return kind + " " + d.shown(n.Value)
	}
	return kind + " " + strings.Trim(d.shown(n.Value), `"`)
}

// holdsHidden reports whether a hidden text is in it.
func (d *decoder) holdsHidden(text string) bool {
	for h := range d.hidden {
		if strings.Contains(text, h) {
			return true
		}
	}
	return false
}

// shown quotes text for a message, bounded, and masks what looks like a
// credential. What is hidden is masked here already, for cut off it would not
// be found later.
func (d *decoder) shown(text string) string {
	const most = 60
	if looksSecret(text) || d.holdsHidden(text) {
		return strconv.Quote(masked)
	}
	if r := []rune(text[:min(len(text), 4*most)]); len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(text)
}
