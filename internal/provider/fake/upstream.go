package fake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
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
		x.call = &call{proto: protocols[0]}
	}
	switch err := x.readBody(); {
	case errors.Is(err, errTooLong):
		return &apiError{
			status: http.StatusRequestEntityTooLarge, typ: "invalid_request_error",
			message: fmt.Sprintf("The request body is longer than %d bytes.", x.up.sim.opts.MaxBody),
		}
	case err != nil:
		x.stop()
		return nil
	case !routed:
		return &apiError{
			status: http.StatusNotFound, typ: "invalid_request_error",
			message: fmt.Sprintf("Invalid URL (%s %s)", x.r.Method, x.r.URL.Path),
		}
	}
	if e := x.checkKey(); e != nil {
		return e
	}
	if x.r.Method != x.call.method {
		return &apiError{
			status: http.StatusMethodNotAllowed, typ: "invalid_request_error", allow: x.call.method,
			message: fmt.Sprintf("Not allowed to %s on %s; use %s.", x.r.Method, x.path, x.call.method),
		}
	}
	if x.call.missing != nil {
		return x.call.missing
	}
	if e := x.call.proto.decode(x.call, x.body.Bytes()); e != nil {
		return e
	}
	if x.call.model != "" && !x.beh.serves(x.call.model) {
		return x.unknownModel()
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
	if want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(x.call.key)) == 1 {
		return nil
	}
	e := &apiError{status: http.StatusUnauthorized, typ: "invalid_request_error", code: "invalid_api_key"}
	e.message = "Incorrect API key provided."
	if x.call.key == "" {
		e.code = ""
		e.message = "No API key provided. Send it in the Authorization header, as Bearer YOUR_KEY."
	}
	return e
}

// unknownModel refuses a model. The Responses endpoints do so with another status.
func (x *exchange) unknownModel() *apiError {
	e := errorModel(x.call.model)
	if x.call.responses.render != nil {
		e.status, e.param = http.StatusBadRequest, "model"
	}
	return e
}

func errorModel(model string) *apiError {
	return &apiError{
		status: http.StatusNotFound, typ: "invalid_request_error", code: "model_not_found",
		message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model),
	}
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
	return l.refusal(x.call.model)
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
