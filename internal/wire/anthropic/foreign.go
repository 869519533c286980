package anthropic

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// Foreign is what stands in the place of a signature in a thinking block that
// another maker's model wrote. Anthropic's service would refuse such a block, so
// [Request.Rewrite] takes it out.
type Foreign = request.Foreign

// ParseForeign reads a signature, false if it is no foreign one.
func ParseForeign(signature string) (Foreign, bool) { return request.ParseForeign(signature) }

// onlyBlock is the content of a message that had nothing but foreign thoughts:
// the service refuses one that has nothing.
var onlyBlock = []byte(`{"type":"text","text":"(nothing)"}`)

// removal collects the edits that take foreign blocks out of one content.
type removal struct {
	gone int // blocks removed so far, as long as none that stays stands before them
	cuts int
	all  int
}

// note takes note of block i, body[start:end].
func (m *removal) note(r *Request, i, start, end int, foreign bool) {
	m.all++
	if !foreign {
		return
	}
	m.cuts++
	cut := scan.Member{Index: i, KeyStart: start, End: end}
	if i == m.gone {
		cut.Index = 0
		m.gone++
	}
	r.foreign = scan.Remove(r.foreign, r.body, cut)
}

// close ends the content, whose bracket opens before open.
func (m *removal) close(r *Request, open int) {
	if m.cuts == 0 || m.cuts < m.all {
		return
	}
	edits := len(r.foreign) - m.cuts
	r.foreign = append(r.foreign, scan.Edit{})
	copy(r.foreign[edits+1:], r.foreign[edits:])
	r.foreign[edits] = scan.Edit{Start: open, End: open, Text: onlyBlock}
}
