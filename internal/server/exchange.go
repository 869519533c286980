package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"gatewright/engine"
)

// Exchange is one request of a client and the way to answer it. It is used by
// one goroutine and dead once the handler has returned.
type Exchange struct {
	Request  *http.Request
	Snapshot *engine.Snapshot // held open until the handler returns
	Caller   *engine.Caller
	ID       string // of the request, of its decision, and in X-Request-Id
	Began    time.Time

	server   *Server
	protocol Protocol
	traits   Traits // of protocol
	writer   http.ResponseWriter
	control  http.ResponseController
	limits   engine.Limits
	body     *[]byte   // borrowed from the server's pool
	id       [1]string // ID as the values of a header
	armed    time.Time // when the first deadline of the body was set
	sink     sink
	counted  bool             // in server.running
	reached  bool             // the engine, so there is a decision and its log line
	decision *engine.Decision // once the engine is done
}

// handler makes a room's handler one of net/http. An open handler needs no
// caller and gets no snapshot.
func (s *Server) handler(p Protocol, handle func(*Exchange) error, open bool) http.HandlerFunc {
	traits := p.Traits()
	return func(w http.ResponseWriter, r *http.Request) {
		x := &Exchange{
			Request: r, ID: s.ids(), Began: s.clock(),
			server: s, protocol: p, traits: traits, writer: w, control: *http.NewResponseController(w),
		}
		x.sink.x = x
		ctx := r.Context()
		defer x.end(ctx)
		x.id[0] = x.ID
		h := w.Header()
		h[headerRequestID] = x.id[:]
		if traits.IDHeader != "" {
			h[traits.IDHeader] = x.id[:]
		}
		if err := x.run(handle, open); err != nil {
			x.fail(ctx, err)
		}
	}
}

// run admits the request and hands it to its handler.
func (x *Exchange) run(handle func(*Exchange) error, open bool) error {
	s := x.server
	running := s.running.Add(1)
	x.counted = true
	if x.Request.Body != http.NoBody {
		// Also for a body that nobody reads: net/http discards what is left.
		x.armed = time.Now()
		x.readDeadline(x.armed.Add(s.timeouts.Body))
	}
	if open {
		return handle(x)
	}
	x.Snapshot = s.engine.Acquire()
	x.limits = limits(x.Snapshot)
	caller, e := authenticate(x.Snapshot.Callers, x.Request, x.traits.KeyHeader)
	if e != nil {
		return e
	}
	x.Caller = caller
	if running > x.limits.Concurrent {
		e := newError(CodeOverloaded, fmt.Sprintf("%d requests are running, which is the limit: send it again in a moment", x.limits.Concurrent))
		e.retryAfter = "1"
		return e
	}
	return handle(x)
}

// end gives back what the exchange holds and turns a panic into an error.
func (x *Exchange) end(ctx context.Context) {
	fault := recover()
	cause, _ := fault.(error)
	abort := errors.Is(cause, http.ErrAbortHandler)
	if fault != nil && !abort {
		// The body may still be in use somewhere: it does not go back.
		x.body = nil
		x.panicked(ctx, fault)
	}
	x.sink.end()
	x.releaseBody()
	if x.Snapshot != nil {
		x.Snapshot.Release()
	}
	if x.counted {
		x.server.running.Add(-1)
	}
	if abort || (fault != nil && x.sink.broken()) {
		panic(http.ErrAbortHandler) // net/http breaks the connection off and logs nothing
	}
}

// panicked reports a panic once and answers internal_error if it still can.
func (x *Exchange) panicked(ctx context.Context, fault any) {
	attrs := []slog.Attr{
		slog.String("id", x.ID),
		slog.String("path", clip(x.Request.URL.Path, maxLogged)),
		slog.String("fault", clip(fmt.Sprint(fault), maxLogged)),
	}
	if _, ok := x.server.faults.allow(); ok {
		attrs = append(attrs, slog.String("stack", clip(string(debug.Stack()), maxStack)))
	}
	x.server.logger.LogAttrs(ctx, slog.LevelError, "handler panicked", attrs...)
	x.tell(internalError())
}

// NewRequest returns the engine's request for this exchange, with all that does
// not come from the body: who asks, when, until when, and the caps of the
// headers. A header that is not understood is a *Error.
func (x *Exchange) NewRequest(endpoint engine.Endpoint) (*engine.Request, error) {
	r := &engine.Request{
		ID: x.ID, Caller: x.Caller, Endpoint: endpoint,
		Now: x.Began, Deadline: x.Began.Add(patience(x.Request.Header, x.limits.Request)),
	}
	if err := readCaps(x.Request.Header, r); err != nil {
		return nil, err
	}
	return r, nil
}

// JSONDepth is how deeply a body may be nested.
func (x *Exchange) JSONDepth() int { return x.limits.JSONDepth }

// Serve hands the request to the engine and its answer to the client. The error
// is for the handler to return.
func (x *Exchange) Serve(r *engine.Request) error {
	x.reached = true
	x.sink.stream = r.Stream
	d, err := x.server.engine.Serve(x.Request.Context(), x.Snapshot, r, &x.sink, x.server.clock)
	x.decision = d
	if err == nil && !x.sink.committed {
		return fmt.Errorf("request %s: the executor reports success and has sent nothing", x.ID)
	}
	return err
}

// Resolve returns the public name of the model that a client means by name: a
// name, an alias, or one with a provider or strategy. The error is for the
// handler to return.
func (x *Exchange) Resolve(name string) (string, error) {
	if m, ok := x.Snapshot.Model(name); ok {
		return m.Name, nil
	}
	r := &engine.Request{ID: x.ID, Caller: x.Caller, Model: name, Endpoint: engine.EndpointChat, Now: x.Began}
	d, err := x.server.engine.Plan(x.Request.Context(), x.Snapshot, r)
	if d.Model == "" {
		return "", err
	}
	return d.Model, nil // who may serve it now is not asked
}

// WriteJSON answers 200 with a JSON body.
func (x *Exchange) WriteJSON(body []byte) {
	x.writer.Header()[headerContentType] = jsonType
	// A client that is gone needs no answer.
	_, _ = x.writer.Write(body)
}

// fail tells the client why its request failed, as far as it can still be told.
func (x *Exchange) fail(ctx context.Context, err error) {
	e, fault := explain(ctx, err)
	if fault && x.sink.gone {
		e, fault = nil, false
	}
	if fault {
		x.server.logger.LogAttrs(ctx, slog.LevelError, "request failed",
			slog.String("id", x.ID), slog.String("error", clip(err.Error(), maxLogged)))
	}
	if e == nil {
		// The client hung up. If it only stopped sending, an answer that ends
		// here must not look like a whole one.
		panic(http.ErrAbortHandler)
	}
	if !x.reached {
		x.logRefusal(ctx, e)
	}
	x.tell(e)
	if x.sink.broken() {
		panic(http.ErrAbortHandler)
	}
}

// tell writes the error: as an answer while nothing was sent, as the last event
// of a stream. In a whole answer that was begun it cannot be told.
func (x *Exchange) tell(e *Error) {
	e.RequestID = x.ID
	e.Message = clip(e.Message, maxMessage)
	e.Code, e.Param, e.kind = clip(e.Code, maxCode), clip(e.Param, maxCode), clip(e.kind, maxCode)
	if x.Caller == nil || !x.Caller.ExposeRouting {
		e.Skipped = nil
	}
	switch {
	case !x.sink.committed:
		x.writeError(e)
	case x.sink.stream && e.inBand != nil:
		x.sink.lastEvent(e.inBand)
	case x.sink.stream:
		x.sink.lastEvent(x.protocol.AppendErrorEvent(nil, e))
	}
}

// writeError writes the error as an answer of its own.
func (x *Exchange) writeError(e *Error) {
	h := x.writer.Header()
	passUpstream(h, e.header)
	h[headerContentType] = jsonType
	if e.retryAfter != "" {
		h["Retry-After"] = []string{clip(e.retryAfter, maxCode)}
	}
	if e.allow != "" {
		h["Allow"] = []string{e.allow}
	}
	status := e.HTTPStatus()
	if status == http.StatusUnauthorized {
		h["Www-Authenticate"] = bearerChallenge
	}
	if e.close {
		h["Connection"] = closeConnection
		// net/http reads on for a while when a body is left: not for long.
		x.readDeadline(time.Now().Add(lingerTime))
	}
	if x.decision != nil && x.Caller.ExposeRouting {
		setAttempts(h, len(x.decision.Attempts))
	}
	x.writer.WriteHeader(status)
	// A client that is gone needs no error.
	_, _ = x.writer.Write(x.protocol.AppendError(nil, e))
}

var (
	jsonType        = []string{"application/json"}
	eventType       = []string{"text/event-stream"}
	bearerChallenge = []string{"Bearer"}
	closeConnection = []string{"close"}
)
