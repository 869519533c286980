package anthropic

import (
	"bytes"
	"encoding/binary"
	"io"
)

const (
	openingTexts = 8       // texts kept of the system text, and of the first user's message
	openingBytes = 8 << 10 // bytes hashed of each
)

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

	tools  uint64 // sum of the hashes of their names: the order does not matter
	toolsN uint64
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

func (o *opening) addTool(name []byte) {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	for _, b := range name {
		hash = (hash ^ uint64(b)) * prime
	}
	o.tools += hash
	o.toolsN++
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
	var head [17]byte
	for i, list := range [...]*texts{&o.system, &o.first} {
		head[0] = byte(i + 1)
		for _, s := range list.spans[:list.n] {
			binary.LittleEndian.PutUint64(head[1:], uint64(s.end-s.start)) //nolint:gosec // a length
			_, _ = w.Write(head[:9])
			_, _ = w.Write(r.body[s.start:min(s.end, s.start+openingBytes)])
		}
	}
	head[0] = 0
	binary.LittleEndian.PutUint64(head[1:], o.tools)
	binary.LittleEndian.PutUint64(head[9:], o.toolsN)
	_, _ = w.Write(head[:])
	return true
}
