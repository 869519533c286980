package translate

import (
	"bytes"
	"slices"
	"strings"

	"gatewright/internal/wire/scan"
)

// Anthropic's service holds a model to a JSON schema by a grammar, and refuses a
// schema with words for which a grammar has no rule. heldSchema writes one that
// it takes. Bounds of values and lengths go into the descriptions, where the model
// reads them. Objects are closed, oneOf is an anyOf and allOf is merged. What
// would make the schema another one, such as tuples, maps, recursion or values of
// any kind, cannot be said: the model cannot be held to such a schema.
type heldSchema struct {
	writer

	unfit   bool // it cannot be said
	bounded bool // something went into a description

	optional, unions int // properties that may be absent, places with several types
	in               string
	definitions      map[string]bool
	references       map[string][]string // by the definition in which they stand
}

// What the service takes of a request's schemas, all together.
const (
	heldOptional = 24
	heldUnions   = 16
	heldTools    = 20
)

// holds writes a schema to which the model can be held. It returns false if there
// is none; what was counted stays as it was then.
func (h *heldSchema) holds(schema []byte) ([]byte, bool) {
	one := heldSchema{optional: h.optional, unions: h.unions, definitions: map[string]bool{}, references: map[string][]string{}}
	one.schema(bytes.TrimSpace(schema), 0)
	if one.unfit || one.optional > heldOptional || one.unions > heldUnions || !one.resolves() {
		return nil, false
	}
	h.optional, h.unions, h.bounded = one.optional, one.unions, one.bounded
	return one.b, true
}

// resolves reports whether every reference has its definition and no definition
// is inside itself.
func (h *heldSchema) resolves() bool {
	const open, whole = 1, 2
	state := map[string]int{}
	var visit func(name string) bool
	visit = func(name string) bool {
		if state[name] == open || name != "" && !h.definitions[name] {
			return false
		}
		if state[name] == whole {
			return true
		}
		state[name] = open
		for _, to := range h.references[name] {
			if !visit(to) {
				return false
			}
		}
		state[name] = whole
		return true
	}
	for name := range h.references {
		if !visit(name) {
			return false
		}
	}
	return true
}

// heldNode is what the members of one schema say together.
type heldNode struct {
	types       []string // what it may be
	required    []string
	closed      bool   // no more properties are allowed than those named
	description string // the client's
	bounds      []byte // for the description
}

// schema writes one schema.
func (h *heldSchema) schema(raw []byte, depth int) {
	h.open('{')
	defer h.close('}')
	if depth >= maxSchemaDepth || len(raw) == 0 || raw[0] != '{' {
		h.unfit = true
		return
	}
	var n heldNode
	list := schemaMembers(nil, raw, 0)
	for i := range list {
		h.note(&n, &list[i])
	}
	h.kinds(&n, list)
	h.describe(&n)
	var properties []string
	for i := range list {
		switch m := &list[i]; m.key {
		case "title", "default":
			h.rawMember(m.key, m.values[0])
		case "format", "minItems":
			if takesBound(m) {
				h.rawMember(m.key, m.values[0])
			}
		case "properties":
			h.key("properties")
			properties = h.named(m.values, depth)
		case "items":
			h.unfit = h.unfit || m.differs()
			h.key("items")
			h.schema(m.values[0], depth+1)
		case "enum", "const":
			h.values(m)
		case "anyOf", "oneOf":
			h.alternatives(m, list, depth)
		case "$ref":
			h.reference(m, list)
		case "$defs", "definitions":
			h.define(m, depth)
		}
	}
	if slices.Contains(n.types, "object") {
		h.object(&n, properties)
	}
	if slices.Contains(n.types, "array") && !hasMember(list, "items") {
		h.unfit = true
	}
}

// note takes a member that says something together with others.
func (h *heldSchema) note(n *heldNode, m *schemaMember) {
	raw := m.values[0]
	switch m.key {
	case "$schema", "$comment", "$id", "$anchor", "title", "default", "properties", "items", "enum", "const", "anyOf", "oneOf",
		"$ref", "$defs", "definitions":
	case "description":
		n.description, _ = scan.String(raw)
	case "type":
		n.types = schemaTypes(raw)
		h.unfit = h.unfit || m.differs()
	case "required":
		n.required = schemaNames(m.values)
	case "additionalProperties":
		n.closed = string(raw) == "false"
		h.unfit = h.unfit || raw[0] == '{'
	case "prefixItems", "not", "if", "then", "else", "patternProperties", "propertyNames", "contains",
		"dependentSchemas", "dependentRequired", "dependencies", "unevaluatedItems", "unevaluatedProperties",
		"$dynamicRef", "$recursiveRef":
		h.unfit = true
	default:
		if !takesBound(m) {
			n.bound(m.key, raw)
		}
	}
}

// takesBound reports whether the service holds the model to a bound.
func takesBound(m *schemaMember) bool {
	switch m.key {
	case "minItems":
		return string(m.values[0]) == "0" || string(m.values[0]) == "1"
	case "format":
		switch name, _ := scan.String(m.values[0]); name {
		case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
			return true
		}
	}
	return false
}

// bound notes what goes into the description.
func (n *heldNode) bound(key string, raw []byte) {
	if len(n.bounds) > 0 {
		n.bounds = append(n.bounds, ", "...)
	}
	n.bounds = append(n.bounds, key...)
	n.bounds = append(n.bounds, ' ')
	n.bounds = append(n.bounds, raw...)
}

// describe writes the description with what the service cannot hold a value to.
func (h *heldSchema) describe(n *heldNode) {
	text := n.description
	if len(n.bounds) > 0 {
		h.bounded = true
		if text != "" {
			text += " "
		}
		text += "(" + string(n.bounds) + ")"
	}
	h.textMember("description", text)
}

// kinds writes the type. Where the schema does not say one it follows from the
// rest.
func (h *heldSchema) kinds(n *heldNode, list []schemaMember) {
	if len(n.types) == 0 {
		switch values := enumerated(list); {
		case hasMember(list, "$ref") || hasMember(list, "anyOf") || hasMember(list, "oneOf"):
		case hasMember(list, "properties"):
			n.types = []string{"object"}
		case hasMember(list, "items"):
			n.types = []string{"array"}
		case len(values) > 0:
			n.types = valueTypes(values)
		default:
			h.unfit = true // a value of any kind
		}
	}
	switch len(n.types) {
	case 0:
	case 1:
		h.textMember("type", n.types[0])
	default:
		h.unions++
		h.textsMember("type", n.types)
	}
}

// object closes an object.
func (h *heldSchema) object(n *heldNode, properties []string) {
	if len(properties) == 0 && !n.closed {
		h.unfit = true // a map
	}
	for _, name := range properties {
		if !slices.Contains(n.required, name) {
			h.optional++
		}
	}
	h.textsMember("required", n.required)
	h.key("additionalProperties")
	h.flag(false)
}

// named writes an object of schemas and returns their names.
func (h *heldSchema) named(values [][]byte, depth int) (names []string) {
	h.open('{')
	for _, raw := range values {
		c := scan.NewCursor(raw, maxDepth)
		if !c.EnterObject() {
			h.unfit = true
			continue
		}
		for c.Member() {
			name := string(c.Key())
			if slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			h.comma()
			h.b = append(scan.AppendString(h.b, name), ':')
			h.schema(c.Raw(), depth+1)
		}
	}
	h.close('}')
	return names
}

// define writes the definitions, which stand at the head of the schema.
func (h *heldSchema) define(m *schemaMember, depth int) {
	h.unfit = h.unfit || depth > 0
	h.key(m.key)
	h.open('{')
	for _, raw := range m.values {
		c := scan.NewCursor(raw, maxDepth)
		for c.EnterObject(); c.Member(); {
			name := string(c.Key())
			if h.definitions[m.key+"/"+name] {
				continue
			}
			h.in = m.key + "/" + name
			h.definitions[h.in] = true
			h.comma()
			h.b = append(scan.AppendString(h.b, name), ':')
			h.schema(c.Raw(), depth+1)
		}
	}
	h.in = ""
	h.close('}')
}

// reference writes a reference. Beside one only words for the reader may stand,
// and then it is the only alternative of several.
func (h *heldSchema) reference(m *schemaMember, list []schemaMember) {
	ref, err := scan.String(m.values[0])
	name, inside := strings.CutPrefix(ref, "#/")
	if err != nil || !inside || strings.ContainsAny(name, "~%") || m.differs() {
		h.unfit = true
		return
	}
	h.references[h.in] = append(h.references[h.in], name)
	alone := true
	for i := range list {
		switch list[i].key {
		case "$ref", "$defs", "definitions", "$schema", "$comment", "$id", "$anchor":
		case "title", "description", "default":
			alone = false
		default:
			h.unfit = true
		}
	}
	if alone {
		h.textMember("$ref", ref)
		return
	}
	h.key("anyOf")
	h.open('[')
	h.open('{')
	h.textMember("$ref", ref)
	h.close('}', ']')
}

// alternatives writes an anyOf.
func (h *heldSchema) alternatives(m *schemaMember, list []schemaMember, depth int) {
	h.unfit = h.unfit || m.differs() || hasMember(list, "properties") || hasMember(list, "items") ||
		hasMember(list, "anyOf") && hasMember(list, "oneOf")
	h.unions++
	h.key("anyOf")
	h.open('[')
	c := scan.NewCursor(m.values[0], maxDepth)
	if !c.EnterArray() {
		h.unfit = true
	}
	for c.Element() {
		h.schema(c.Raw(), depth+1)
	}
	h.close(']')
}

// values writes an enum or a const, of plain values.
func (h *heldSchema) values(m *schemaMember) {
	values := enumerated([]schemaMember{*m})
	h.unfit = h.unfit || len(values) == 0 || m.differs()
	for _, v := range values {
		h.unfit = h.unfit || v[0] == '{' || v[0] == '['
	}
	h.rawMember(m.key, m.values[0])
}

// differs reports whether the member stands in several places with values that
// are not the same.
func (m *schemaMember) differs() bool {
	for _, v := range m.values[1:] {
		if !bytes.Equal(v, m.values[0]) {
			return true
		}
	}
	return false
}

func hasMember(list []schemaMember, key string) bool {
	return slices.ContainsFunc(list, func(m schemaMember) bool { return m.key == key })
}

// enumerated returns the values that a schema lists, raw.
func enumerated(list []schemaMember) (values [][]byte) {
	for i := range list {
		raw := list[i].values[0]
		switch list[i].key {
		case "const":
			return [][]byte{raw}
		case "enum":
			c := scan.NewCursor(raw, maxDepth)
			for c.EnterArray(); c.Element(); {
				values = append(values, c.Raw())
			}
		}
	}
	return values
}

// valueTypes returns the types of plain values.
func valueTypes(values [][]byte) (types []string) {
	for _, v := range values {
		name := "number"
		switch v[0] {
		case '"':
			name = "string"
		case 't', 'f':
			name = "boolean"
		case 'n':
			name = "null"
		}
		if !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return types
}
