package scan

import "bytes"

// Edit replaces body[Start:End] by Text. Start equal to End inserts, an empty
// Text removes.
type Edit struct {
	Start, End int
	Text       []byte
}

// Splice appends body to dst with the edits made and returns the longer slice.
// The edits must be sorted by Start and must not overlap; body and dst must not
// share memory. All other bytes are copied as they are.
func Splice(dst, body []byte, edits []Edit) []byte {
	from := 0
	for _, e := range edits {
		dst = append(dst, body[from:e.Start]...)
		dst = append(dst, e.Text...)
		from = e.End
	}
	return append(dst, body[from:]...)
}

// Remove appends to dst the edits that take members of one object out of body,
// each with the comma that would be left over, and returns the longer slice.
// The members must be in the order in which they stand.
func Remove(dst []Edit, body []byte, members ...Member) []Edit {
	gone := 0 // members removed so far, as long as nothing stands before them
	for _, m := range members {
		if m.Index == gone {
			gone++
			dst = append(dst, Edit{Start: m.KeyStart, End: commaAfter(body, m.End)})
			continue
		}
		dst = append(dst, Edit{Start: commaBefore(body, m.KeyStart), End: m.End})
	}
	return dst
}

// commaAfter returns the offset behind the comma that follows i, or i if the
// object ends there.
func commaAfter(body []byte, i int) int {
	c := Cursor{data: body}
	if j := c.space(i); j < len(body) && body[j] == ',' {
		return j + 1
	}
	return i
}

// commaBefore returns the offset of the comma that precedes i.
func commaBefore(body []byte, i int) int {
	return bytes.LastIndexByte(body[:i], ',')
}
