package anthropic

import (
	"bytes"
	"io"

	"gatewright/internal/wire/request"
)

// openingTexts is how many texts are kept of the system text, and of the first
// user's message.
const openingTexts = 8

// texts are places of texts in the body.
type texts struct {
	spans [openingTexts]span
	n     int
}

func (t *texts) add(s span) {
	if t.n < len(t.spans) && s.there() {
		t.spans[t.n] = s
		t.n++
	}
}

// opening is what identifies a conversation from its first turn on. It holds
// places in the body, no text.
type opening struct {
	system texts
	first  texts // of the first user's message
	done   bool  // that message is in
	tools  request.Tools
}

// billing begins the first system text of Claude Code, which tells its maker
// about the program and changes from request to request.
var billing = []byte("x-anthropic-billing-header:")

// addSystem adds a system text unless it is one that changes.
func (o *opening) addSystem(body []byte, s span) {
	if !bytes.HasPrefix(body[s.start:s.end], billing) {
		o.system.add(s)
	}
}

// HashOpening writes to w, which should be a hash, what identifies the
// conversation that the request belongs to, and reports whether there is
// anything: the system texts, the first user's message and the names of the
// tools in whatever order. Later turns of a conversation give the same bytes,
// also when the client has moved its cache marks; a text is the same whether it
// stands by itself or as the only block. Of a long text only the first 8 KiB
// and the length count. Errors of w are ignored.
func (r *Request) HashOpening(w io.Writer) bool {
	o := &r.opening
	if o.system.n+o.first.n == 0 {
		return false
	}
	d := request.NewDigest(w, r.body)
	for _, t := range o.system.spans[:o.system.n] {
		d.Text(request.PartSystem, t.start, t.end)
	}
	for _, t := range o.first.spans[:o.first.n] {
		d.Text(request.PartUser, t.start, t.end)
	}
	d.Tools(o.tools)
	return true
}
