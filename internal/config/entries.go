package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// entry is one name of a mapping and what stands behind it.
type entry struct {
	name       string
	key, value *yaml.Node
}

// mergeKey takes in the entries of an anchored mapping.
const mergeKey = "<<"

// entries returns the entries of a mapping in the order of the file, those that
// a merge key takes in last. A name that is written twice is reported and the
// first one counts; a name of the mapping itself beats one taken in.
func (d *decoder) entries(n *yaml.Node, at path) []entry {
	lines := make(map[string]int, len(n.Content)/2)
	list := make([]entry, 0, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content) && d.count(at); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		name, ok := d.name(key, at)
		if !ok {
			continue
		}
		if line, twice := lines[name]; twice {
			d.report(SeverityError, place{key.Line, key.Column}, at.key(name), fault{
				fmt.Sprintf("the key stands twice, first in line %d", line), "remove one of the two",
			})
			continue
		}
		lines[name] = key.Line
		list = append(list, entry{name, key, value})
	}
	for _, m := range merges {
		list = d.merge(m, at, lines, list)
	}
	return list
}

// merge adds the entries of the mapping, or of each mapping of the list, that
// a merge key names.
func (d *decoder) merge(n *yaml.Node, at path, have map[string]int, list []entry) []entry {
	n, ok := d.enter(n, at.key(mergeKey))
	if !ok {
		return list
	}
	defer d.leave()
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, s := range sources {
		s, ok := d.enter(s, at.key(mergeKey))
		if !ok {
			return list
		}
		if s.Kind != yaml.MappingNode {
			d.fail(at.key(mergeKey), "write <<: *name where &name marks a mapping", "found %s, want a mapping to take in", d.describe(s, field{}))
			d.leave()
			continue
		}
		for _, e := range d.entries(s, at) {
			if _, own := have[e.name]; !own {
				have[e.name] = e.key.Line
				list = append(list, e)
			}
		}
		d.leave()
	}
	return list
}

// name returns the text of a key. Names are taken as written: 4 is the name
// "4". They are not expanded.
func (d *decoder) name(key *yaml.Node, at path) (string, bool) {
	where := place{key.Line, key.Column}
	if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" || key.Style&yaml.TaggedStyle != 0 {
		d.report(SeverityError, where, at, fault{"found a key that is not plain text", "write a name before the colon"})
		return "", false
	}
	if looksSecret(key.Value) {
		d.hide(key.Value, 1)
	}
	return key.Value, true
}
