package provider

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
)

// lockedRecorder keeps nothing, from many goroutines.
type lockedRecorder struct{}

// Record implements [engine.Recorder].
func (lockedRecorder) Record(*engine.Decision) {}

// TestHammer runs many requests at once over deployments that fail in every
// way, some with clients that leave, with keep-alives as often as can be.
func TestHammer(t *testing.T) {
	classes := []engine.FailureClass{
		engine.ClassConnect, engine.ClassTimeout, engine.ClassServer, engine.ClassRateLimitTimed, engine.ClassRateLimit,
		engine.ClassQuota, engine.ClassConflict, engine.ClassAuth, engine.ClassNotFound, engine.ClassContext, engine.ClassClient,
	}
	r := newRig(t, Options{KeepAlive: time.Millisecond},
		shape{
			name: "m", deployments: abc, retry: engine.RetryPolicy{MaxAttempts: 2, FailureThreshold: 3, Cooldown: time.Millisecond},
			chains: map[engine.Chain][]string{engine.ChainGeneral: {"n"}, engine.ChainContext: {"n"}},
		},
		shape{name: "n", deployments: []string{"x"}})
	r.engine = engine.New(r.snapshot, r.tracker, &affinity{}, r.dispatcher, lockedRecorder{})
	for _, a := range r.adapters {
		a.set(func(ctx context.Context, c *Call, n int) (*Response, error) {
			switch pick := rand.N(20); {
			case pick < len(classes):
				return nil, &Failure{Class: classes[pick], Status: 400 + pick, Message: "m", Cooldown: time.Millisecond}
			case pick == 19:
				panic("scripted")
			case !c.Request.Stream:
				return good(ctx, c, n)
			case pick%2 == 0:
				return streamed(ctx, c, role(), content("x").in(3*time.Millisecond), content("y").in(3*time.Millisecond), broken()), nil
			}
			return streamed(ctx, c, role(), content("x").in(time.Millisecond), content("y").in(3*time.Millisecond), finish(), done()), nil
		})
	}
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%5 == 0 {
					time.AfterFunc(rand.N(5*time.Millisecond), cancel)
				}
				_, d, err := r.ask(ctx, func(req *engine.Request) { req.Stream = (worker+i)%2 == 0 })
				cancel()
				_, failed := errors.AsType[*engine.UpstreamError](err)
				_, refused := errors.AsType[*engine.RefusedError](err)
				if err != nil && !failed && !refused && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", attempts(d), err)
				}
				if len(d.Attempts) > engine.MaxAttempts {
					t.Errorf("%d attempts", len(d.Attempts))
				}
				_ = r.dispatcher.Stats()
			}
		})
	}
	wait.Wait()
	for id := range r.adapters {
		if s := r.stats(id); s.InFlight != 0 || s.ProbeRunning {
			t.Errorf("%s: %+v", id, s)
		}
	}
}
