package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// inputField takes input: a text of the user's, or a list of items.
func (d *responsesRequestDecoder) inputField() {
	if d.Kind() == scan.KindString {
		d.turn(RoleUser, Part{Kind: KindText, Text: d.text()})
		return
	}
	d.array(func(int) { d.item() })
}

// turn adds parts to the conversation. What one side says in a row is one turn,
// and results come before whatever else the user says.
func (d *responsesRequestDecoder) turn(role Role, parts ...Part) {
	if len(parts) == 0 {
		return
	}
	if role == RoleSystem && len(d.r.Turns) == 0 {
		d.input = append(d.input, parts...)
		return
	}
	if n := len(d.r.Turns); n > 0 && d.r.Turns[n-1].Role == role && d.joins(&d.r.Turns[n-1], parts) {
		d.r.Turns[n-1].Parts = append(d.r.Turns[n-1].Parts, parts...)
		return
	}
	d.r.Turns = append(d.r.Turns, Turn{Role: role, Parts: parts})
}

// joins reports whether parts may be added to a turn: any of the model's, and
// results to results.
func (d *responsesRequestDecoder) joins(t *Turn, parts []Part) bool {
	last := &t.Parts[len(t.Parts)-1]
	return t.Role == RoleAssistant || parts[0].Kind == KindResult && last.Kind == KindResult
}

// responsesItem is an item of the input or of an output, as far as it counts.
type responsesItem struct {
	kind, id, role   string
	callID, name     string
	arguments, input string
	output           []Part
	content          []Part
	summary          []string
	encrypted        string
	hasContent       bool
}

// item takes one item of the input.
func (d *responsesRequestDecoder) item() {
	it := d.readItem()
	switch it.kind {
	case "", "message":
		d.message(it)
	case "function_call", "custom_tool_call":
		call := Call{ID: it.callID, Name: it.name, Arguments: it.arguments}
		if it.kind == "custom_tool_call" {
			call.Custom, call.Arguments = true, it.input
		}
		d.names[call.ID] = call.Name
		d.turn(RoleAssistant, Part{Kind: KindCall, Call: call})
	case "function_call_output", "custom_tool_call_output":
		result := Result{CallID: it.callID, Name: d.names[it.callID], Parts: it.output}
		d.turn(RoleUser, Part{Kind: KindResult, Result: result})
	case "reasoning":
		d.reasoningItem(it)
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools":
		d.lose("what the upstream did by itself; the answer after it says what came of it")
	case "item_reference":
		d.unsupported("only the upstream that keeps the item knows it; send the item itself")
	default:
		d.unsupported("an upstream of another protocol cannot read an item of type %.40q", it.kind)
	}
}

// readItem takes the members of an item, which may stand in any order.
func (d *responsesRequestDecoder) readItem() *responsesItem {
	it := &responsesItem{}
	d.object(func() {
		switch string(d.Key()) {
		case "type":
			it.kind = d.text()
		case "id":
			it.id = d.text()
		case "role":
			it.role = d.text()
		case "content":
			it.content, it.hasContent = d.content(), true
		case "output":
			it.output = d.loose(d.content)
		case "call_id":
			it.callID = d.text()
		case "name":
			it.name = d.text()
		case "arguments":
			it.arguments = d.looseText()
		case "input":
			it.input = d.looseText()
		case "summary":
			it.summary = d.summaries()
		case "encrypted_content":
			it.encrypted = d.text()
		}
	})
	return it
}

// loose takes a value that is a text or a list in the items that count, and
// anything in others.
func (d *responsesRequestDecoder) loose(take func() []Part) []Part {
	if kind := d.Kind(); kind != scan.KindString && kind != scan.KindArray {
		d.Skip()
		return nil
	}
	return take()
}

// looseText takes a text, and anything else as none.
func (d *responsesRequestDecoder) looseText() string {
	if d.Kind() != scan.KindString {
		d.Skip()
		return ""
	}
	return d.text()
}

func (d *responsesRequestDecoder) message(it *responsesItem) {
	switch it.role {
	case "user":
		d.turn(RoleUser, it.content...)
	case "assistant":
		d.turn(RoleAssistant, it.content...)
	case "system", "developer":
		d.turn(RoleSystem, it.content...)
	case "":
		if it.id != "" && !it.hasContent {
			d.unsupported("only the upstream that keeps the item knows it; send the item itself")
			return
		}
		d.invalid("the message has no role")
	default:
		d.invalid("the role must be user, assistant, developer or system, not %.40q", it.role)
	}
}

// reasoningItem takes what a model thought before. Its text counts only for the
// maker that can read what is encrypted beside it.
func (d *responsesRequestDecoder) reasoningItem(it *responsesItem) {
	signature, behind := openSignature(it.id, it.encrypted)
	if behind {
		if n := len(d.r.Turns); n > 0 && d.r.Turns[n-1].Role == RoleAssistant {
			parts := d.r.Turns[n-1].Parts
			parts[len(parts)-1].Signature = signature
		}
		return
	}
	p := Part{Kind: KindReasoning, Signature: signature}
	p.Text = strings.Join(it.summary, reasoningBreak)
	if p.Text == "" {
		for i := range it.content {
			p.Text += it.content[i].Text
		}
	}
	p.Redacted = p.Text == ""
	if p.Redacted && p.Signature.Data == "" {
		return
	}
	d.turn(RoleAssistant, p)
}

// reasoningBreak stands between the parts of a summary where they are one text.
const reasoningBreak = "\n\n"

func (d *responsesRequestDecoder) summaries() (texts []string) {
	d.array(func(int) {
		d.object(func() {
			if string(d.Key()) == "text" {
				texts = append(texts, d.text())
			}
		})
	})
	return texts
}

// content takes the content of a message or what a call gave: a text, or a list
// of parts.
func (d *responsesRequestDecoder) content() (parts []Part) {
	if d.Kind() == scan.KindString {
		return []Part{{Kind: KindText, Text: d.text()}}
	}
	d.array(func(int) {
		if p, ok := d.part(); ok {
			parts = append(parts, p)
		}
	})
	return parts
}

// responsesPart is a part of a content as it was sent.
type responsesPart struct {
	kind, text                   string
	image, detail                string
	fileID, fileData, fileURL    string
	filename, sound, soundFormat string
}

// part takes a part of a content.
func (d *responsesRequestDecoder) part() (Part, bool) {
	var p responsesPart
	d.object(func() { d.partMember(&p) })
	switch p.kind {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		return Part{Kind: KindText, Text: p.text}, true
	case "refusal":
		return Part{Kind: KindRefusal, Text: p.text}, true
	case "input_image":
		return Part{Kind: KindImage, Media: p.media(p.image)}, true
	case "input_file":
		if p.fileData != "" {
			return Part{Kind: KindDocument, Media: p.media(p.fileData)}, true
		}
		return Part{Kind: KindDocument, Media: p.media(p.fileURL)}, true
	case "input_audio":
		return Part{Kind: KindAudio, Media: Media{Data: p.sound, MIME: "audio/" + p.soundFormat}}, true
	case "":
		d.invalid("the part has no type")
	default:
		d.unsupported("an upstream of another protocol cannot read a part of type %.40q", p.kind)
	}
	return Part{}, false
}

func (d *responsesRequestDecoder) partMember(p *responsesPart) {
	switch string(d.Key()) {
	case "type":
		p.kind = d.text()
	case "text", "refusal":
		p.text = d.text()
	case "image_url":
		p.image = d.text()
	case "detail":
		p.detail = d.text()
	case "file_id":
		p.fileID = d.text()
	case "file_data":
		p.fileData = d.text()
	case "file_url":
		p.fileURL = d.text()
	case "filename":
		p.filename = d.text()
	case "input_audio":
		d.object(func() {
			switch string(d.Key()) {
			case "data":
				p.sound = d.text()
			case "format":
				p.soundFormat = d.text()
			default:
				d.unknown()
			}
		})
	case "annotations", "logprobs":
		d.Skip() // what was said of a text; no model reads it
	default:
		d.unknown()
	}
}

// media returns what a part points at: an id in the maker's file store, a data
// URL, bare base64, or a URL.
func (p *responsesPart) media(where string) Media {
	m := Media{Name: p.filename, Detail: p.detail}
	mime, data, isData := cutDataURL(where)
	switch {
	case where == "" && p.fileID != "":
		m.FileID, m.Origin = p.fileID, OriginOpenAI
	case isData:
		m.MIME, m.Data = mime, data
	case where == p.fileData && where != "":
		m.Data, m.MIME = where, typeOfURL(p.filename)
		if m.MIME == "" {
			m.MIME = "application/pdf"
		}
	default:
		m.URL = where
	}
	return m
}
