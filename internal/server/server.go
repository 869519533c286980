package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"gatewright/engine"
)

// Room is one protocol: its routes, and how it writes errors.
type Room interface {
	Protocol
	// Routes are registered once, in this order.
	Routes() []Route
}

// Protocol writes errors as clients of one protocol expect them. Its methods
// run in parallel.
type Protocol interface {
	// AppendError appends the JSON body of an error answer.
	AppendError(dst []byte, e *Error) []byte
	// AppendErrorEvent appends the server-sent event that ends a stream.
	AppendErrorEvent(dst []byte, e *Error) []byte
	// Traits are always the same.
	Traits() Traits
}

// Traits are what protocols differ in besides their text. Names of headers are
// canonical.
type Traits struct {
	// KeyHeader may hold a caller's key, and is believed rather than
	// Authorization; "" = Authorization alone.
	KeyHeader string
	// IDHeader repeats X-Request-Id; "" = it is not repeated.
	IDHeader string
	// Speaks reports whether a request comes from a client of the protocol,
	// though no route of it fits; nil = nobody can tell.
	Speaks func(r *http.Request) bool
}

// Route is one path that a room serves.
type Route struct {
	Method string // GET takes HEAD too
	Path   string // as gorilla/mux writes it; "{id:.+}" takes slashes
	// Header must be there for the route to fit, with whatever value, and then it
	// fits before routes without; "" = none.
	Header string
	// Handle serves one request of an authenticated caller. What it returns is
	// told to the client; it must not have written anything then, except
	// through Exchange.Serve. A *Error is told as it is.
	Handle func(x *Exchange) error
}

// Timeouts bound how slowly a client may be. Zero takes the default.
type Timeouts struct {
	Header time.Duration // from the connection or first byte to the end of the headers; 8 s
	Body   time.Duration // wait for more of a body; 10 s
	Write  time.Duration // wait until the client takes 64 KiB; 30 s
	Idle   time.Duration // wait for the next request of a connection; 120 s
}

// Options are what a Server is made of.
type Options struct {
	Engine *engine.Engine // required
	Logger *slog.Logger   // required
	Rooms  []Room         // at least one; the first speaks where none is known to be spoken
	// SessionSecret keys the hashes of sessions. Replicas that share it send a
	// session to the same deployment.
	SessionSecret [32]byte
	// Ready says why the gateway cannot serve yet; nil = it always can. It runs
	// at each call of /readyz, in parallel, and must not block.
	Ready    func() error
	Clock    func() time.Time // of requests and decisions; nil = time.Now
	IDs      func() string    // request ids; nil = UUIDv7
	Timeouts Timeouts
}

// defaultLimits stand where a snapshot leaves a limit at 0.
var defaultLimits = engine.Limits{
	Body:       32 << 20,
	Header:     64 << 10,
	JSONDepth:  128,
	Concurrent: 4096,
	Request:    20 * time.Minute,
}

// Server serves one listener from an engine. Its methods may run in parallel.
type Server struct {
	engine   *engine.Engine
	logger   *slog.Logger
	rooms    []Room
	fallback Protocol // of the first room
	sessions *sessions
	ready    func() error
	clock    func() time.Time
	ids      func() string
	timeouts Timeouts
	http     *http.Server
	cut      context.CancelCauseFunc // cancels every running request
	bodies   sync.Pool               // *[]byte, for request bodies
	refusals *limitedLog
	faults   *limitedLog
	running  atomic.Int64 // requests inside handlers
	draining atomic.Bool
	unready  atomic.Bool // what /readyz said last
}

// New returns a server that is ready to Serve. It opens nothing.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.IDs == nil {
		o.IDs = newID
	}
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	setDefault(&o.Timeouts.Header, 8*time.Second)
	setDefault(&o.Timeouts.Body, 10*time.Second)
	setDefault(&o.Timeouts.Write, 30*time.Second)
	setDefault(&o.Timeouts.Idle, 2*time.Minute)
	s := &Server{
		engine: o.Engine, logger: o.Logger, rooms: o.Rooms, fallback: o.Rooms[0], sessions: newSessions(o.SessionSecret),
		ready: o.Ready, clock: o.Clock, ids: o.IDs, timeouts: o.Timeouts,
		refusals: newLimitedLog(refusalsPerSecond), faults: newLimitedLog(stacksPerSecond),
	}
	s.bodies.New = func() any { return new([]byte) }
	base, cut := context.WithCancelCause(context.Background())
	s.cut = cut
	s.http = &http.Server{
		Handler:                      s.router(),
		ReadHeaderTimeout:            o.Timeouts.Header,
		IdleTimeout:                  o.Timeouts.Idle,
		MaxHeaderBytes:               maxHeader, // conn applies the limit of the snapshot
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:                     slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	return s
}

// maxHeader is what net/http reads of headers at most: more than any limit.
const maxHeader = 16 << 20

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// newID returns a UUIDv7 as text: the time in 60 bits, to a quarter of a
// microsecond, and 62 random ones. They have to be different, not secret, and
// the runtime's generator needs no lock and no system call.
func newID() string {
	now := time.Now()
	milliseconds, part := now.UnixMilli(), now.Nanosecond()%int(time.Millisecond)
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(milliseconds)<<16|7<<12|uint64(part)>>8) //nolint:gosec // this age's instants are positive
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()>>2|1<<63)                         //nolint:gosec // tells requests apart, guards nothing
	return id.String()
}

// Serve accepts connections until Shutdown, then returns nil. It owns the
// listener and closes it.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(listener{l, s}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// lastWords is how long requests that were cut off have to tell their clients.
const lastWords = 2 * time.Second

// Shutdown stops the server: from now on it is not ready and takes no new
// connection, and running requests have until ctx is done to end. Those that
// have not are cancelled, tell their clients shutting_down, and are counted in
// the error. Shutdown returns when no request runs any more.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	err := s.http.Shutdown(ctx)
	defer s.cut(errShuttingDown)
	if err == nil {
		return nil
	}
	left := s.running.Load()
	s.cut(errShuttingDown)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if s.http.Shutdown(last) != nil {
		// Clients that do not even take the error are cut off.
		if cerr := s.http.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		s.awaitHandlers()
	}
	return fmt.Errorf("drain: %d requests were cut off: %w", left, err)
}

// awaitHandlers waits until no handler runs; their contexts are cancelled and
// their connections closed.
func (s *Server) awaitHandlers() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.running.Load() > 0 {
		<-tick.C
	}
}

// limits returns the snapshot's limits with defaults for those that it leaves
// open.
func limits(s *engine.Snapshot) engine.Limits {
	l := s.Limits
	if l.Body <= 0 {
		l.Body = defaultLimits.Body
	}
	if l.Header <= 0 {
		l.Header = defaultLimits.Header
	}
	if l.JSONDepth <= 0 {
		l.JSONDepth = defaultLimits.JSONDepth
	}
	if l.Concurrent <= 0 {
		l.Concurrent = defaultLimits.Concurrent
	}
	if l.Request <= 0 {
		l.Request = defaultLimits.Request
	}
	return l
}

// headerLimit is the limit of headers that holds now, in bytes.
func (s *Server) headerLimit() int {
	snapshot := s.engine.Acquire()
	defer snapshot.Release()
	return int(min(limits(snapshot).Header, math.MaxInt32))
}
