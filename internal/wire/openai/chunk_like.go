package openai

import (
	"bytes"
	"slices"

	"gatewright/internal/wire/scan"
)

// likeness is a chunk that told nothing but text, cut at that text. Nearly every
// chunk of a stream differs from the one before in its text alone. Of such a
// chunk only the text is looked at: what stands around it has been walked over,
// and means now what it meant then.
type likeness struct {
	before, after []byte // up to the opening quote of the text, from the closing one on

	// What the client got for them: nothing else if same is set.
	outBefore, outAfter []byte
	same                bool

	room  []byte // holds all of them
	tries int    // chunks that were learnt since one was alike
}

const (
	// maxLikeness bounds, in bytes, what is kept of a chunk beside its text.
	maxLikeness = 1 << 10
	// maxTries is after how many chunks a stream is given up: some services put
	// something new into each.
	maxTries = 8
)

// append appends what the client is to get for data, if that is a chunk alike. It
// holds no line break.
func (l *likeness) append(dst, data []byte) (out []byte, alike bool) {
	if len(l.before) == 0 || !bytes.HasPrefix(data, l.before) {
		return dst, false
	}
	from, to := len(l.before), len(data)-len(l.after)
	if from >= to || !bytes.HasSuffix(data, l.after) {
		return dst, false
	}
	c := scan.NewCursor(data[from-1:to+1], 0)
	text, _, ok := c.Text()
	if !ok || len(text) != to-from {
		return dst, false
	}
	l.tries = 0
	if l.same {
		return append(dst, data...), true
	}
	return append(append(append(dst, l.outBefore...), text...), l.outAfter...), true
}

// learn takes a chunk that was walked over, whose only text stands between its
// quotes at the span, and what the client gets for it.
func (l *likeness) learn(data, out []byte, edits []scan.Edit, text span) {
	if l.tries == maxTries || len(data)-(text.end-text.start) > maxLikeness || bytes.ContainsAny(out, "\r\n") {
		return
	}
	l.tries++
	moved := 0
	for _, e := range edits {
		if e.End <= text.start {
			moved += len(e.Text) - (e.End - e.Start)
		}
	}
	l.room = slices.Grow(l.room[:0], len(data)+len(out)) // so that nothing moves
	keep := func(part []byte) []byte {
		from := len(l.room)
		l.room = append(l.room, part...)
		return l.room[from:]
	}
	before, after := text.start+1, text.end-1
	l.before, l.after = keep(data[:before]), keep(data[after:])
	if l.same = bytes.Equal(data, out); !l.same {
		l.outBefore, l.outAfter = keep(out[:before+moved]), keep(out[after+moved:])
	}
}
