package fake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// upstream is one simulated provider.
type upstream struct {
	sim  *Upstreams
	name string
	salt uint64
	beh  atomic.Pointer[behaviour]

	memory memory // of responses; has a lock of its own

	mu        sync.Mutex // guards the rest, each exchange's wire, seen and settled
	given     *Behaviour // what beh was prepared from
	calls     int
	open      int
	cancelled int
	faults    map[string]int
	statuses  map[int]int
	ring      []*Seen // the newest requests; the oldest stands at oldest
	oldest    int
	active    map[*exchange]struct{}
	shutDown  bool
}

// serve answers one request. prefix is what was cut off before path.
func (up *upstream) serve(w http.ResponseWriter, r *http.Request, prefix, path string) {
	x := &exchange{
		up: up, w: w, r: r, rc: http.NewResponseController(w),
		root: prefix, path: path, start: time.Now(), status: http.StatusOK,
	}
	if !up.begin(x) {
		w.Header().Set("Connection", "close")
		writeError(w, http.StatusServiceUnavailable, "the simulation is closed")
		return
	}
	defer up.end(x)
	defer x.recycle()
	defer x.log(r.Context())
	defer func() {
		x.release()
		x.settle()
		if x.wire != nil {
			x.wire.close()
		}
	}()
	x.run()
	if x.stopped && x.wire == nil {
		x.abandon() // a clean return would give a broken answer a clean end
	}
}

// run is the way of a request: admission, then the fault, then the answer.
func (x *exchange) run() {
	x.pace = x.beh.pace
	x.head = x.pace.beforeHeaders(&x.dice)
	refused := x.admit()
	if x.stopped {
		return
	}
	if refused != nil {
		x.noteCall()
		x.refuse(refused)
		return
	}
	if f := x.beh.choose(x.call, &x.dice); f != nil {
		x.fault, x.def = f.Fault, f.def
	}
	x.noteCall()
	x.answer.created = x.start.Unix()
	x.answer.models = x.beh.models
	x.beh.answer.compose(&x.answer, x.call, &x.dice)
	x.remember()
	if x.def != nil && x.def.tune != nil {
		x.def.tune(x)
	}
	if x.def != nil && x.def.play != nil {
		x.def.play(x)
		return
	}
	x.give()
}

// admit reads a request and decides whether the upstream takes it.
func (x *exchange) admit() *apiError {
	routed := false
	for _, p := range protocols {
		if c, ok := p.route(x.r, x.path); ok {
			x.call, routed = c, true
			break
		}
	}
	if !routed {
		x.call = &call{proto: protocolOf(x.r)}
	}
	switch err := x.readBody(); {
	case errors.Is(err, errTooLong):
		return x.words(sayTooLarge)
	case err != nil:
		x.stop()
		return nil
	case !routed:
		return x.words(sayNoPath)
	}
	if e := x.checkKey(); e != nil {
		return e
	}
	if x.r.Method != x.call.method {
		e := x.words(sayMethod)
		e.allow = x.call.method
		return e
	}
	if x.call.missing != nil {
		return x.call.missing
	}
	x.call.reasons = x.beh.answer.Reasoning != ""
	if e := x.call.proto.decode(x.call, x.body.Bytes()); e != nil {
		return e
	}
	if x.call.model != "" && !x.beh.serves(x.call.model) {
		return x.words(sayUnknown)
	}
	if e := x.recall(); e != nil {
		return e
	}
	return x.checkQuota()
}

var errTooLong = errors.New("request body too long")

// readBody reads and records the whole body.
func (x *exchange) readBody() error {
	x.body = bodies.Get().(*bytes.Buffer)
	x.body.Reset()
	limit := x.up.sim.opts.MaxBody
	n, err := x.body.ReadFrom(io.LimitReader(x.r.Body, limit+1))
	if err != nil {
		return err
	}
	x.noteBody(sha256.Sum256(x.body.Bytes()), x.body.Bytes())
	if n > limit {
		return errTooLong
	}
	return nil
}

func (x *exchange) checkKey() *apiError {
	want := x.beh.key
	switch {
	case want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(x.call.key)) == 1:
		return nil
	case x.call.key == "":
		return x.words(sayNoKey)
	}
	return x.words("invalid-key")
}

// checkQuota takes what the request needs from the quota. Lists of models are
// free.
func (x *exchange) checkQuota() *apiError {
	q := x.beh.quota
	if q == nil || x.call.endpoint == EndpointModels {
		return nil
	}
	l := q.take(x.start, x.call.promptTokens+x.beh.answer.expected(x.call))
	x.limits, x.slot = &l, l.admitted
	if l.admitted {
		return nil
	}
	e := x.call.proto.exceeded(x.call, &l)
	if wait := l.wait(); wait != "" {
		e.retryAfter = []string{wait}
	}
	return &e
}

// release gives the place in the quota back. It comes before the last bytes of
// an answer: a client that has read them may ask again.
func (x *exchange) release() {
	if x.slot {
		x.slot = false
		x.beh.quota.release()
	}
}

// log writes one line for the request.
func (x *exchange) log(ctx context.Context) {
	l := x.up.sim.opts.Logger
	if l == nil {
		return
	}
	x.up.mu.Lock()
	s := *x.seen
	x.up.mu.Unlock()
	l.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("upstream", x.up.name), slog.Int("call", s.Call),
		slog.String("method", s.Method), slog.String("path", s.Path),
		slog.String("model", s.Model), slog.Bool("stream", s.Stream),
		slog.Int("status", s.Status), slog.String("fault", s.Fault),
		slog.Bool("cancelled", s.Cancelled), slog.Int64("bytes", x.sent),
		slog.Duration("duration", s.Ended.Sub(s.Time)))
}
