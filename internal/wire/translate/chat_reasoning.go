package translate

import "slices"

// A chat client keeps reasoning in two fields that are not OpenAI's own and that
// many clients know: reasoning_content is its text, and reasoning_details is a
// list of what its maker wants back, in OpenRouter's form:
//
//	{"type":"reasoning.text","text":…,"signature":…,"format":…,"index":…}
//	{"type":"reasoning.summary","summary":…,"id":…,"format":…,"index":…}
//	{"type":"reasoning.encrypted","data":…,"id":…,"format":…,"index":…}
//
// format says whose it is. What Google wants back with a call or a text stands
// beside it, in extra_content.google.thought_signature, as at Google's own chat
// endpoint.

// reasoningFormats are the formats by their makers.
var reasoningFormats = map[Origin]string{
	OriginAnthropic: "anthropic-claude-v1",
	OriginGoogle:    "google-gemini-v1",
	OriginOpenAI:    "openai-responses-v1",
}

// originOf returns the maker of a format. One that is not said is Anthropic's by
// the rule of those who made the form; of others nothing is known.
func originOf(format string) Origin {
	if format == "" {
		return OriginAnthropic
	}
	for origin, name := range reasoningFormats {
		if name == format {
			return origin
		}
	}
	return OriginNone
}

// chatThoughts are the thoughts of a message as they are read.
type chatThoughts struct {
	plain   string // reasoning_content
	parts   []Part // in order
	details []reasoningDetail
}

// reasoningDetail is an element of reasoning_details.
type reasoningDetail struct {
	kind, text, signature, data, id string
	origin                          Origin
	index                           int64
}

// detail reads an element of reasoning_details.
func (t *chatThoughts) detail(r *reader) {
	d := reasoningDetail{index: -1}
	format := ""
	r.object(func() {
		switch string(r.Key()) {
		case "type":
			d.kind = r.text()
		case "text", "summary":
			d.text = r.text()
		case "signature":
			d.signature = r.text()
		case "data":
			d.data = r.text()
		case "id":
			d.id = r.text()
		case "format":
			format = r.text()
		case "index":
			d.index = r.tokens()
		default:
			r.unknown()
		}
	})
	d.origin = originOf(format)
	t.details = append(t.details, d)
}

// all returns the thoughts: those that are told in detail, or else their text.
func (t *chatThoughts) all() []Part {
	parts := t.parts
	for i := range t.details {
		parts = t.details[i].appendTo(parts)
	}
	for i := range parts {
		if parts[i].Text != "" {
			return parts
		}
	}
	if t.plain != "" {
		parts = slices.Insert(parts, 0, Part{Kind: KindReasoning, Text: t.plain})
	}
	return parts
}

// ofCall returns the signature that is told for a call by its id.
func (t *chatThoughts) ofCall(id string) Signature {
	for i := range t.details {
		if d := &t.details[i]; d.origin == OriginGoogle && d.kind == "reasoning.encrypted" && d.id == id && id != "" {
			return Signature{Origin: OriginGoogle, Data: d.data}
		}
	}
	return Signature{}
}

// appendTo appends the thought to parts. Summary and data of one item of OpenAI's
// are one thought.
func (d *reasoningDetail) appendTo(parts []Part) []Part {
	p := Part{Kind: KindReasoning, Text: d.text}
	switch {
	case d.origin == OriginOpenAI:
		p.Signature = Signature{Origin: OriginOpenAI, ID: d.id, Data: d.data}
		if n := len(parts); n > 0 && d.data != "" && parts[n-1].Signature.ID == d.id && parts[n-1].Signature.Data == "" {
			parts[n-1].Signature = p.Signature
			return parts
		}
	case d.kind == "reasoning.encrypted" && d.origin == OriginAnthropic:
		p.Signature = redactedSignature(d.data)
	case d.kind == "reasoning.encrypted" && d.origin == OriginGoogle && d.id != "":
		return parts // of a call
	case d.kind == "reasoning.encrypted":
		p.Signature = Signature{Origin: d.origin, ID: d.id, Data: d.data}
	case d.signature != "":
		p.Signature = Signature{Origin: d.origin, Data: d.signature}
	}
	p.Redacted = p.Text == ""
	if p.Redacted && p.Signature.Data == "" {
		return parts
	}
	return append(parts, p)
}

// reasoningDetails writes what the maker of a thought wants back as elements of
// reasoning_details, numbered from index, and returns how many there are. A
// thought that nobody has signed has none.
func (w *writer) reasoningDetails(p *Part, index int) int {
	s := &p.Signature
	if s.Data == "" && (s.ID == "" || s.Origin != OriginOpenAI) {
		return 0
	}
	data, redacted := s.Data, false
	if s.Origin == OriginAnthropic {
		data, redacted = cutRedacted(s.Data)
	}
	begin := func(kind string) {
		w.open('{')
		w.textMember("type", kind)
		w.textMember("format", reasoningFormats[s.Origin])
		w.key("index")
		w.integer(int64(index))
		w.textMember("id", s.ID)
	}
	switch {
	case s.Origin == OriginOpenAI:
		n := 0
		if p.Text != "" {
			begin("reasoning.summary")
			w.textMember("summary", p.Text)
			w.close('}')
			index++
			n++
		}
		if s.Data != "" {
			begin("reasoning.encrypted")
			w.textMember("data", s.Data)
			w.close('}')
			n++
		}
		return n
	case redacted:
		begin("reasoning.encrypted")
		w.textMember("data", data)
	default:
		begin("reasoning.text")
		w.key("text")
		w.text(p.Text)
		w.textMember("signature", data)
	}
	w.close('}')
	return 1
}

// extraContent writes a signature of Google's beside the call or the text that
// it belongs to.
func (w *writer) extraContent(s Signature) {
	if s.Origin != OriginGoogle || s.Data == "" {
		return
	}
	w.key("extra_content")
	w.open('{')
	w.key("google")
	w.open('{')
	w.textMember("thought_signature", s.Data)
	w.close('}', '}')
}
