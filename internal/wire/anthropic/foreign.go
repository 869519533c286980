package anthropic

import (
	"bytes"
	"net/url"
	"strings"

	"gatewright/internal/wire/scan"
)

// Foreign is what stands in the place of a signature in a thinking block that
// another maker's model wrote. Clients send such a block back as they do with
// any other; Anthropic's service would refuse it, so [Request.Rewrite] takes it
// out, and a translation that goes to the right maker finds the maker's own
// signature in it.
type Foreign struct {
	Origin string // the maker, empty if it signs nothing
	ID     string // the maker's id of the thought, empty if it has none
	Data   string // the maker's signature, empty if it has none
	// Before says that the signature is that of the block before this one, which
	// is no thought.
	Before bool
}

const foreignMark = "gatewright:"

// String returns the signature.
func (f Foreign) String() string {
	place := ""
	if f.Before {
		place = "before"
	}
	return foreignMark + f.Origin + ":" + place + ":" + url.QueryEscape(f.ID) + ":" + f.Data
}

// ParseForeign reads a signature, false if it is no foreign one.
func ParseForeign(signature string) (Foreign, bool) {
	const fields = 4
	rest, ok := strings.CutPrefix(signature, foreignMark)
	parts := strings.SplitN(rest, ":", fields)
	if !ok || len(parts) < fields {
		return Foreign{}, false
	}
	id, err := url.QueryUnescape(parts[2])
	if err != nil {
		return Foreign{}, false
	}
	return Foreign{Origin: parts[0], Before: parts[1] == "before", ID: id, Data: parts[3]}, true
}

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

func isForeign(raw []byte) bool { return bytes.HasPrefix(raw, []byte(foreignMark)) }
