package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// tool takes one of the tools: a list of functions, or a tool of the upstream's
// own under its name.
func (d *geminiRequestDecoder) tool() {
	d.object(func() {
		key := d.camel()
		if key == "functionDeclarations" {
			d.array(func(int) { d.function() })
			return
		}
		d.Skip()
		d.r.Tools = append(d.r.Tools, Tool{Kind: ToolServer, Type: key, Name: key})
	})
}

func (d *geminiRequestDecoder) function() {
	var t Tool
	d.object(func() {
		switch d.camel() {
		case "name":
			t.Name = d.text()
		case "description":
			t.Description = d.text()
		case "parameters":
			t.Schema = lowerTypes(d.raw())
		case "parametersJsonSchema":
			t.Schema = d.raw()
		default:
			d.unknown()
		}
	})
	d.r.Tools = append(d.r.Tools, t)
}

// lowerTypes returns a schema of the OpenAPI kind, whose types are upper case,
// with the types of JSON schemas.
func lowerTypes(raw []byte) []byte {
	var edits []scan.Edit
	c := scan.NewCursor(raw, maxDepth)
	var walk func()
	walk = func() {
		switch {
		case c.EnterObject():
			for c.Member() {
				if string(c.Key()) == "type" && c.Kind() == scan.KindString {
					start, end := c.Skip()
					edits = append(edits, scan.Edit{Start: start, End: end, Text: []byte(strings.ToLower(string(raw[start:end])))})
					continue
				}
				walk()
			}
		case c.EnterArray():
			for c.Element() {
				walk()
			}
		default:
			c.Skip()
		}
	}
	walk()
	return scan.Splice(nil, raw, edits)
}

func (d *geminiRequestDecoder) choice() {
	var mode string
	var names []string
	d.object(func() {
		switch d.camel() {
		case "mode":
			mode = d.text()
		case "allowedFunctionNames":
			d.array(func(int) { names = append(names, d.text()) })
		default:
			d.unknown()
		}
	})
	c := &d.r.ToolChoice
	switch mode {
	case "AUTO", "VALIDATED":
		c.Mode, c.Allowed = ChoiceAuto, names
	case "ANY":
		c.Mode, c.Allowed = ChoiceRequired, names
		if len(names) == 1 {
			c.Mode, c.Name, c.Allowed = ChoiceTool, names[0], nil
		}
	case "NONE":
		c.Mode = ChoiceNone
	}
}

// config takes a member of the generationConfig.
func (d *geminiRequestDecoder) config() {
	const most = 1 << 40
	r, s := d.r, &d.r.Sampling
	switch d.camel() {
	case "temperature":
		s.Temperature = d.float()
	case "topP":
		s.TopP = d.float()
	case "topK":
		s.TopK = d.float()
	case "presencePenalty":
		s.PresencePenalty = d.float()
	case "frequencyPenalty":
		s.FrequencyPenalty = d.float()
	case "seed":
		n := d.integer(-most, most)
		s.Seed = &n
	case "maxOutputTokens":
		r.MaxOutput = d.integer(1, most)
	case "stopSequences":
		d.array(func(int) { r.Stop = append(r.Stop, d.text()) })
	case "candidateCount":
		if d.integer(1, most) > 1 {
			d.unsupported("other makers give one answer")
		}
	case "responseMimeType":
		if d.text() == "application/json" && r.Format.Kind == FormatText {
			r.Format.Kind = FormatJSON
		}
	case "responseSchema":
		r.Format.Kind, r.Format.Schema = FormatSchema, lowerTypes(d.raw())
	case "responseJsonSchema":
		r.Format.Kind, r.Format.Schema = FormatSchema, d.raw()
	case "thinkingConfig":
		d.object(d.thinking)
	default:
		d.unknown()
	}
}

func (d *geminiRequestDecoder) thinking() {
	const most = 1 << 40
	t := &d.r.Thinking
	switch d.camel() {
	case "thinkingBudget":
		switch n := d.integer(geminiBudgetFree, most); n {
		case 0:
			t.Effort = EffortNone
		case geminiBudgetFree:
			t.Adaptive = true
		default:
			t.Budget = n
		}
	case "thinkingLevel":
		t.Effort = Effort(strings.ToLower(d.text()))
	case "includeThoughts":
		if d.flag() {
			t.Summary = "auto"
		}
	default:
		d.unknown()
	}
}
