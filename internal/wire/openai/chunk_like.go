package openai

import (
	"bytes"

	"gatewright/internal/wire/scan"
)

// likeness is a chunk that told nothing but text, cut at that text. Nearly every
// chunk of a stream differs from the one before in its text alone. Of such a
// chunk only the text is looked at: what stands around it has been walked over,
// and means now what it meant then.
type likeness struct {
	before, after []byte // up to the opening quote of the text, from the closing one on

	// What the client got for them.
	outBefore, outAfter []byte

	tries int // chunks that were learnt since one was alike
}

const (
	// maxLikeness bounds, in bytes, what is kept of a chunk beside its text.
	maxLikeness = 1 << 10
	// maxTries is after how many chunks a stream is given up: some services put
	// something new into each.
	maxTries = 8
)

// append appends what the client is to get for data, if that is a chunk alike.
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
	return append(append(append(dst, l.outBefore...), text...), l.outAfter...), true
}

// learn takes a chunk that was walked over, whose only text stands between its
// quotes at the span, and what the client gets for it.
func (l *likeness) learn(data, out []byte, edits []scan.Edit, text span) {
	if l.tries == maxTries || len(data)-(text.end-text.start) > maxLikeness {
		return
	}
	l.tries++
	moved := 0
	for _, e := range edits {
		if e.End <= text.start {
			moved += len(e.Text) - (e.End - e.Start)
		}
	}
	before, after := text.start+1, text.end-1
	l.before = append(l.before[:0], data[:before]...)
	l.after = append(l.after[:0], data[after:]...)
	l.outBefore = append(l.outBefore[:0], out[:before+moved]...)
	l.outAfter = append(l.outAfter[:0], out[after+moved:]...)
}
