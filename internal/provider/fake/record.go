package fake

import (
	"encoding/hex"
	"net/http"
	"slices"
	"time"
)

// Seen is one request as an upstream saw it, and what became of it.
type Seen struct {
	// Call is its number, from 1, in order of arrival.
	Call int
	// Time is when it arrived, and Ended when its answer was over; zero
	// while it is being answered.
	Time, Ended time.Time
	// Method, Path (below the upstream's prefix), Query and Header are as
	// sent.
	Method, Path, Query string
	Header              http.Header
	// BodySHA256 is the digest, in hexadecimal, of the whole body, and Body
	// its beginning, at most [Options.KeepBody] bytes. Size is its length.
	BodySHA256 string
	Body       []byte
	Size       int64
	// Model and Stream are what the body asked for, when it could be read.
	Model  string
	Stream bool
	// Fault is the name of the fault that struck; empty for none.
	Fault string
	// Status is what was answered; 0 when no status line was sent.
	Status int
	// Cancelled says that the client left before the answer was over.
	Cancelled bool
	// Finished says that everything that was meant to be sent was sent. It is
	// set, with Ended, when the handler returns, which can be a moment after
	// the client has read the last byte.
	Finished bool
}

// begin enters a request into the record; false when the simulation is closed.
func (up *upstream) begin(x *exchange) bool {
	up.mu.Lock()
	defer up.mu.Unlock()
	if up.shutDown {
		return false
	}
	up.sim.serving.Add(1)
	up.calls++
	x.beh = up.beh.Load()
	x.dice = newDice(up.sim.seed, up.salt, uint64(up.calls)) //nolint:gosec // a count is not negative
	x.seen = &Seen{
		Call: up.calls, Time: x.start,
		Method: x.r.Method, Path: x.path, Query: x.r.URL.RawQuery, Header: x.r.Header,
	}
	if len(up.ring) < up.sim.opts.Keep {
		up.ring = append(up.ring, x.seen)
	} else {
		up.ring[up.oldest] = x.seen
		up.oldest = (up.oldest + 1) % len(up.ring)
	}
	up.active[x] = struct{}{}
	up.open++
	return true
}

// noteBody records the body of a request.
func (x *exchange) noteBody(digest [32]byte, body []byte) {
	var text [64]byte
	hex.Encode(text[:], digest[:])
	kept := slices.Clone(body[:min(len(body), x.up.sim.opts.KeepBody)])
	x.up.mu.Lock()
	defer x.up.mu.Unlock()
	x.seen.BodySHA256 = string(text[:])
	x.seen.Body, x.seen.Size = kept, int64(len(body))
}

// noteCall records what a request asks for, and the fault that strikes it.
func (x *exchange) noteCall() {
	x.up.mu.Lock()
	defer x.up.mu.Unlock()
	x.seen.Model, x.seen.Stream = x.call.model, x.call.stream
	if x.def != nil {
		x.seen.Fault = x.def.Name
		x.up.faults[x.def.Name]++
	}
}

// note records the status line of an answer.
func (x *exchange) note(status int) {
	x.up.mu.Lock()
	defer x.up.mu.Unlock()
	x.seen.Status = status
	x.up.statuses[status]++
}

// settle records how the answer ended; only the first call counts.
func (x *exchange) settle() {
	x.up.mu.Lock()
	defer x.up.mu.Unlock()
	if x.settled {
		return
	}
	x.settled = true
	x.seen.Ended = time.Now()
	x.seen.Cancelled = x.stopped && x.left
	x.seen.Finished = !x.stopped
	if x.seen.Cancelled {
		x.up.cancelled++
	}
	x.up.open--
}

// end takes a request out of the record's list of those that run.
func (up *upstream) end(x *exchange) {
	x.settle()
	up.mu.Lock()
	delete(up.active, x)
	up.mu.Unlock()
	up.sim.serving.Done()
}

func (up *upstream) count() int {
	up.mu.Lock()
	defer up.mu.Unlock()
	return up.calls
}

func (up *upstream) inFlight() int {
	up.mu.Lock()
	defer up.mu.Unlock()
	return up.open
}

func (up *upstream) requests() []Seen {
	up.mu.Lock()
	defer up.mu.Unlock()
	out := make([]Seen, 0, len(up.ring))
	for i := range up.ring {
		s := *up.ring[(up.oldest+i)%len(up.ring)]
		s.Header = s.Header.Clone()
		out = append(out, s)
	}
	return out
}

// set puts a behaviour in the place of the one before.
func (up *upstream) set(b *Behaviour) {
	ready := prepare(up.name, b)
	up.mu.Lock()
	defer up.mu.Unlock()
	up.given = b
	up.beh.Store(ready)
}

func (up *upstream) reset() {
	up.mu.Lock()
	defer up.mu.Unlock()
	up.calls, up.cancelled = 0, 0
	up.memory.clear()
	up.ring, up.oldest = nil, 0
	clear(up.faults)
	clear(up.statuses)
	up.beh.Store(prepare(up.name, up.given))
}

// shut makes begin refuse.
func (up *upstream) shut() {
	up.mu.Lock()
	up.shutDown = true
	up.mu.Unlock()
}

// interrupt unblocks the handlers that wait for a client to send or to take
// bytes.
func (up *upstream) interrupt() {
	up.mu.Lock()
	defer up.mu.Unlock()
	for x := range up.active {
		if x.wire != nil {
			x.wire.interrupt()
			continue
		}
		// A writer without deadlines (a recorder, say) cannot block.
		_ = x.rc.SetReadDeadline(longAgo)
		_ = x.rc.SetWriteDeadline(longAgo)
	}
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)
