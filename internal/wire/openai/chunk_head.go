package openai

import (
	"bytes"

	"gatewright/internal/wire/scan"
)

// head is what stands in a chunk before its choices, and what a walk has made of
// it. Nearly all chunks of a stream begin with the same bytes, longer than what
// they say: the walk over them is done once.
type head struct {
	text    []byte      // up to the choices; empty = none is known
	cursor  scan.Cursor // at its end, where the choices are due
	edits   []scan.Edit
	open    int
	named   bool
	members int
}

// maxHead bounds the head that is kept.
const maxHead = 1 << 10

// remember keeps the head that the cursor has walked over, unless it tells
// something, or nothing has been seen of this chunk that was not in the head.
func (c *chunkScan) remember(known bool) {
	h := &c.s.head
	if known || c.usage.Known || c.unused || c.payload || c.fault || c.words || len(c.s.pieces) > 0 || c.Pos() > maxHead {
		return
	}
	h.text = append(h.text[:0], c.body[:c.Pos()]...)
	h.cursor = c.On(h.text)
	h.edits = append(h.edits[:0], c.edits...)
	h.open, h.named, h.members = c.open, c.named, c.members
}

// resume goes to the choices at once if the chunk begins with the head that is
// known.
func (c *chunkScan) resume() bool {
	h := &c.s.head
	if len(h.text) == 0 || !bytes.HasPrefix(c.body, h.text) {
		return false
	}
	c.Cursor = h.cursor.On(c.body)
	c.edits = append(c.edits, h.edits...)
	c.open, c.named, c.members = h.open, h.named, h.members
	return true
}
