package translate

import (
	"bytes"
	"slices"

	"gatewright/internal/wire/scan"
)

// objectSchema returns the schema of a tool's arguments as the service wants it:
// one that says that it is an object, and has no alternatives at its head. merged
// reports that it had some, which are one object with the properties of all now.
func objectSchema(schema []byte) (out []byte, merged bool) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return []byte(`{"type":"object","properties":{}}`), false
	}
	typed, bare := false, true
	c := scan.NewCursor(schema, maxDepth)
	if !c.EnterObject() {
		return schema, false
	}
	open := c.Pos()
	for c.Member() {
		bare = false
		switch string(c.Key()) {
		case "type":
			typed = true
		case "anyOf", "oneOf", "allOf":
			return mergedHead(schema), true
		}
	}
	if typed {
		return schema, false
	}
	text := `"type":"object"`
	if !bare {
		text += ","
	}
	return scan.Splice(nil, schema, []scan.Edit{{Start: open, End: open, Text: []byte(text)}}), false
}

// headSchema gathers the properties of the alternatives at the head of a schema.
type headSchema struct {
	definitions map[string][]byte // by what stands in a $ref
	names       []string
	properties  map[string][][]byte // raw, each once
	taken       int                 // schemas so far
}

// maxAlternatives bounds how many schemas are gathered: references may multiply.
const maxAlternatives = 1000

// mergedHead returns one object with the properties of all alternatives at the
// head of a schema. Those that every alternative demands are demanded; one that
// differs between them may be as any has it.
func mergedHead(schema []byte) []byte {
	h := headSchema{definitions: map[string][]byte{}, properties: map[string][][]byte{}}
	list := schemaMembers(nil, schema, 0)
	for i := range list {
		if m := &list[i]; m.key == "$defs" || m.key == "definitions" {
			eachMember(m.values, func(name string, raw []byte) { h.definitions["#/"+m.key+"/"+name] = raw })
		}
	}
	required := h.take(list)
	w := writer{b: make([]byte, 0, len(schema)+64)}
	w.open('{')
	w.textMember("type", "object")
	for i := range list {
		switch m := &list[i]; m.key {
		case "type", "anyOf", "oneOf", "properties", "required", "$ref":
		default:
			w.comma()
			w.b = append(scan.AppendString(w.b, m.key), ':')
			w.raw(m.values[0])
		}
	}
	w.key("properties")
	w.open('{')
	for _, name := range h.names {
		w.comma()
		w.b = append(scan.AppendString(w.b, name), ':')
		if values := h.properties[name]; len(values) > 1 {
			w.raw([]byte(`{"anyOf":[`))
			w.raw(bytes.Join(values, []byte{','}))
			w.close(']', '}')
		} else {
			w.raw(values[0])
		}
	}
	w.close('}')
	w.textsMember("required", required)
	w.close('}')
	return w.b
}

// take adds the properties of a schema and returns the names that it demands.
func (h *headSchema) take(list []schemaMember) (required []string) {
	if h.taken++; h.taken > maxAlternatives {
		return nil
	}
	for i := range list {
		switch m := &list[i]; m.key {
		case "properties":
			eachMember(m.values, h.add)
		case "required":
			required = append(required, schemaNames(m.values)...)
		case "$ref":
			ref, _ := scan.String(m.values[0])
			if raw := h.definitions[ref]; raw != nil {
				required = append(required, h.take(schemaMembers(nil, raw, 0))...)
			}
		case "anyOf", "oneOf":
			required = append(required, h.common(m.values[0])...)
		}
	}
	slices.Sort(required)
	return slices.Compact(required)
}

func (h *headSchema) add(name string, raw []byte) {
	values := h.properties[name]
	if values == nil {
		h.names = append(h.names, name)
	}
	if !slices.ContainsFunc(values, func(have []byte) bool { return bytes.Equal(have, raw) }) {
		h.properties[name] = append(values, raw)
	}
}

// common adds the properties of alternatives and returns the names that all of
// them demand.
func (h *headSchema) common(alternatives []byte) (names []string) {
	first := true
	c := scan.NewCursor(alternatives, maxDepth)
	for c.EnterArray(); c.Element(); {
		demands := h.take(schemaMembers(nil, c.Raw(), 0))
		if first {
			names, first = demands, false
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(demands, name) })
	}
	return names
}

// eachMember calls take with the members of objects.
func eachMember(values [][]byte, take func(name string, raw []byte)) {
	for _, raw := range values {
		c := scan.NewCursor(raw, maxDepth)
		if !c.EnterObject() {
			continue
		}
		for c.Member() {
			name := string(c.Key())
			take(name, c.Raw())
		}
	}
}
