package fake

import (
	"regexp"
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

var (
	messagesToolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	messagesToolID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

var toolMembers = names(`type name description input_schema cache_control strict allowed_callers defer_loading
	eager_input_streaming input_examples`)

// toolList reads the tools. Of those that the service runs, or knows by itself,
// nothing but the name is judged.
func (m *messagesCheck) toolList(p place) {
	if !p.set() {
		return
	}
	for _, one := range p.list() {
		if kind := one.at("type"); kind.set() && kind.text() != "custom" {
			m.tools[one.required("name").text()] = true
			continue
		}
		one.path += ".custom"
		one.only(toolMembers)
		name := one.required("name")
		switch text := name.text(); {
		case !messagesToolName.MatchString(text):
			name.refuse("String should match pattern '%s'", messagesToolName)
		case m.tools[text]:
			m.fail(wrongMessages("tools", "Tool names must be unique."))
		default:
			m.tools[text] = true
		}
		one.at("description").text()
		m.cacheControl(one)
		schema := one.required("input_schema")
		m.toolSchema(schema)
		if one.at("strict").flag() {
			m.strictSchema(schema)
		}
		m.c.tools = append(m.c.tools, tool{name: name.text(), parameters: schema.raw()})
	}
}

// toolChoice reads which of the tools may be called.
func (m *messagesCheck) toolChoice(p place) {
	if !p.set() {
		return
	}
	kind := p.required("type").choice("auto", "any", "tool", "none")
	if len(m.tools) == 0 {
		m.fail(wrongMessages("tool_choice", "may only be specified while providing tools"))
	}
	p.path += "." + kind
	switch kind {
	case "tool":
		p.only(names("type name disable_parallel_tool_use"))
		name := p.required("name").text()
		if !m.tools[name] {
			m.fail(wrongMessages("", "Tool '"+name+"' not found in provided tools"))
		}
		m.c.tools = named(m.c.tools, name)
		m.forced = true
	case "none":
		p.only(names("type"))
		m.c.tools = nil
	default:
		p.only(names("type disable_parallel_tool_use"))
		m.forced = kind == "any"
	}
	m.c.forced = m.forced
	m.c.serial = p.at("disable_parallel_tool_use").flag()
}

// named keeps the tools that have one of the names.
func named(tools []tool, names ...string) []tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t tool) bool { return !slices.Contains(names, t.name) })
}

// toolSchema judges the schema of a tool's input: JSON Schema of an object.
func (m *messagesCheck) toolSchema(p place) {
	if !p.set() {
		return
	}
	if !p.isObject() {
		p.mistyped(typeObject)
		return
	}
	p.required("type").choice("object")
	for _, key := range []string{"oneOf", "allOf", "anyOf"} {
		if p.at(key).set() {
			p.refuse("input_schema does not support oneOf, allOf, or anyOf at the top level")
		}
	}
	if !isSchema(p.v, schemaDepth) {
		p.refuse("JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).")
	}
}
