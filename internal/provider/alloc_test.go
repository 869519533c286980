package provider

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// ready is an adapter that has its answer already, so that what a request costs
// is the dispatcher's part, and the engine's.
type ready struct {
	body   []byte
	header http.Header
	events int // of a stream; 0 = a whole answer
}

// Do implements [Adapter].
func (a *ready) Do(_ context.Context, c *Call) (*Response, error) {
	c.Seen = Seen{Status: http.StatusOK, At: c.Clock()}
	resp := &Response{Header: a.header, Body: a.body, Usage: someUsage}
	if a.events > 0 {
		resp.Body, resp.Stream = nil, &readyStream{call: c, frame: a.body, left: a.events}
	}
	return resp, nil
}

// readyStream is a stream each of whose events is waited for.
type readyStream struct {
	call  *Call
	frame []byte
	left  int
}

// Next implements [Stream].
func (s *readyStream) Next() (Event, error) {
	if s.left == 0 {
		return Event{}, io.EOF
	}
	s.call.Waiting()
	s.left--
	return Event{Frame: s.frame, Commits: true, Finished: s.left == 0, Done: s.left == 0}, nil
}

// Usage implements [Stream].
func (s *readyStream) Usage() engine.Usage { return someUsage }

// Tail implements [Stream].
func (s *readyStream) Tail() []byte { return nil }

// Close implements [Stream].
func (s *readyStream) Close() error { return nil }

// nowhere is a sink, and a recorder, that keeps nothing.
type nowhere struct{}

func (nowhere) Commit(engine.Answer) error  { return nil }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Flush() error                { return nil }
func (nowhere) Record(*engine.Decision)     {}

// requests returns a function that has one request served by the adapter.
func requests(tb testing.TB, a *ready) func() {
	tb.Helper()
	tracker, err := health.New(health.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	p := &engine.Provider{ID: "p", Enabled: true, HasCredential: true}
	snapshot, err := engine.NewSnapshot(engine.Spec{
		Providers: []*engine.Provider{p},
		Models: []*engine.Model{{
			Name: "m", Route: engine.Route{Retry: engine.DefaultRetryPolicy()},
			Deployments: []*engine.Deployment{{ID: "p/m", Model: "m", Provider: p, UpstreamModel: "up", Enabled: true, Weight: 1, Target: &Target{Adapter: a}}},
		}},
		Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}},
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	e := engine.New(snapshot, tracker, new(affinity), NewDispatcher(tracker, Options{}), nowhere{})
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	r := &engine.Request{ID: "r", Caller: &engine.Caller{Key: "k"}, Model: "m", Endpoint: engine.EndpointChat, Stream: a.events > 0}
	return func() {
		r.Now = time.Now()
		if _, err := e.Serve(ctx, snapshot, r, nowhere{}, time.Now); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkServe(b *testing.B) {
	for _, c := range []struct {
		name   string
		events int
	}{{"whole", 0}, {"stream of 30", 30}, {"stream of 330", 330}} {
		b.Run(c.name, func(b *testing.B) {
			serve := requests(b, &ready{body: []byte("data: {}\n\n"), events: c.events})
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
