package fault

import (
	"bytes"
	"strconv"
	"strings"

	"gatewright/internal/wire/scan"
)

const (
	maxDepth    = 64  // nesting of a body's JSON
	maxUnwrap   = 4   // JSON texts inside JSON texts
	maxTexts    = 8   // messages kept of one body
	maxCodes    = 24  // codes kept of one body
	maxCodeSize = 128 // bytes; longer ones are no codes
	maxText     = 8 << 10
)

// reading is what was found in a body. Of several types, codes and params the
// first outside of details wins.
type reading struct {
	body   []byte
	page   bool // an HTML page
	nested int  // > 0 inside details

	texts  []string // messages, outermost first
	codes  []string // everything that may be a code, lower case
	typ    string
	code   string
	param  string
	number int // the first status (400 to 599) that the body names, 0 if none
}

func read(body []byte) *reading {
	r := &reading{body: body}
	r.read(body, 0)
	return r
}

// read takes one text, which may be JSON, an event of a stream that holds JSON,
// an HTML page or prose.
func (r *reading) read(text []byte, level int) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:")) {
		if i := bytes.IndexByte(text, '{'); i >= 0 {
			text = text[i:]
		}
	}
	if len(text) == 0 {
		return
	}
	if strings.IndexByte(`{["`, text[0]) >= 0 {
		c := scan.NewCursor(text, maxDepth)
		r.value(&c, level)
		if len(r.texts) > 0 || c.Err() == nil {
			return
		}
		text = openMessage(text)
	}
	if isPage(text) {
		r.page = true
		r.addText(string(pageTitle(text)))
		return
	}
	r.addText(string(text[:min(len(text), maxText)]))
}

// openMessage returns what there is of the message in JSON that breaks off, or
// all of it.
func openMessage(text []byte) []byte {
	_, rest, ok := bytes.Cut(text, []byte(`"message"`))
	if rest = bytes.TrimLeft(rest, ": \""); ok && len(rest) > 0 {
		return rest
	}
	return text
}

// value takes a JSON value that holds, or is, an error. A text that ends too
// early or is no JSON further on gives what came before that place.
func (r *reading) value(c *scan.Cursor, level int) {
	switch c.Kind() {
	case scan.KindObject:
		r.object(c, level)
	case scan.KindArray:
		r.array(c, level)
	case scan.KindString:
		r.text(c, level)
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber:
		c.Skip()
	}
}

func (r *reading) array(c *scan.Cursor, level int) {
	c.EnterArray()
	for n := 0; c.Element(); n++ {
		if n < maxTexts {
			r.value(c, level)
		}
	}
}

// object takes the members of an error object, or of the object around it.
func (r *reading) object(c *scan.Cursor, level int) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch strings.ToLower(string(c.Key())) {
		case "error", "detail", "errors", "cause":
			r.value(c, level)
		case "message", "msg", "error_description", "error_message", "errormessage":
			r.text(c, level)
		case "raw":
			r.text(c, level)
		case "type", "error_type", "__type":
			r.codeField(c, &r.typ)
		case "code", "error_code", "errorcode":
			r.codeField(c, &r.code)
		case "reason", "status", "status_code", "statuscode":
			r.codeField(c, nil)
		case "param":
			r.plainField(c, &r.param)
		case "response":
			r.value(c, level)
		case "innererror", "inner_error", "metadata", "details":
			r.nested++
			r.value(c, level)
			r.nested--
		}
	}
}

// text takes a message; one that is JSON itself is opened.
func (r *reading) text(c *scan.Cursor, level int) {
	raw, _, ok := c.Text()
	if !ok {
		if k := c.Kind(); level < maxUnwrap && (k == scan.KindObject || k == scan.KindArray) {
			r.value(c, level+1)
		}
		return
	}
	text := scan.AppendText(nil, raw)
	if inner := bytes.TrimSpace(text); level < maxUnwrap && len(inner) > 1 && (inner[0] == '{' || inner[0] == '[') {
		before := len(r.texts) + len(r.codes)
		r.read(inner, level+1)
		if len(r.texts)+len(r.codes) > before {
			return
		}
	}
	r.addText(string(text[:min(len(text), maxText)]))
}

func (r *reading) addText(s string) {
	if s = strings.TrimSpace(s); s != "" && len(r.texts) < maxTexts {
		r.texts = append(r.texts, s)
	}
}

// codeField takes a code, a type or a status: a text, or a number.
func (r *reading) codeField(c *scan.Cursor, field *string) {
	var s string
	if !r.plainField(c, &s) {
		return
	}
	if field != nil && *field == "" && r.nested == 0 && s != "error" {
		*field = s
	}
	if n, err := strconv.Atoi(s); err == nil && r.number == 0 && isStatus(n) {
		r.number = n
	}
	if len(r.codes) < maxCodes {
		r.codes = append(r.codes, strings.ToLower(s))
	}
}

// plainField takes a short text or a number into an empty field.
func (r *reading) plainField(c *scan.Cursor, field *string) bool {
	raw, _, ok := c.Text()
	switch {
	case ok && len(raw) <= 6*maxCodeSize:
		raw = scan.AppendText(nil, raw)
	case c.Kind() == scan.KindNumber:
		raw = c.Raw()
	default:
		return false
	}
	if len(raw) == 0 || len(raw) > maxCodeSize {
		return false
	}
	if *field == "" {
		*field = string(raw)
	}
	return true
}

func isStatus(n int) bool { return n >= statusError && n < statusEnd }

// status returns the status that counts: the answer's own, or the one that the
// body names when the answer's own says success or hides a rate limit behind a
// server error. It is below 400 when neither names one.
func (r *reading) status(own int) int {
	switch {
	case own < statusRedirect:
		return r.number
	case own < statusError:
		return statusBadGateway // a redirect, which is never followed
	case own >= statusServer && r.number == statusTooMany:
		return r.number
	}
	return own
}

// message returns what to tell: the outermost text, and the next one too when
// the first is but a wrapper around it.
func (r *reading) message() string {
	if len(r.texts) == 0 {
		return ""
	}
	first := r.texts[0]
	if len(r.texts) > 1 && strings.HasPrefix(strings.ToLower(first), "provider returned error") {
		return first + ": " + r.texts[1]
	}
	return first
}

func isPage(text []byte) bool {
	head := lowerASCII(text[:min(len(text), 512)])
	return bytes.HasPrefix(head, []byte("<")) &&
		(bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte("<!doctype")) ||
			bytes.Contains(head, []byte("<head")) || bytes.Contains(head, []byte("<body")) ||
			bytes.Contains(head, []byte("<title")) || bytes.Contains(head, []byte("<?xml")))
}

// pageTitle returns the title of an HTML page, empty if there is none.
func pageTitle(page []byte) []byte {
	lower := lowerASCII(page)
	_, rest, ok := bytes.Cut(lower, []byte("<title"))
	if !ok {
		return nil
	}
	start := len(lower) - len(rest)
	open := bytes.IndexByte(rest, '>')
	end := bytes.Index(rest, []byte("</title"))
	if open < 0 || end < open {
		return nil
	}
	return page[start+open+1 : start+end]
}

// lowerASCII returns a copy of s with the letters A to Z lower, and so of the
// same length.
func lowerASCII(s []byte) []byte {
	out := make([]byte, len(s))
	for i, b := range s {
		if b >= 'A' && b <= 'Z' {
			b |= 0x20
		}
		out[i] = b
	}
	return out
}
