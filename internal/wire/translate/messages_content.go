package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// content reads a content: a text, or a list of blocks.
func (m *messagesReader) content() (parts []Part) {
	if m.Kind() == scan.KindString {
		if text := m.text(); text != "" {
			parts = append(parts, Part{Kind: KindText, Text: text})
		}
		return parts
	}
	m.array(func(int) {
		b := messagesBlock{messagesReader: m}
		m.object(b.field)
		parts = b.append(parts)
	})
	return parts
}

// messagesBlock is one block as it is read. What its members mean is decided by
// its type, which may stand behind them.
type messagesBlock struct {
	*messagesReader
	kind string

	said, thinking, signature, data string
	id, name, useID                 string
	title                           string
	input                           []byte
	blocks                          []Part
	source                          source
	isError                         bool
	cache                           CacheMark
}

// source says where an image or a document comes from.
type source struct {
	kind, mime, data, url, fileID string
	content                       []Part
}

func (b *messagesBlock) field() {
	switch string(b.Key()) {
	case "type":
		b.kind = b.text()
	case "text":
		b.said = b.text()
	case "thinking":
		b.thinking = b.text()
	case "signature":
		b.signature = b.text()
	case "id":
		b.id = b.text()
	case "name":
		b.name = b.text()
	case "tool_use_id":
		b.useID = b.text()
	case "title":
		b.title = b.text()
	case "input":
		b.input = b.raw()
	case "is_error":
		b.isError = b.flag()
	case "cache_control":
		b.cache = b.cacheMark()
	case "data":
		b.data = b.textOr("of a block that only Anthropic's service knows")
	case "content":
		b.inner()
	case "source":
		b.readSource()
	case "caller":
		b.drop("only Anthropic's service runs tools by itself")
	case "citations":
		b.drop("citations are Anthropic's own")
	case "context":
		b.drop("only Anthropic's service knows it")
	default:
		b.unknown()
	}
}

// textOr reads a string; anything else is lost.
func (b *messagesBlock) textOr(why string) string {
	if b.Kind() == scan.KindString {
		return b.text()
	}
	b.drop(why)
	return ""
}

// inner reads the content of a block: a text or blocks. What tools of the
// service gave is of any form, and lost with its block.
func (b *messagesBlock) inner() {
	if kind := b.Kind(); kind == scan.KindString || kind == scan.KindArray && b.knowsContent() {
		b.blocks = b.content()
		return
	}
	b.Skip()
}

// knowsContent reports whether a content is of the blocks that are known: that
// of a result or of a search result, or of a block whose type is not known yet.
func (b *messagesBlock) knowsContent() bool {
	return b.kind == "" || b.kind == "tool_result" || b.kind == "search_result"
}

func (b *messagesBlock) readSource() {
	if b.Kind() == scan.KindString { // of a search result
		b.source.url = b.text()
		return
	}
	s := &b.source
	b.object(func() {
		switch string(b.Key()) {
		case "type":
			s.kind = b.text()
		case "media_type":
			s.mime = b.text()
		case "data":
			s.data = b.text()
		case "url":
			s.url = b.text()
		case "file_id":
			s.fileID = b.text()
		case "content":
			s.content = b.content()
		default:
			b.unknown()
		}
	})
}

// media returns where an image or a document comes from.
func (b *messagesBlock) media() Media {
	s := &b.source
	m := Media{MIME: s.mime, Name: b.title}
	switch s.kind {
	case "base64":
		m.Data = s.data
	case "url":
		m.URL = s.url
	case "file":
		m.FileID, m.Origin = s.fileID, OriginAnthropic
	case "text":
		m.Plain = s.data
	case "content":
		m.Plain, m.MIME = b.plain(s.content), "text/plain"
	default:
		b.invalid("source.type must be base64, url, file, text or content, not %q", s.kind)
	}
	return m
}

// plain joins the texts of a document that is made of blocks.
func (b *messagesBlock) plain(parts []Part) string {
	texts := make([]string, 0, len(parts))
	for i := range parts {
		if parts[i].Kind == KindText {
			texts = append(texts, parts[i].Text)
		} else {
			b.lose("images inside a document")
		}
	}
	return strings.Join(texts, "\n\n")
}

// append appends the part that the block is to parts.
func (b *messagesBlock) append(parts []Part) []Part {
	if b.err != nil || b.Err() != nil {
		return parts
	}
	p := Part{Cache: b.cache}
	switch b.kind {
	case "text":
		if b.said == "" {
			return parts
		}
		p.Kind, p.Text = KindText, b.said
	case "image":
		p.Kind, p.Media = KindImage, b.media()
	case "document":
		p.Kind, p.Media = KindDocument, b.media()
	case "search_result":
		p.Kind = KindDocument
		p.Media = Media{Name: b.title, Plain: b.plain(b.blocks), MIME: "text/plain"}
	case "tool_use":
		p.Kind, p.Call = KindCall, Call{ID: b.id, Name: b.name, Arguments: string(b.input)}
		if p.Call.Arguments == "" {
			p.Call.Arguments = "{}"
		}
		if b.names != nil {
			b.names[b.id] = b.name
		}
	case "tool_result":
		p.Kind, p.Result = KindResult, Result{CallID: b.useID, Name: b.names[b.useID], Parts: b.blocks, IsError: b.isError}
	case "thinking":
		p.Kind, p.Text = KindReasoning, b.thinking
		if b.signature != "" {
			p.Signature = Signature{Origin: OriginAnthropic, Data: b.signature}
		}
		if p.Text == "" && b.signature == "" {
			return parts
		}
		p.Redacted = p.Text == ""
	case "redacted_thinking":
		p.Kind, p.Redacted = KindReasoning, true
		p.Signature = redactedSignature(b.data)
	case "":
		b.invalid("has no type")
		return parts
	default:
		b.lose("a block of type " + b.kind + " that only Anthropic's service knows")
		return parts
	}
	return append(parts, p)
}

// redactedMark begins the signature of redacted_thinking and tells it from that
// of a thought whose text the service left out: both have only opaque text, in
// different places.
const redactedMark = "redacted_thinking:"

func redactedSignature(data string) Signature {
	return Signature{Origin: OriginAnthropic, Data: redactedMark + data}
}

// cutRedacted returns the data of a redacted_thinking, or else the signature as
// it is.
func cutRedacted(signature string) (data string, redacted bool) {
	return strings.CutPrefix(signature, redactedMark)
}
