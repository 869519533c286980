package fake

// frameKind says what an event of a stream is for.
type frameKind int

const (
	framePrelude frameKind = iota // before the role: no choices
	frameRole
	frameContent // text, reasoning, refusal or a piece of a tool call
	frameFinish
	frameUsage
	frameDone
)

// frame is one event of a stream: the bounds of its data in a rendering.
type frame struct {
	kind frameKind
	name string
	// paced is set where the next piece of content begins.
	paced bool
	// from is where the framing begins.
	from, lo, hi int
}

// The framing that a rendering holds around the data of each event.
const (
	frameName   = "event: "
	framePrefix = "data: "
)

// appendEvent appends an event as it goes on the wire.
func appendEvent(dst []byte, c *call, name string, data []byte) []byte {
	out := rendering{buf: dst, crlf: c.crlf}
	out.beginNamed(frameContent, false, name)
	out.buf = append(out.buf, data...)
	out.end()
	return out.buf
}

// rendering is an answer in a wire format. Of a stream, buf holds the events
// one after the other, framed.
type rendering struct {
	buf    []byte
	frames []frame
	// bare is set when the frames are pieces of one body and no events; crlf ends
	// lines with CR LF.
	bare, crlf bool
	// The list of answers in a body that is not streamed: where its key
	// begins, and where its value does and ends.
	key, lo, hi int
}

func (o *rendering) reset() {
	o.buf, o.frames = o.buf[:0], o.frames[:0]
	o.key, o.lo, o.hi, o.bare, o.crlf = 0, 0, 0, false, false
}

// newline appends the end of a line of the framing.
func (o *rendering) newline() {
	if o.crlf {
		o.buf = append(o.buf, '\r')
	}
	o.buf = append(o.buf, '\n')
}

// begin opens the data of a new event.
func (o *rendering) begin(kind frameKind, paced bool) { o.beginNamed(kind, paced, "") }

// beginNamed opens the data of a new event that has a name, unless that is
// empty.
func (o *rendering) beginNamed(kind frameKind, paced bool, name string) {
	from := len(o.buf)
	if name != "" {
		o.buf = append(append(o.buf, frameName...), name...)
		o.newline()
	}
	if !o.bare {
		o.buf = append(o.buf, framePrefix...)
	}
	o.frames = append(o.frames, frame{kind: kind, name: name, paced: paced, from: from, lo: len(o.buf)})
}

// end closes the event that begin opened.
func (o *rendering) end() {
	o.frames[len(o.frames)-1].hi = len(o.buf)
	if !o.bare {
		o.newline()
		o.newline()
	}
}

// data is the payload of one event.
func (o *rendering) data(i int) []byte { return o.buf[o.frames[i].lo:o.frames[i].hi] }

// framed holds the events from i to j-1 as they go on the wire.
func (o *rendering) framed(i, j int) []byte {
	if i >= j {
		return nil
	}
	end := len(o.buf)
	if j < len(o.frames) {
		end = o.frames[j].from
	}
	return o.buf[o.frames[i].from:end]
}

// first returns the index of the first event of a kind or later kind.
func (o *rendering) first(kind frameKind) int {
	for i := range o.frames {
		if o.frames[i].kind >= kind {
			return i
		}
	}
	return len(o.frames)
}

// upTo returns the index of the event that follows the first n content events;
// when there are fewer, of the one that follows them all.
func (o *rendering) upTo(n int) int {
	i := o.first(frameContent)
	for ; n > 0 && i < len(o.frames) && o.frames[i].kind == frameContent; i++ {
		n--
	}
	return i
}
