package translate

// What a request holds and an answer repeats is written here, and the items that
// both hold.

// asIs leaves a name as it is: the client's own.
func asIs(name string) string { return name }

// writeResponsesTools writes the tools that the client runs, under the names
// that fit makes of theirs.
func writeResponsesTools(w *writer, tools []Tool, fit func(string) string) {
	if len(tools) == 0 {
		return
	}
	w.key("tools")
	w.open('[')
	for i := range tools {
		t := &tools[i]
		w.open('{')
		if t.Kind == ToolCustom {
			w.textMember("type", "custom")
			w.textMember("name", fit(t.Name))
			w.textMember("description", t.Description)
			w.rawMember("format", t.Grammar)
			w.close('}')
			continue
		}
		w.textMember("type", "function")
		w.textMember("name", fit(t.Name))
		w.textMember("description", t.Description)
		w.key("parameters")
		if len(t.Schema) > 0 {
			w.raw(t.Schema)
		} else {
			w.raw([]byte(`{"type":"object","properties":{}}`))
		}
		w.key("strict")
		w.flag(t.Strict != nil && *t.Strict) // absent means true here, false elsewhere
		w.close('}')
	}
	w.close(']')
}

// writeResponsesChoice writes tool_choice.
func writeResponsesChoice(w *writer, c *ToolChoice, tools []Tool, fit func(string) string) {
	if len(tools) == 0 || c.Mode == ChoiceDefault && len(c.Allowed) == 0 {
		return
	}
	mode := "auto"
	switch c.Mode {
	case ChoiceDefault, ChoiceAuto:
	case ChoiceNone:
		mode = "none"
	case ChoiceRequired:
		mode = "required"
	case ChoiceTool:
		w.key("tool_choice")
		writeToolName(w, c.Name, tools, fit)
		return
	}
	w.key("tool_choice")
	if len(c.Allowed) == 0 || c.Mode == ChoiceNone {
		w.text(mode)
		return
	}
	w.open('{')
	w.textMember("type", "allowed_tools")
	w.textMember("mode", mode)
	w.key("tools")
	w.open('[')
	for _, name := range c.Allowed {
		writeToolName(w, name, tools, fit)
	}
	w.close(']', '}')
}

func writeToolName(w *writer, name string, tools []Tool, fit func(string) string) {
	kind := "function"
	for i := range tools {
		if tools[i].Name == name && tools[i].Kind == ToolCustom {
			kind = "custom"
		}
	}
	w.open('{')
	w.textMember("type", kind)
	w.textMember("name", fit(name))
	w.close('}')
}

// writeResponsesText writes text: the format and the verbosity.
func writeResponsesText(w *writer, r *Request) {
	f := &r.Format
	if f.Kind == FormatText && r.Verbosity == "" {
		return
	}
	w.key("text")
	w.open('{')
	switch f.Kind {
	case FormatText:
	case FormatJSON:
		w.key("format")
		w.raw([]byte(`{"type":"json_object"}`))
	case FormatSchema:
		w.key("format")
		w.open('{')
		w.textMember("type", "json_schema")
		name := f.Name
		if name == "" {
			name = "answer"
		}
		w.textMember("name", fitName(name, maxFormatName, isWordByte))
		w.textMember("description", f.Description)
		w.key("schema")
		if len(f.Schema) > 0 {
			w.raw(f.Schema)
		} else {
			w.raw([]byte(`{"type":"object"}`))
		}
		w.optionalFlag("strict", f.Strict)
		w.close('}')
	}
	w.textMember("verbosity", r.Verbosity)
	w.close('}')
}

// maxFormatName is how long the name of a format may be.
const maxFormatName = 64

// writeResponsesCall writes a call as an item. id and status are those of an
// answer's item; a request has neither.
func writeResponsesCall(w *writer, id, name string, c *Call, status string) {
	w.open('{')
	w.textMember("id", id)
	kind, text := "function_call", "arguments"
	if c.Custom {
		kind, text = "custom_tool_call", "input"
	}
	w.textMember("type", kind)
	w.textMember("status", status)
	w.textMember("call_id", fitCallID(c.ID))
	w.textMember("name", name)
	w.key(text)
	w.text(c.Arguments)
	w.close('}')
}
