package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatewright/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testKey is the secret of the one key that rigs know.
const testKey = "gw-test-0123456789abcdef"

// keys is a table of callers by secret; without any the table is anonymous.
type keys map[string]*engine.Caller

func (k keys) Lookup(secret string) (*engine.Caller, bool) {
	c, ok := k[secret]
	return c, ok
}

func (k keys) Anonymous() (*engine.Caller, bool) {
	return &engine.Caller{ExposeRouting: true}, len(k) == 0
}

// execute is an executor made of a function.
type execute func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error)

func (f execute) Execute(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	return f(ctx, r, p, sink)
}

// answerWith commits and sends a whole answer.
func answerWith(body string) execute {
	return func(_ context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		d := p.Order[0].Deployment
		if err := sink.Commit(engine.Answer{Status: 200, Deployment: d, Model: r.Model, Attempts: 1, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		_, err := io.WriteString(sink, body)
		return engine.Result{Status: 200, Deployment: d.ID, Model: r.Model, Cost: engine.Unknown}, err
	}
}

// outside is all that an engine calls and rigs do not care for.
type outside struct{}

func (outside) Signals(time.Time, []engine.Candidate) {}
func (outside) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}
func (outside) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}

// decisions keeps what the engine records.
type decisions struct {
	mu     sync.Mutex
	list   []*engine.Decision
	forget bool // keep none
}

func (d *decisions) Record(x *engine.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.forget {
		d.list = append(d.list, x)
	}
}

func (d *decisions) all() []*engine.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*engine.Decision(nil), d.list...)
}

// lockedBuffer takes the log of many goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// testRoom is a room with a protocol of its own: an error is one JSON object.
type testRoom struct{ routes []Route }

func (r testRoom) Routes() []Route { return r.routes }

func (testRoom) Traits() Traits { return Traits{} }

func (testRoom) AppendError(dst []byte, e *Error) []byte {
	text, err := json.Marshal(told{e.Code, e.OpenAIType(), e.Param, e.Message, len(e.Skipped)})
	if err != nil {
		panic(err)
	}
	return append(dst, text...)
}

func (r testRoom) AppendErrorEvent(dst []byte, e *Error) []byte {
	return append(r.AppendError(append(dst, "data: "...), e), "\n\n"...)
}

// told is an error as a client of testRoom sees it.
type told struct {
	Code, Type, Param, Message string
	Skipped                    int
}

// rig is a server with its engine and what they said.
type rig struct {
	t         *testing.T
	server    *Server
	engine    *engine.Engine
	decisions *decisions
	log       *lockedBuffer
	serving   chan error
	address   string // of a TCP listener
}

// setup is what a test changes of a rig. Zero = the usual.
type setup struct {
	execute execute
	routes  []Route
	keys    keys // nil = testKey
	limits  engine.Limits
	options Options
}

// relay hands the body to the engine and streams when the path says so.
func relay(x *Exchange) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	r, err := x.NewRequest(engine.EndpointChat)
	if err != nil {
		return err
	}
	r.Model, r.Stream = "m", strings.HasSuffix(x.Request.URL.Path, "/stream")
	if name := x.Request.URL.Query().Get("model"); name != "" {
		r.Model = name
	}
	r.Session, r.Seed = x.Session(BodySession{})
	r.Payload = string(body)
	return x.Serve(r)
}

// echo answers with the body.
func echo(x *Exchange) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	x.WriteJSON(append([]byte(nil), body...))
	return nil
}

var usualRoutes = []Route{
	{Method: http.MethodPost, Path: "/v1/relay", Handle: relay},
	{Method: http.MethodPost, Path: "/v1/relay/stream", Handle: relay},
	{Method: http.MethodPost, Path: "/v1/echo", Handle: echo},
	{Method: http.MethodGet, Path: "/v1/echo", Handle: func(x *Exchange) error { x.WriteJSON([]byte(`"got"`)); return nil }},
	{Method: http.MethodGet, Path: "/v1/things/{id:.+}", Handle: func(x *Exchange) error {
		text, err := json.Marshal(x.PathVar("id"))
		x.WriteJSON(text)
		return err
	}},
}

func newSnapshot(t *testing.T, k keys, limits engine.Limits, generation uint64) *engine.Snapshot {
	t.Helper()
	p := &engine.Provider{ID: "a", Enabled: true, HasCredential: true}
	s, err := engine.NewSnapshot(engine.Spec{
		Generation: generation,
		Providers:  []*engine.Provider{p},
		Models: []*engine.Model{{
			Name:        "m",
			Deployments: []*engine.Deployment{{ID: "a/m", Model: "m", Provider: p, Enabled: true, Weight: 1}},
		}},
		Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}},
		Callers:    k,
		Limits:     limits,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newRig makes a server that listens nowhere yet.
func newRig(t *testing.T, u setup) *rig {
	t.Helper()
	if u.execute == nil {
		u.execute = answerWith(`"served"`)
	}
	if u.keys == nil {
		u.keys = keys{testKey: {Key: "test", Team: "web", Org: "acme", ExposeRouting: true}}
	}
	r := &rig{t: t, decisions: &decisions{}, log: &lockedBuffer{}, serving: make(chan error, 1)}
	r.engine = engine.New(newSnapshot(t, u.keys, u.limits, 1), outside{}, outside{}, u.execute, r.decisions)
	o := u.options
	o.Engine = r.engine
	o.Logger = slog.New(slog.NewJSONHandler(r.log, nil))
	if o.Rooms == nil {
		o.Rooms = []Room{testRoom{append(u.routes, usualRoutes...)}}
	}
	r.server = New(o)
	return r
}

// listen serves on a loopback port until the test ends.
func listen(t *testing.T, u setup) *rig {
	t.Helper()
	r := newRig(t, u)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = l.Addr().String()
	r.serve(l)
	return r
}

func (r *rig) serve(l net.Listener) {
	go func() { r.serving <- r.server.Serve(l) }()
	r.t.Cleanup(r.stop)
}

// stop shuts the server down at once and waits until it has.
func (r *rig) stop() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.server.Shutdown(now) // what was running is what the test left behind
	if err := <-r.serving; err != nil {
		r.t.Errorf("Serve: %v", err)
	}
	r.serving <- nil // for another stop
	http.DefaultClient.CloseIdleConnections()
}

// dial opens a raw connection to the rig.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := (&net.Dialer{}).DialContext(r.t.Context(), "tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// raw sends bytes on a connection of their own and returns all that comes back
// until the server closes it.
func (r *rig) raw(request string) string {
	r.t.Helper()
	c := r.dial()
	if _, err := io.WriteString(c, request); err != nil {
		r.t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		r.t.Fatalf("read the answer: %v (after %q)", err, answer)
	}
	return string(answer)
}

// reply is an answer without its body.
type reply struct {
	StatusCode int
	Header     http.Header
	Close      bool
}

// readReply reads one answer with its body. The error is that of the body too.
func readReply(in *bufio.Reader) (reply, string, error) {
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return reply{}, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, resp.Close}, string(body), err
}

// mustRead reads one answer with its body.
func mustRead(t *testing.T, in *bufio.Reader) (reply, string) {
	t.Helper()
	resp, body, err := readReply(in)
	if err != nil {
		t.Fatalf("read the answer: %v after %q", err, body)
	}
	return resp, body
}

// do sends a request with the test's key and returns the answer and its body.
func (r *rig) do(method, path, body string, headers ...string) (reply, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.address+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		text = append(text, fmt.Sprintf("[%v]", err)...)
	}
	return reply{resp.StatusCode, resp.Header, resp.Close}, string(text)
}

// toldIn reads an error body.
func toldIn(t *testing.T, body string) told {
	t.Helper()
	var e told
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("not an error body: %q: %v", body, err)
	}
	return e
}

// sum is the SHA-256 of a text.
func sum(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// pipes is a listener whose connections are pipes, so that a test's own clock
// rules their deadlines.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes {
	return &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

var errRefused = errors.New("connection refused")

// dial returns the client's end of a new connection.
func (p *pipes) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accept <- server:
		return client, nil
	case <-p.closed:
		return nil, errRefused
	}
}
