package provider

import (
	"context"
	"net/http"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// TestQuotaHeaders follows rate-limit headers from an adapter to the signals of
// the next request, whatever became of the call.
func TestQuotaHeaders(t *testing.T) {
	limits := http.Header{
		"X-Ratelimit-Limit-Requests": {"10"}, "X-Ratelimit-Remaining-Requests": {"4"}, "X-Ratelimit-Reset-Requests": {"1m"},
	}
	seen := func(c *Call, status int) { c.Seen = Seen{Status: status, At: c.Clock(), Header: limits} }
	cases := []struct {
		name   string
		stream bool
		do     script
		left   int64 // reported, in ppm
		used   int64 // requests counted here
	}{
		{"a whole answer", false, func(ctx context.Context, c *Call, n int) (*Response, error) {
			resp, err := good(ctx, c, n)
			seen(c, 200)
			return resp, err
		}, 400_000, 1},
		{"a stream", true, func(ctx context.Context, c *Call, n int) (*Response, error) {
			resp, err := good(ctx, c, n)
			seen(c, 200)
			return resp, err
		}, 400_000, 1},
		{"a stream that breaks", true, func(ctx context.Context, c *Call, _ int) (*Response, error) {
			resp := streamed(ctx, c, content("x"), broken())
			seen(c, 200)
			return resp, nil
		}, 400_000, 1},
		{"a good answer that is none", false, func(_ context.Context, c *Call, _ int) (*Response, error) {
			seen(c, 200)
			return nil, BadAnswer("not JSON", nil)
		}, 400_000, 1},
		{"a rate limit", false, func(_ context.Context, c *Call, _ int) (*Response, error) {
			seen(c, 429)
			return nil, &Failure{Class: engine.ClassRateLimit, Status: 429, Message: "m"}
		}, 400_000, 0},
		{"an error of the caller", false, func(_ context.Context, c *Call, _ int) (*Response, error) {
			seen(c, 400)
			return nil, &Failure{Class: engine.ClassClient, Status: 400, Message: "m"}
		}, 400_000, 0},
		{"a panic behind the headers", false, func(_ context.Context, c *Call, _ int) (*Response, error) {
			seen(c, 200)
			panic("scripted")
		}, 400_000, 1},
		{"no answer", false, func(context.Context, *Call, int) (*Response, error) {
			return nil, &Failure{Class: engine.ClassConnect, Message: "m"}
		}, engine.Unknown, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Options{}, shape{name: "m", deployments: []string{"a"}})
			r.tracker.Configure([]health.ProviderQuota{{Provider: "provider-a", Windows: []health.QuotaLimit{
				{Name: "counted", Period: time.Hour, Unit: health.QuotaRequests, Limit: 2},
			}}})
			r.adapters["a"].set(c.do)
			_, _, _ = r.ask(t.Context(), func(req *engine.Request) { req.Stream = c.stream })
			m, _ := r.snapshot.Model("m")
			pool := []engine.Candidate{{Deployment: m.Deployments[0]}}
			now := time.Now()
			r.tracker.Signals(now, pool)
			got := map[string]int64{"requests": engine.Unknown}
			for _, w := range pool[0].FreshQuota(now).Windows {
				got[w.Name] = w.LeftPPM
			}
			if got["requests"] != c.left || got["counted"] != 1_000_000-c.used*500_000 {
				t.Errorf("left: %v; want %d reported, and %d of 2 counted", got, c.left, c.used)
			}
		})
	}
}
