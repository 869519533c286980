package translate

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"gatewright/internal/wire/scan"
)

// customInput is the one property of the function that stands in for a tool
// with free text as its input.
const customInput = "input"

// clientTools returns the tools of r that the client runs, the only ones that
// another maker's model can be given. Custom tools become functions with one
// text property, which [unwrapCustom] takes out again. A server tool is an offer
// and dropped; the request is refused if nothing else is offered, or if the
// model is told to use it.
func clientTools(r *Request) (tools []Tool, lost losses, err error) {
	tools = make([]Tool, 0, len(r.Tools))
	for i := range r.Tools {
		t := r.Tools[i]
		switch t.Kind {
		case ToolServer:
			if r.ToolChoice.Mode == ChoiceTool && r.ToolChoice.Name == t.Name {
				return nil, nil, unsupported("tool_choice", "%q runs at its maker and no other upstream has it", t.Name)
			}
			lost.add("tools[]("+t.Type+")", "a tool that runs at its maker; the model is not offered it")
			continue
		case ToolCustom:
			if len(t.Grammar) > 0 {
				lost.add("tools[].custom.format", "the input of a custom tool is not held to a grammar")
			}
			t.Schema, t.Grammar, t.Kind = customSchema, nil, ToolFunction
		case ToolFunction:
		}
		tools = append(tools, t)
	}
	if len(tools) == 0 && len(r.Tools) > 0 {
		return nil, nil, unsupported("tools", "all of these tools run at their maker and no other upstream has them")
	}
	return tools, lost, nil
}

var customSchema = []byte(`{"type":"object","properties":{"` + customInput + `":{"type":"string"}},"required":["` + customInput + `"],"additionalProperties":false}`)

// wrapCustom returns the arguments of the function that stands in for a custom
// tool.
func wrapCustom(input string) string {
	return string(append(scan.AppendString([]byte(`{"`+customInput+`":`), input), '}'))
}

// unwrapCustom returns the input of a custom tool from the arguments of the
// function that stands in for it. What is not of that form is the input itself.
func unwrapCustom(arguments string) string {
	input, found := arguments, false
	r := newAnswerReader([]byte(arguments))
	if r.Kind() == scan.KindObject {
		r.object(func() {
			if string(r.Key()) == customInput && r.Kind() == scan.KindString {
				input, found = r.text(), true
			}
		})
	}
	if r.finish() != nil || !found {
		return arguments
	}
	return input
}

// findTool returns the tool of r that an upstream calls by name, which fit may
// have changed; nil if there is none.
func findTool(r *Request, name string, fit func(string) string) *Tool {
	for i := range r.Tools {
		if t := &r.Tools[i]; t.Kind != ToolServer && (t.Name == name || fit(t.Name) == name) {
			return t
		}
	}
	return nil
}

// resolveCall gives a call that an upstream made the name that the client knows,
// and tells whether it is one of a custom tool. Its arguments are left.
func resolveCall(c *Call, r *Request, fit func(string) string) {
	if t := findTool(r, c.Name, fit); t != nil {
		c.Name, c.Custom = t.Name, t.Kind == ToolCustom
	}
}

// fitName returns name if it consists of bytes that ok accepts and is at most
// limit bytes long. Otherwise other bytes become '_' and what is too long is
// cut, and a hash of the name keeps two of them apart.
func fitName(name string, limit int, ok func(byte) bool) string {
	fits := len(name) <= limit && name != ""
	for i := 0; fits && i < len(name); i++ {
		fits = ok(name[i])
	}
	if fits {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	tail := "_" + strconv.FormatUint(uint64(h.Sum32()), 36)
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < limit-len(tail); i++ {
		if ok(name[i]) {
			b.WriteByte(name[i])
		} else {
			b.WriteByte('_')
		}
	}
	return b.String() + tail
}

// isWordByte reports whether b may stand in an id or a name at OpenAI and at
// Anthropic: a letter, a digit, '_' or '-'.
func isWordByte(b byte) bool {
	return b-'0' <= 9 || b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b == '-'
}

// calledTools returns a tool for each name that was called in the conversation.
func calledTools(r *Request) (tools []Tool) {
	for i := range r.Turns {
		for j := range r.Turns[i].Parts {
			p := &r.Turns[i].Parts[j]
			if p.Kind != KindCall || slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == p.Call.Name }) {
				continue
			}
			tools = append(tools, Tool{Name: p.Call.Name})
		}
	}
	return tools
}
