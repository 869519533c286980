package openai

import (
	"encoding/binary"
	"io"
)

// part says what a text in an opening is.
type part uint8

const (
	partNone part = iota // not known yet
	partSystem
	partUser
	partOther
)

const (
	openingParts = 12      // texts kept of an opening
	systemParts  = 8       // of them at most system and developer texts
	openingBytes = 8 << 10 // bytes hashed of each
)

// opening is what identifies a conversation from its first turn on: the system
// and developer texts before the first user message, that message, and the
// names of the tools. It holds places in the body, no text.
type opening struct {
	spans [openingParts]span
	kinds [openingParts]part
	n     int
	done  bool // the first user message is in

	tools  uint64 // sum of the hashes of the names: their order does not matter
	toolsN uint64
}

// add adds a text; kind is partNone until its message's role is known.
func (o *opening) add(kind part, s span) {
	if o.done || o.n == len(o.spans) || !s.there() {
		return
	}
	o.spans[o.n], o.kinds[o.n] = s, kind
	o.n++
}

// settle decides about the texts that a message of the given role added since
// mark.
func (o *opening) settle(mark int, role part) {
	if o.done {
		return
	}
	if role != partSystem && role != partUser {
		o.n = mark
		return
	}
	for i := mark; i < o.n; i++ {
		o.kinds[i] = role
	}
	if o.done = role == partUser; !o.done {
		o.n = min(o.n, systemParts)
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
// anything: the system and developer texts before the first user message, that
// message, and the names of the tools in whatever order. Later turns of a
// conversation give the same bytes, also when the client has added marks such
// as cache_control to the parts of a message. Of a long text only the first
// 8 KiB and the length count. Embeddings have no conversation. Errors of w are
// ignored.
func (r *Request) HashOpening(w io.Writer) bool {
	o := &r.opening
	if o.n == 0 {
		return false
	}
	var head [17]byte
	for i, s := range o.spans[:o.n] {
		head[0] = byte(o.kinds[i])
		binary.LittleEndian.PutUint64(head[1:], uint64(s.end-s.start)) //nolint:gosec // a length
		_, _ = w.Write(head[:9])
		_, _ = w.Write(r.body[s.start:min(s.end, s.start+openingBytes)])
	}
	head[0] = byte(partNone)
	binary.LittleEndian.PutUint64(head[1:], o.tools)
	binary.LittleEndian.PutUint64(head[9:], o.toolsN)
	_, _ = w.Write(head[:])
	return true
}
