package fake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse reads a script. The reading is strict: an unknown or doubled key, a
// value of the wrong kind, a fault that the table does not have and a parameter
// that a fault does not take are errors. It returns every problem, joined, each
// as "name:line:column: path: what is wrong and what to write instead".
func Parse(name string, data []byte) (*Script, error) {
	d := newDecoder(name)
	s := &Script{Upstreams: map[string]Behaviour{}}
	root, err := d.document(data)
	if err != nil {
		return nil, err
	}
	d.mapping(root, "", fields{
		"seed":      func(n *yaml.Node, p string) { d.unsigned(n, p, &s.Seed) },
		"upstreams": func(n *yaml.Node, p string) { d.upstreams(n, p, s.Upstreams) },
	})
	var c checker
	s.check(&c)
	if err := d.result(&c); err != nil {
		return nil, err
	}
	return s, nil
}

// ParseBehaviour reads the behaviour of one upstream, written as below its name
// in a script, YAML or JSON; as strict as [Parse], with the same errors.
func ParseBehaviour(name string, data []byte) (Behaviour, error) {
	d := newDecoder(name)
	var b Behaviour
	root, err := d.document(data)
	if err != nil {
		return b, err
	}
	d.behaviour(root, "", &b)
	var c checker
	b.check(&c, "")
	if err := d.result(&c); err != nil {
		return Behaviour{}, err
	}
	return b, nil
}

// fields is what a mapping may hold: for each key, what reads its value.
type fields map[string]func(n *yaml.Node, path string)

type position struct{ line, column int }

// decoder walks the nodes of one YAML document. It goes no deeper than the
// schema does, so aliases cannot make it endless.
type decoder struct {
	file     string
	problems []located
	at       map[string]position
	root     position
}

// located is a problem with its place in the file.
type located struct {
	position
	problem
	file string
}

// Error implements error.
func (l located) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", l.file, l.line, l.column, l.problem.Error())
}

func newDecoder(file string) *decoder {
	return &decoder{file: file, at: map[string]position{}, root: position{1, 1}}
}

// document returns the root node of the only document in data.
func (d *decoder) document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.file, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d:%d: a second YAML document; write one document a file", d.file, more.Line, more.Column)
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0], nil
	}
	return &doc, nil
}

func (d *decoder) add(n *yaml.Node, path, format string, args ...any) {
	d.problems = append(d.problems, located{
		position: position{n.Line, n.Column}, file: d.file,
		problem: problem{path: path, text: fmt.Sprintf(format, args...)},
	})
}

// result joins what the walk found with what the check of the decoded values
// found, in the order of the file. A path that the walk refused already is not
// reported twice.
func (d *decoder) result(c *checker) error {
	refused := map[string]bool{}
	for _, p := range d.problems {
		refused[p.path] = true
	}
	all := d.problems
	for _, p := range c.found {
		if !refused[p.path] {
			all = append(all, located{position: d.place(p.path), file: d.file, problem: p})
		}
	}
	slices.SortStableFunc(all, func(a, b located) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	errs := make([]error, len(all))
	for i, p := range all {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// place finds where a path stands; a path that is not in the file has the place
// of the nearest thing around it.
func (d *decoder) place(path string) position {
	for path != "" {
		if p, ok := d.at[path]; ok {
			return p
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			break
		}
		path = path[:i]
	}
	return d.root
}

// resolve follows aliases and notes where the value of path stands.
func (d *decoder) resolve(n *yaml.Node, path string) *yaml.Node {
	d.at[path] = position{n.Line, n.Column}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// mapping reads a mapping of known keys.
func (d *decoder) mapping(n *yaml.Node, path string, known fields) {
	n = d.resolve(n, path)
	if n.Kind != yaml.MappingNode {
		d.add(n, path, "found %s; write a mapping with %s", kindOf(n), listing(slices.Sorted(maps.Keys(known))))
		return
	}
	d.pairs(n, path, func(key, value *yaml.Node) {
		read, ok := known[key.Value]
		if !ok {
			names := slices.Sorted(maps.Keys(known))
			d.add(key, join(path, key.Value), "unknown key%s (known: %s)", suggestion(key.Value, names), listing(names))
			return
		}
		read(value, join(path, key.Value))
	})
}

// maxMerge bounds how deep mappings may be merged into one another.
const maxMerge = 16

// pairs calls f for each key of a mapping once: its own keys first, then those
// that a merge key ("<<") brings in.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	seen := map[string]bool{}
	var walk func(n *yaml.Node, depth int)
	walk = func(n *yaml.Node, depth int) {
		var merges []*yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case key.Kind != yaml.ScalarNode:
				d.add(key, path, "a key is %s; write a plain word", kindOf(key))
			case key.Tag == "!!merge":
				merges = append(merges, value)
			case !seen[key.Value]:
				seen[key.Value] = true
				f(key, value)
			case depth == 0:
				d.add(key, join(path, key.Value), "given twice; keep one")
			}
		}
		for _, m := range merges {
			d.merge(m, path, depth, walk)
		}
	}
	walk(n, 0)
}

func (d *decoder) merge(n *yaml.Node, path string, depth int, walk func(*yaml.Node, int)) {
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
	}
	if target.Kind != yaml.MappingNode || depth >= maxMerge {
		d.add(n, path, "<< merges %s; name one mapping, not inside itself", kindOf(target))
		return
	}
	walk(target, depth+1)
}

// sequence calls f for each entry of a list.
func (d *decoder) sequence(n *yaml.Node, path, example string, f func(n *yaml.Node, path string)) {
	n = d.resolve(n, path)
	if n.Kind != yaml.SequenceNode {
		d.add(n, path, "found %s; write a list, for example %s", kindOf(n), example)
		return
	}
	for i, e := range n.Content {
		f(e, fmt.Sprintf("%s[%d]", path, i))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return fmt.Sprintf("%.40q", n.Value)
	case yaml.DocumentNode:
		return "a document"
	default:
		return "something else"
	}
}
