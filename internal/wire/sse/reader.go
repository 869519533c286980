package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// firstBuffer is the size in bytes of a reader's first buffer: several
	// ordinary events of a chat stream.
	firstBuffer = 4 << 10
	// lineRoom is what the line at hand may have beyond the limit of an event:
	// the name of the field, the colon, the space.
	lineRoom = 16
	// maxEmptyReads is how many reads in a row may return nothing.
	maxEmptyReads = 100
)

// TooLargeError says that one event was larger than its reader allows. The
// rest of the stream cannot be read.
type TooLargeError struct {
	Limit int // bytes
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("event is larger than %d bytes", e.Limit)
}

// Event is one block of a stream: what stands between two blank lines. Its
// slices are valid until the next call of [Reader.Next].
type Event struct {
	// Name is the value of the last "event" field, empty if there was none.
	Name []byte
	// ID is the value of the last "id" field, empty if there was none.
	ID []byte
	// Data holds the "data" lines, joined with LF.
	Data []byte
	// HasData tells an event whose data is empty from one without any data
	// line. A browser would not deliver the latter.
	HasData bool
	// Comment is true for a block that holds comments only.
	Comment bool
}

// Reader splits a server-sent event stream into events. It reads ahead, never
// waits for more bytes than the end of an event needs, and allocates nothing
// for an event once its buffer has grown to the size of the stream's events.
// It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	max int
	err error // of src, or a *TooLargeError; final

	buf      []byte
	pos, end int // buf[pos:end] was read and is not yet consumed
	scanned  int // buf[pos:scanned] holds no CR and no LF
	lf       int // buf[pos:lf] holds no LF; if lf < end then buf[lf] is one

	begun  bool // the place of a byte order mark is past
	skipLF bool // the last line ended in CR: an LF that follows belongs to it

	// The event that is being put together. Its data is buf[dataPos:dataEnd];
	// data lines after the first are moved down to close the gap between them.
	dataPos, dataEnd int
	name, id         []byte
	hasData          bool
	hasField         bool
	hasComment       bool
}

// NewReader returns a Reader on r. maxEvent bounds, in bytes, what is kept of
// one event and so the memory of the reader: the data read so far, the name,
// the id and the line at hand. Comments that were read to their end count no
// longer.
func NewReader(r io.Reader, maxEvent int) *Reader {
	maxEvent = max(maxEvent, 1)
	return &Reader{src: r, max: maxEvent, buf: make([]byte, min(firstBuffer, maxEvent+lineRoom))}
}

// Next returns the next event. The error is io.EOF at a clean end of the
// stream, *TooLargeError when an event exceeds the limit, and whatever the
// underlying reader returned otherwise. When the body ends without an error
// inside an event that no blank line closed, Next returns io.ErrUnexpectedEOF
// together with what was read of the event, so that a lenient caller may use
// it; with every other error the event is empty. After an error every call
// returns that error.
func (r *Reader) Next() (Event, error) {
	r.name, r.id = r.name[:0], r.id[:0]
	r.hasData, r.hasField, r.hasComment = false, false, false
	for {
		start, stop, ok := r.line()
		switch {
		case ok && start < stop:
			r.field(start, stop)
		case ok && (r.hasField || r.hasComment):
			return r.event(), nil
		case !ok && r.err == nil:
			r.fill()
		case !ok:
			return r.last()
		}
	}
}

// last handles the end of the stream, with or without an error.
func (r *Reader) last() (Event, error) {
	if !errors.Is(r.err, io.EOF) {
		return Event{}, r.err
	}
	if r.pos < r.end {
		start := r.pos
		r.pos = r.end
		r.field(start, r.end)
	}
	switch {
	case !errors.Is(r.err, io.EOF): // the last line made the event too large
		return Event{}, r.err
	case !r.hasField:
		return Event{}, io.EOF
	default:
		r.err = io.ErrUnexpectedEOF
		return r.event(), r.err
	}
}

func (r *Reader) event() Event {
	ev := Event{Name: r.name, ID: r.id, HasData: r.hasData, Comment: r.hasComment && !r.hasField}
	if r.hasData {
		ev.Data = r.buf[r.dataPos:r.dataEnd:r.dataEnd]
	}
	return ev
}

// line consumes one line and returns where it lies in the buffer, without its
// end. ok is false when the buffer holds no whole line.
func (r *Reader) line() (start, stop int, ok bool) {
	if !r.begun && !r.mark() {
		return 0, 0, false
	}
	if r.skipLF && r.pos < r.end {
		r.skipLF = false
		if r.buf[r.pos] == '\n' {
			r.pos++
		}
	}
	r.scanned, r.lf = max(r.scanned, r.pos), max(r.lf, r.pos)
	if r.lf >= r.end || r.buf[r.lf] != '\n' {
		if i := bytes.IndexByte(r.buf[r.lf:r.end], '\n'); i >= 0 {
			r.lf += i
		} else {
			r.lf = r.end
		}
	}
	stop = r.lf
	if i := bytes.IndexByte(r.buf[r.scanned:stop], '\r'); i >= 0 {
		stop = r.scanned + i
		r.skipLF = true
	}
	r.scanned = stop
	if stop == r.end {
		return 0, 0, false
	}
	start, r.pos = r.pos, stop+1
	return start, stop, true
}

// mark skips a byte order mark at the very beginning. It reports false while
// too few bytes are there to tell.
func (r *Reader) mark() bool {
	const bom = "\xef\xbb\xbf"
	head := string(r.buf[r.pos:min(r.pos+len(bom), r.end)])
	if len(head) < len(bom) && r.err == nil && bom[:len(head)] == head {
		return false
	}
	if head == bom {
		r.pos += len(bom)
	}
	r.begun = true
	return true
}

// field takes one line, buf[start:stop], into the event.
func (r *Reader) field(start, stop int) {
	line := r.buf[start:stop]
	colon := bytes.IndexByte(line, ':')
	if colon == 0 {
		r.hasComment = true
		return
	}
	name, value := line, stop
	if colon > 0 {
		name, value = line[:colon], start+colon+1
		if value < stop && r.buf[value] == ' ' {
			value++
		}
	}
	r.hasField = true
	switch string(name) {
	case "data":
		r.addData(value, stop)
	case "event":
		r.name = append(r.name[:0], r.buf[value:stop]...)
	case "id":
		if bytes.IndexByte(r.buf[value:stop], 0) < 0 {
			r.id = append(r.id[:0], r.buf[value:stop]...)
		}
	}
	size := len(r.name) + len(r.id)
	if r.hasData {
		size += r.dataEnd - r.dataPos
	}
	if size > r.max {
		r.tooLarge()
	}
}

// addData adds the data line buf[start:stop], which lies behind the data so
// far: the name of its field leaves room for the LF that joins the two.
func (r *Reader) addData(start, stop int) {
	if !r.hasData {
		r.hasData, r.dataPos, r.dataEnd = true, start, stop
		return
	}
	r.buf[r.dataEnd] = '\n'
	r.dataEnd += 1 + copy(r.buf[r.dataEnd+1:], r.buf[start:stop])
}

// tooLarge ends the stream; nothing that is still in the buffer is read.
func (r *Reader) tooLarge() {
	r.err = &TooLargeError{Limit: r.max}
	r.pos = r.end
}

// fill reads once, after it has made room: bytes that are no longer needed are
// dropped, and the buffer grows only when that leaves no room.
func (r *Reader) fill() {
	r.compact()
	if limit := r.max + lineRoom; r.end == len(r.buf) {
		if r.end >= limit {
			r.tooLarge()
			return
		}
		bigger := make([]byte, min(2*len(r.buf), limit))
		copy(bigger, r.buf[:r.end])
		r.buf = bigger
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// compact moves the event's data to the front of the buffer and the bytes that
// are not yet consumed behind it.
func (r *Reader) compact() {
	keep := 0
	if r.hasData {
		keep = r.dataEnd - r.dataPos
		if r.dataPos > 0 {
			copy(r.buf, r.buf[r.dataPos:r.dataEnd])
			r.dataPos, r.dataEnd = 0, keep
		}
	}
	shift := r.pos - keep
	if shift == 0 {
		return
	}
	copy(r.buf[keep:], r.buf[r.pos:r.end])
	r.pos, r.end, r.scanned, r.lf = keep, r.end-shift, r.scanned-shift, r.lf-shift
}
