package translate

import "gatewright/internal/wire/scan"

func (c *chatReader) tool() (t Tool) {
	kind := ""
	c.object(func() {
		switch string(c.Key()) {
		case "type":
			kind = c.text()
		case "function":
			c.object(func() { c.function(&t) })
		case "custom":
			t.Kind = ToolCustom
			c.object(func() { c.function(&t) })
		case "cache_control":
			t.Cache = c.cacheMark()
		default:
			c.unknown()
		}
	})
	switch kind {
	case "", "function", "custom":
	default:
		t.Kind, t.Type = ToolServer, kind
		if t.Name == "" {
			t.Name = kind
		}
	}
	if t.Name == "" {
		c.invalid("has no name; write {\"type\":\"function\",\"function\":{\"name\":…}}")
	}
	return t
}

func (c *chatReader) function(t *Tool) {
	switch string(c.Key()) {
	case "name":
		t.Name = c.text()
	case "description":
		t.Description = c.text()
	case "parameters":
		if c.Kind() != scan.KindObject {
			c.wrong("an object")
			return
		}
		t.Schema = c.raw()
	case "strict":
		strict := c.flag()
		t.Strict = &strict
	case "format":
		if raw := c.raw(); !isTextFormat(raw) {
			t.Grammar = raw
		}
	case "cache_control":
		t.Cache = c.cacheMark()
	default:
		c.unknown()
	}
}

// isTextFormat reports whether a custom tool's format is any text.
func isTextFormat(raw []byte) (text bool) {
	r := newAnswerReader(raw)
	r.object(func() {
		if string(r.Key()) == "type" {
			text = r.text() == "text"
		}
	})
	return text
}

func (c *chatReader) toolChoice() {
	choice := &c.r.ToolChoice
	if c.Kind() == scan.KindString {
		c.choiceMode(choice)
		return
	}
	c.object(func() {
		switch string(c.Key()) {
		case "type":
			if kind := c.text(); kind == "function" || kind == "custom" {
				choice.Mode = ChoiceTool
			}
		case "function", "custom":
			c.object(func() {
				if string(c.Key()) == "name" {
					choice.Mode, choice.Name = ChoiceTool, c.text()
				}
			})
		case "allowed_tools":
			c.allowed(choice)
		default:
			c.unknown()
		}
	})
	if choice.Mode == ChoiceTool && choice.Name == "" {
		c.invalid("names no tool; write {\"type\":\"function\",\"function\":{\"name\":…}}")
	}
}

func (c *chatReader) choiceMode(choice *ToolChoice) {
	switch mode := c.text(); mode {
	case "auto":
		choice.Mode = ChoiceAuto
	case "none":
		choice.Mode = ChoiceNone
	case "required", "any":
		choice.Mode = ChoiceRequired
	default:
		c.invalid("must be none, auto, required or a tool, not %q", mode)
	}
}

// allowed reads a choice that names some of the tools.
func (c *chatReader) allowed(choice *ToolChoice) {
	c.object(func() {
		switch string(c.Key()) {
		case "mode":
			c.choiceMode(choice)
		case "tools":
			c.array(func(int) {
				c.object(func() {
					if key := string(c.Key()); key != "function" && key != "custom" {
						return
					}
					c.object(func() {
						if string(c.Key()) == "name" {
							choice.Allowed = append(choice.Allowed, c.text())
						}
					})
				})
			})
		default:
			c.unknown()
		}
	})
}

func (c *chatReader) format() {
	f := &c.r.Format
	c.object(func() {
		switch string(c.Key()) {
		case "type":
			switch kind := c.text(); kind {
			case "text":
			case "json_object":
				f.Kind = FormatJSON
			case "json_schema":
				f.Kind = FormatSchema
			default:
				c.unsupported("%q is not known; write text, json_object or json_schema", kind)
			}
		case "json_schema":
			c.object(func() { c.schema(f) })
		default:
			c.unknown()
		}
	})
	if f.Kind == FormatSchema && f.Schema == nil {
		c.invalid("has no schema; write {\"type\":\"json_schema\",\"json_schema\":{\"name\":…,\"schema\":…}}")
	}
}

func (c *chatReader) schema(f *Format) {
	switch string(c.Key()) {
	case "name":
		f.Name = c.text()
	case "description":
		f.Description = c.text()
	case "schema":
		if c.Kind() != scan.KindObject {
			c.wrong("an object")
			return
		}
		f.Schema = c.raw()
	case "strict":
		strict := c.flag()
		f.Strict = &strict
	default:
		c.unknown()
	}
}
