package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gatewright/internal/wire/scan"
)

// What a request has besides its texts, in tokens. The numbers are those that
// OpenAI's cookbook gives for messages and functions; for Claude the prompt that
// Anthropic's guide to tools gives for its models of the fourth generation.
const (
	perMessage    = 3
	perAnswer     = 3 // that opens the answer
	perTool       = 7
	perTools      = 12 // once, if there are any
	claudeTools   = 346
	maxDepth      = 10_000 // of JSON; what a server takes is less
	schemaRestate = 2      // a schema has down to half its tokens when it is restated
)

// CountRequest returns how many input tokens a request has for a model: the body
// of a message or of a count of its tokens, of a chat completion, of a response,
// or of embeddings. For the models of OpenAI the texts count exactly, for others
// nearly; the rest is what makers publish of messages, tools, images and pages.
// Sound does not count. The error says that the body is not JSON. It may be
// called from several goroutines; the time is bounded whatever the body holds.
func CountRequest(body []byte, model string) (int64, error) {
	r, err := read(body, model)
	if err != nil {
		return 0, err
	}
	return r.total(), nil
}

// AtLeast is CountRequest for a decision whether a request is too long: it errs
// low. Only texts count, by the fewest tokens that they may have. 0 = the body
// is not JSON.
func AtLeast(body []byte, model string) int64 {
	r, err := read(body, model)
	if err != nil {
		return 0
	}
	return r.family.atLeast(r.texts.tokens + r.schemas/schemaRestate)
}

// reader is one walk over a request.
type reader struct {
	scan.Cursor
	family   *family
	texts    counter
	schemas  int64 // tokens of tools and schemas, as they stand
	media    int64 // tokens of images and pages
	messages int64
	tools    int64
	buf      []byte
}

func read(body []byte, model string) (*reader, error) {
	f := familyOf(model)
	r := &reader{Cursor: scan.NewCursor(body, maxDepth), family: f, texts: counter{codec: f.encoding.get()}}
	if r.Kind() == scan.KindObject {
		r.top()
	} else {
		r.Skip()
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("count the tokens of a request: %w", err)
	}
	return r, nil
}

func (r *reader) total() int64 {
	n := r.family.typically(r.texts.tokens+r.schemas) + r.media + r.messages*perMessage + perAnswer
	switch {
	case r.tools == 0:
	case r.family == &familyClaude:
		n += claudeTools
	default:
		n += r.tools*perTool + perTools
	}
	return n
}

// top takes the members of the body.
func (r *reader) top() {
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "system", "instructions":
			r.content()
		case "messages", "input", "prompt":
			r.turns()
		case "tools", "functions":
			r.offers()
		case "response_format", "output_config", "output_format", "text":
			r.format()
		}
	}
}

// turns takes messages, items, texts, or tokens that are given as numbers.
func (r *reader) turns() {
	switch r.Kind() {
	case scan.KindString:
		r.messages++
		r.text()
	case scan.KindArray:
		for r.EnterArray(); r.Element(); {
			r.turn()
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindObject:
		r.Skip()
	}
}

func (r *reader) turn() {
	switch r.Kind() {
	case scan.KindString:
		r.text()
	case scan.KindObject:
		r.messages++
		r.block()
	case scan.KindNumber:
		r.Skip()
		r.media++ // a token as it is
	case scan.KindArray:
		for r.EnterArray(); r.Element(); r.Skip() {
			r.media++
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool:
		r.Skip()
	}
}

// content takes a text, a block, or a list of both.
func (r *reader) content() {
	switch r.Kind() {
	case scan.KindString:
		r.text()
	case scan.KindObject:
		r.block()
	case scan.KindArray:
		for r.EnterArray(); r.Element(); {
			r.content()
		}
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber:
		r.Skip()
	}
}

// block takes a message, an item, a part of one, or a call.
func (r *reader) block() {
	var m medium
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "type":
			m.kind = string(r.raw())
		case "text", "thinking", "title", "context", "refusal", "reasoning_content", "name", "arguments":
			r.text()
		case "content", "output", "summary", "reasoning", "function", "custom", "function_call", "tool_calls":
			r.content()
		case "input":
			r.callInput()
		case "source":
			r.source(&m)
		case "image_url":
			r.imageURL(&m)
		case "detail":
			m.detail = string(r.raw())
		case "file":
			r.file(&m)
		case "file_data", "file_url", "file_id":
			m.setFile(r.raw())
		}
	}
	r.media += m.tokens(r.family, &r.buf)
}

// text takes a text that the model reads.
func (r *reader) text() {
	raw, decoded, ok := r.Text()
	if !ok {
		r.Skip()
		return
	}
	if decoded != len(raw) {
		r.buf = scan.AppendText(r.buf[:0], raw)
		raw = r.buf
	}
	r.texts.add(raw)
}

// raw takes a string and returns what stands between its quotes; of anything
// else nothing.
func (r *reader) raw() []byte {
	raw, _, ok := r.Text()
	if !ok {
		r.Skip()
		return nil
	}
	return raw
}

// callInput takes what a tool was called with: a text, or an object that the
// model reads as JSON.
func (r *reader) callInput() {
	if r.Kind() == scan.KindString {
		r.text()
		return
	}
	r.texts.add(compact(r.Raw()))
}

// offers takes the tools.
func (r *reader) offers() {
	if r.Kind() != scan.KindArray {
		r.Skip()
		return
	}
	for r.EnterArray(); r.Element(); {
		r.tools++
		r.schema()
	}
}

// format takes the schema that the answer is to have, wherever it stands.
func (r *reader) format() {
	if r.Kind() != scan.KindObject {
		r.Skip()
		return
	}
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "format", "json_schema":
			r.format()
		case "schema":
			r.schema()
		}
	}
}

// schema takes a value that is restated to the model in one form or another.
func (r *reader) schema() {
	r.Kind()
	before := r.texts.tokens
	r.texts.add(compact(r.Raw()))
	r.schemas += r.texts.tokens - before
	r.texts.tokens = before
}

// compact returns JSON without the spaces between its parts.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
