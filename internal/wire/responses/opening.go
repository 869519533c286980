package responses

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
	systemParts  = 8       // of them at most developer and system texts
	openingBytes = 8 << 10 // bytes hashed of each
)

// opening is what identifies a conversation from its first turn on. It holds
// places in the body, no text.
type opening struct {
	instructions span
	spans        [openingParts]span
	kinds        [openingParts]part
	n            int
	done         bool // the first user message is in

	tools  uint64 // sum of the hashes of the names: their order does not matter
	toolsN uint64
}

// add adds a text; its kind is not known until its item ends.
func (o *opening) add(s span) {
	if o.done || o.n == len(o.spans) || !s.there() {
		return
	}
	o.spans[o.n], o.kinds[o.n] = s, partNone
	o.n++
}

// settle decides about the texts that an item of the given role added since
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
	o.tools += hash(hashStart, name)
	o.toolsN++
}

const hashStart = 14695981039346656037 // FNV-1a

// hash adds bytes to an FNV-1a hash.
func hash(sum uint64, s []byte) uint64 {
	const prime = 1099511628211
	for _, b := range s {
		sum = (sum ^ uint64(b)) * prime
	}
	return sum
}

// HashOpening writes to w, which should be a hash, what identifies the
// conversation that the request belongs to, and reports whether there is
// anything: the instructions, the developer and system texts before the first
// user message, that message, and the names of the tools in whatever order.
// Later turns of a conversation that is sent whole give the same bytes. One that
// the upstream keeps (previous_response_id, conversation) shows no opening. Of a
// long text only the first 8 KiB and the length count. Errors of w are ignored.
func (r *Request) HashOpening(w io.Writer) bool {
	o := &r.opening
	if o.n == 0 && !o.instructions.there() || r.Owned.Response != "" || r.Owned.Conversation != "" {
		return false
	}
	r.hashText(w, partSystem, o.instructions)
	for i, s := range o.spans[:o.n] {
		r.hashText(w, o.kinds[i], s)
	}
	var tail [17]byte
	binary.LittleEndian.PutUint64(tail[1:], o.tools)
	binary.LittleEndian.PutUint64(tail[9:], o.toolsN)
	_, _ = w.Write(tail[:])
	return true
}

func (r *Request) hashText(w io.Writer, kind part, s span) {
	var head [9]byte
	head[0] = byte(kind)
	binary.LittleEndian.PutUint64(head[1:], uint64(s.end-s.start)) //nolint:gosec // a length
	_, _ = w.Write(head[:])
	_, _ = w.Write(r.body[s.start:min(s.end, s.start+openingBytes)])
}
