package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// Gemini takes JSON schemas, but not all of their words. geminiSchema writes a
// schema with the words that it knows. What has the same meaning in other words
// is said in those: const is an enum of one, oneOf an anyOf, allOf is merged,
// definitions are $defs, and nullable is one more type. The rest is dropped and
// listed. The order of properties is kept, since models follow it.
type geminiSchema struct {
	*writer
	path string // of the schema, for the losses
	lost *losses
}

// maxSchemaDepth bounds how deep schemas may be nested; deeper ones are empty.
const maxSchemaDepth = 64

// annotations mean nothing to a model, so they go without a word.
var annotations = map[string]bool{"$schema": true, "$comment": true, "$id": true, "$anchor": true}

func (g *geminiSchema) lose(keyword, why string) {
	g.lost.add(g.path+"."+keyword, why)
}

const whyNoWord = "Gemini's schemas have no such word"

// schemaMember is a member of a schema. Where allOf brings several of a kind
// together there is more than one value.
type schemaMember struct {
	key    string
	values [][]byte // raw
}

// schemaMembers lists the members of a schema in order, those of its allOf among
// them. Of a member that stands in several, the first value is the schema's own.
func schemaMembers(list []schemaMember, raw []byte, depth int) []schemaMember {
	var all [][]byte
	c := scan.NewCursor(raw, maxDepth)
	if !c.EnterObject() {
		return list
	}
	for c.Member() {
		key := string(c.Key())
		if key == "allOf" && c.EnterArray() {
			for c.Element() {
				all = append(all, c.Raw())
			}
			continue
		}
		list = addMember(list, key, c.Raw())
	}
	for _, part := range all {
		if depth < maxSchemaDepth {
			list = schemaMembers(list, part, depth+1)
		}
	}
	return list
}

func addMember(list []schemaMember, key string, raw []byte) []schemaMember {
	for i := range list {
		if list[i].key == key {
			list[i].values = append(list[i].values, raw)
			return list
		}
	}
	return append(list, schemaMember{key, [][]byte{raw}})
}

// schema writes one schema. What is no object allows anything.
func (g *geminiSchema) schema(raw []byte, depth int) {
	g.open('{')
	defer g.close('}')
	if depth >= maxSchemaDepth {
		return
	}
	list := schemaMembers(nil, raw, 0)
	reference, nullable := false, false
	hasType, hasProperties := false, false
	for i := range list {
		m := &list[i]
		reference = reference || m.key == "$ref"
		nullable = nullable || m.key == "nullable" && string(m.values[0]) == "true"
		hasType = hasType || m.key == "type"
		hasProperties = hasProperties || m.key == "properties"
	}
	if hasProperties && !hasType && !reference {
		g.types([]byte(`"object"`), nullable)
	}
	choices := false
	for i := range list {
		m := &list[i]
		switch {
		case annotations[m.key], m.key == "nullable":
		case reference && m.key != "$ref" && m.key != "$defs" && m.key != "definitions":
			g.lose(m.key, "Gemini takes nothing beside a $ref")
		case m.key == "anyOf" || m.key == "oneOf":
			if choices {
				g.lose(m.key, "a schema has one list of alternatives")
				continue
			}
			choices = true
			g.key("anyOf")
			g.schemas(m.values[0], depth)
		default:
			g.member(m, nullable, depth)
		}
	}
}

// member writes one member of a schema.
func (g *geminiSchema) member(m *schemaMember, nullable bool, depth int) {
	raw := m.values[0]
	switch m.key {
	case "type":
		g.types(raw, nullable)
	case "title", "description", "propertyOrdering", "minItems", "maxItems", "minimum", "maximum":
		g.rawMember(m.key, raw)
	case "format":
		g.format(raw)
	case "enum":
		g.enum(raw)
	case "const":
		g.enum(append(append([]byte{'['}, raw...), ']'))
	case "items":
		if raw[0] == '[' {
			g.key("prefixItems")
			g.schemas(raw, depth)
			return
		}
		g.key("items")
		g.schema(raw, depth+1)
	case "prefixItems":
		g.key("prefixItems")
		g.schemas(raw, depth)
	case "properties":
		g.key("properties")
		g.named(m.values, depth)
	case "$defs", "definitions":
		g.key("$defs")
		g.named(m.values, depth)
	case "additionalProperties":
		g.key("additionalProperties")
		if raw[0] == '{' {
			g.schema(raw, depth+1)
			return
		}
		g.raw(raw)
	case "required":
		g.required(m.values)
	case "$ref":
		if ref, err := scan.String(raw); err == nil {
			g.textMember("$ref", strings.Replace(ref, "#/definitions/", "#/$defs/", 1))
		}
	default:
		g.lose(m.key, whyNoWord)
	}
}

// types writes the type or types, in the spelling of JSON schemas.
func (g *geminiSchema) types(raw []byte, nullable bool) {
	names := schemaTypes(raw)
	if nullable {
		names = append(names, "null")
	}
	g.key("type")
	if len(names) == 1 {
		g.text(names[0])
		return
	}
	g.open('[')
	for _, name := range names {
		g.text(name)
	}
	g.close(']')
}

// schemaTypes returns the type or types that a schema names.
func schemaTypes(raw []byte) (names []string) {
	c := scan.NewCursor(raw, 1)
	if !c.EnterArray() {
		return append(names, typeName(&c))
	}
	for c.Element() {
		names = append(names, typeName(&c))
	}
	return names
}

func typeName(c *scan.Cursor) string {
	raw, _, _ := c.Text()
	return strings.ToLower(string(raw))
}

// format keeps the formats that the service takes; it refuses a request with
// another one of a string.
func (g *geminiSchema) format(raw []byte) {
	switch name, _ := scan.String(raw); name {
	case "date-time", "date", "time", "enum", "int32", "int64", "float", "double":
		g.rawMember("format", raw)
	default:
		g.lose("format", "Gemini takes date-time, date and time only")
	}
}

// enum keeps texts and numbers.
func (g *geminiSchema) enum(raw []byte) {
	var kept [][]byte
	c := scan.NewCursor(raw, maxDepth)
	for c.EnterArray(); c.Element(); {
		switch kind := c.Kind(); kind {
		case scan.KindString, scan.KindNumber:
			kept = append(kept, c.Raw())
		case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindArray, scan.KindObject:
			g.lose("enum", "Gemini takes texts and numbers only")
			c.Skip()
		}
	}
	if len(kept) == 0 {
		return
	}
	g.key("enum")
	g.open('[')
	for _, value := range kept {
		g.raw(value)
	}
	g.close(']')
}

// schemas writes a list of schemas.
func (g *geminiSchema) schemas(raw []byte, depth int) {
	g.open('[')
	c := scan.NewCursor(raw, maxDepth)
	if c.EnterArray() {
		for c.Element() {
			g.schema(c.Raw(), depth+1)
		}
	}
	g.close(']')
}

// named writes an object of schemas.
func (g *geminiSchema) named(values [][]byte, depth int) {
	seen := map[string]bool{}
	g.open('{')
	for _, raw := range values {
		c := scan.NewCursor(raw, maxDepth)
		if !c.EnterObject() {
			continue
		}
		for c.Member() {
			name := string(c.Key())
			if seen[name] {
				continue
			}
			seen[name] = true
			g.comma()
			g.b = append(scan.AppendString(g.b, name), ':')
			g.schema(c.Raw(), depth+1)
		}
	}
	g.close('}')
}

func (g *geminiSchema) required(values [][]byte) { g.textsMember("required", schemaNames(values)) }

// schemaNames joins lists of names.
func schemaNames(values [][]byte) (names []string) {
	seen := map[string]bool{}
	for _, raw := range values {
		c := scan.NewCursor(raw, maxDepth)
		if !c.EnterArray() {
			continue
		}
		for c.Element() {
			if name, err := scan.String(c.Raw()); err == nil && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}
