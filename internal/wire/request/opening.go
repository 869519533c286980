package request

import (
	"encoding/binary"
	"io"
)

// Part says what a text in an opening is. The values go into hashes that
// outlive the process: they never change.
type Part uint8

// The parts. PartNone is one that is not known yet.
const (
	PartNone Part = iota
	PartSystem
	PartUser
	PartOther
)

// RoleOf returns the part that a role names, raw as it stands in the JSON text.
func RoleOf(raw []byte) Part {
	switch string(raw) {
	case "system", "developer":
		return PartSystem
	case "user":
		return PartUser
	}
	return PartOther
}

const (
	openingParts = 12      // texts kept of an opening
	systemParts  = 8       // of them at most system and developer texts
	openingBytes = 8 << 10 // bytes hashed of each
)

// Opening is what identifies a conversation from its first turn on: the system
// and developer texts before the first user message, that message, and the
// names of the tools. It holds places in the body, no text. The zero value is
// empty.
type Opening struct {
	Tools Tools

	starts, ends [openingParts]int
	kinds        [openingParts]Part
	n            int
	done         bool // the first user message is in
}

// Add adds the text body[start:end] unless it is empty; kind is PartNone until
// the role of its message is known.
func (o *Opening) Add(kind Part, start, end int) {
	if o.done || o.n == len(o.kinds) || end <= start {
		return
	}
	o.starts[o.n], o.ends[o.n], o.kinds[o.n] = start, end, kind
	o.n++
}

// Len returns the number of texts.
func (o *Opening) Len() int { return o.n }

// Settle decides about the texts that a message of the given role added since
// Len was mark.
func (o *Opening) Settle(mark int, role Part) {
	if o.done {
		return
	}
	if role != PartSystem && role != PartUser {
		o.n = mark
		return
	}
	for i := mark; i < o.n; i++ {
		o.kinds[i] = role
	}
	if o.done = role == PartUser; !o.done {
		o.n = min(o.n, systemParts)
	}
}

// Tools identifies a set of tools by their names, whatever their order.
type Tools struct {
	sum uint64 // of the hashes
	n   uint64
}

// Add adds the name of a tool, raw as it stands in the JSON text.
func (t *Tools) Add(name []byte) {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	for _, b := range name {
		hash = (hash ^ uint64(b)) * prime
	}
	t.sum += hash
	t.n++
}

// Digest writes what identifies a conversation to a hash, whose errors it
// ignores.
type Digest struct {
	w    io.Writer
	body []byte
	room [17]byte
}

// NewDigest returns a Digest of texts in body.
func NewDigest(w io.Writer, body []byte) *Digest { return &Digest{w: w, body: body} }

// Text writes the text body[start:end]: its length and the first 8 KiB.
func (d *Digest) Text(kind Part, start, end int) {
	d.room[0] = byte(kind)
	binary.LittleEndian.PutUint64(d.room[1:], uint64(end-start)) //nolint:gosec // a length
	_, _ = d.w.Write(d.room[:9])
	_, _ = d.w.Write(d.body[start:min(end, start+openingBytes)])
}

// Tools writes the tools, which end a digest.
func (d *Digest) Tools(t Tools) {
	d.room[0] = byte(PartNone)
	binary.LittleEndian.PutUint64(d.room[1:], t.sum)
	binary.LittleEndian.PutUint64(d.room[9:], t.n)
	_, _ = d.w.Write(d.room[:])
}

// Opening writes the texts and the tools of an opening.
func (d *Digest) Opening(o *Opening) {
	for i, kind := range o.kinds[:o.n] {
		d.Text(kind, o.starts[i], o.ends[i])
	}
	d.Tools(o.Tools)
}
