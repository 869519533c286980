package fake

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// exchange is one request on its way through an upstream. It belongs to the
// goroutine of its handler; only the fields named in record.go are shared, and
// they are guarded there.
type exchange struct {
	up    *upstream
	beh   *behaviour
	w     http.ResponseWriter
	r     *http.Request
	rc    *http.ResponseController
	path  string // below the upstream's prefix
	root  string // the upstream's prefix
	start time.Time
	dice  dice
	body  *bytes.Buffer

	call   *call
	fault  Fault
	def    *faultDef // nil when nothing strikes
	pace   Latency
	head   time.Duration // when the headers may go out, after start
	answer answer
	out    *rendering
	limits *limits
	kept   *keptResponse // that the call asks for
	slot   bool          // a place in the quota is held

	status  int // of a normal answer
	filters []filter
	framing framing // nil leaves the framing as it is
	chop    int     // bytes a write; 0 does not cut

	timer   *time.Timer
	wire    *wire // the raw connection, once it was taken over
	written bool  // the status line is out
	stopped bool  // the client left, or the simulation was closed
	left    bool  // it was the client

	seen    *Seen // shared, see record.go
	sent    int64
	settled bool
}

// stop notes that nothing more can be sent.
func (x *exchange) stop() bool {
	x.stopped = true
	select {
	case <-x.up.sim.closed:
	default:
		x.left = true
	}
	return false
}

// gone is closed when the client has left.
func (x *exchange) gone() <-chan struct{} {
	if x.wire != nil {
		return x.wire.gone
	}
	return x.r.Context().Done()
}

// wait lets d pass. It returns false, and stops the exchange, when the client
// leaves or the simulation is closed before.
func (x *exchange) wait(d time.Duration) bool {
	if x.stopped {
		return false
	}
	if d <= 0 {
		return true
	}
	if x.timer == nil {
		x.timer = time.NewTimer(d)
	} else {
		x.timer.Reset(d)
	}
	select {
	case <-x.timer.C:
		return true
	case <-x.gone():
	case <-x.up.sim.closed:
	}
	x.timer.Stop()
	return x.stop()
}

// waitUntil waits until d after the request came.
func (x *exchange) waitUntil(d time.Duration) bool {
	if d <= 0 {
		return x.wait(0)
	}
	return x.wait(d - time.Since(x.start))
}

// hang waits until the client leaves or the simulation is closed.
func (x *exchange) hang() {
	if x.stopped {
		return
	}
	select {
	case <-x.gone():
	case <-x.up.sim.closed:
	}
	x.stop()
}

// header fills the response headers: the maker's, the content type, then what
// the fault adds. An empty content type sets none.
func (x *exchange) header(contentType string) http.Header {
	h := x.w.Header()
	x.nameRequest()
	x.call.proto.stamp(h, x.call, stamp{elapsed: time.Since(x.start), limits: x.limits})
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	if len(x.fault.RetryAfter) > 0 && !x.call.waits {
		h["Retry-After"] = x.fault.RetryAfter
	}
	maps.Copy(h, x.fault.Headers)
	return h
}

// nameRequest gives the answer its id, once.
func (x *exchange) nameRequest() {
	if x.call.requestID == "" {
		var id [36]byte
		x.call.requestID = string(x.dice.appendHex(append(id[:0], "req_"...), 2))
	}
}

// begin sends the status line and the headers that header has filled, not
// before their time.
func (x *exchange) begin(status int) {
	if !x.waitUntil(x.head) {
		return
	}
	x.written = true
	x.note(status)
	x.w.WriteHeader(status)
}

// flush sends what net/http holds back.
func (x *exchange) flush() bool {
	if x.stopped {
		return false
	}
	if x.wire != nil {
		return true
	}
	if err := x.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return x.stop()
	}
	return true
}

// put writes bytes of the body as they are.
func (x *exchange) put(p []byte) bool {
	if x.stopped {
		return false
	}
	var n int
	var err error
	if x.wire != nil {
		n, err = x.wire.conn.Write(p)
	} else {
		n, err = x.w.Write(p)
	}
	x.sent += int64(n)
	if err != nil {
		return x.stop()
	}
	return true
}

// write writes bytes of the body through the filters, cut into as many writes
// as the fault asks for.
func (x *exchange) write(p []byte) bool {
	for _, f := range x.filters {
		p = f.add(p)
	}
	return x.pieces(p)
}

func (x *exchange) pieces(p []byte) bool {
	if x.chop == 0 {
		return x.put(p)
	}
	for len(p) > 0 {
		n := min(x.chop, len(p))
		if !x.put(p[:n]) || !x.flush() {
			return false
		}
		p = p[n:]
	}
	return true
}

// endFilters writes what the filters still hold.
func (x *exchange) endFilters() {
	for i, f := range x.filters {
		p := f.end()
		for _, outer := range x.filters[i+1:] {
			p = outer.add(p)
		}
		if !x.pieces(p) {
			return
		}
	}
}

// render puts the answer into the form that the request asks for.
func (x *exchange) render() *rendering {
	if x.out == nil {
		x.out = renderings.Get().(*rendering)
		x.out.reset()
		x.call.proto.render(x.out, x.call, &x.answer)
	}
	return x.out
}

var renderings = sync.Pool{New: func() any { return new(rendering) }}

// keptBuffer is the size above which a buffer is left to the collector.
const keptBuffer = 1 << 20

func (x *exchange) recycle() {
	if x.out != nil && cap(x.out.buf) <= keptBuffer {
		renderings.Put(x.out)
	}
	x.out = nil
	if x.body != nil && x.body.Cap() <= keptBuffer {
		x.body.Reset()
		bodies.Put(x.body)
	}
	x.body = nil
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// give answers normally.
func (x *exchange) give() {
	if x.call.pieces() {
		x.giveStream()
		return
	}
	x.giveWhole()
}

func (x *exchange) giveWhole() {
	body := x.render().buf
	if x.waitWhole() {
		x.sendWhole(x.status, x.call.answerType(), body)
		x.endFilters()
	}
}

const (
	contentJSON   = "application/json"
	contentStream = "text/event-stream; charset=utf-8"
)

// waitWhole takes the time of an answer that is not streamed.
func (x *exchange) waitWhole() bool {
	more := max(len(x.answer.reasoning)+len(x.answer.pieces)-1, 0)
	first := max(x.head, x.pace.beforeContent(&x.dice))
	return x.waitUntil(first + x.dice.jitter(time.Duration(more)*x.pace.PerToken, x.pace.Jitter))
}

// sendWhole sends headers and a whole body.
func (x *exchange) sendWhole(status int, contentType string, body []byte) {
	h := x.header(contentType)
	if len(x.filters) == 0 && x.chop == 0 && h.Get("Trailer") == "" {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	x.release()
	x.begin(status)
	if !bodiless(status) {
		x.write(body)
	}
}

// refuse answers with an error of the maker's.
func (x *exchange) refuse(e *apiError) {
	h := x.header("")
	switch {
	case x.call.waits && len(x.fault.RetryAfter) > 0:
		e.retryAfter = x.fault.RetryAfter
	case !x.call.waits && len(e.retryAfter) > 0 && len(x.fault.RetryAfter) == 0:
		h["Retry-After"] = e.retryAfter
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", x.call.jsonType())
	}
	body := x.call.proto.failure(x.call, e)
	if x.fault.Body != nil {
		body = []byte(*x.fault.Body)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.release()
	x.begin(e.status)
	x.put(body)
}

// openStream sends the headers of a stream.
func (x *exchange) openStream() bool {
	h := x.header(x.call.answerType())
	if x.call.stream {
		h.Set("Cache-Control", "no-cache")
	}
	x.begin(x.status)
	if x.pace.FirstToken > 0 {
		return x.flush()
	}
	return !x.stopped
}

func (x *exchange) giveStream() {
	out := x.render()
	if x.openStream() && x.events(0, len(out.frames)) {
		x.endFilters()
	}
}

// events sends the events from i to j-1 at the pace of the upstream. Events
// between which there is no wait go out in one write.
func (x *exchange) events(i, j int) bool {
	from, opening := i, x.out.first(frameContent)
	for ; i < j; i++ {
		if !x.out.frames[i].paced {
			continue
		}
		first := i == opening
		if first && x.pace.FirstToken <= 0 || !first && x.pace.PerToken <= 0 {
			continue
		}
		if from < i && !first { // the role comes with the first content
			if !x.burst(from, i) {
				return false
			}
			from = i
		}
		if first && !x.waitUntil(x.pace.beforeContent(&x.dice)) {
			return false
		}
		if !first && !x.wait(x.pace.between(&x.dice)) {
			return false
		}
	}
	return x.burst(from, j)
}

// burst sends the events from i to j-1 at once.
func (x *exchange) burst(i, j int) bool {
	if i >= j {
		return !x.stopped
	}
	if j == len(x.out.frames) {
		x.release()
	}
	if x.framing == nil {
		return x.write(x.out.framed(i, j)) && x.flush()
	}
	var buf []byte
	for ; i < j; i++ {
		buf = x.framing(buf, i, x.out.frames[i].name, x.out.data(i))
	}
	return x.write(buf) && x.flush()
}

// event sends one event with data of its own.
func (x *exchange) event(name string, data []byte) bool {
	return x.write(appendEvent(nil, x.call, name, data)) && x.flush()
}

// farewell sends the event that ends a stream, if there is one.
func (x *exchange) farewell() {
	name, data := x.call.proto.farewell(x.call)
	if data == "" {
		x.flush()
		return
	}
	x.event(name, []byte(data))
}
