package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// world is a small gateway: models made of deployments, with scripted signals,
// a map for affinity and an executor that fails or serves by deployment id.
type world struct {
	spec     engine.Spec
	signals  map[string]engine.Signals
	affinity map[engine.AffinityKey]engine.Target
	fails    map[string]engine.FailureClass
	called   []string
	engine   *engine.Engine
	mu       sync.Mutex
}

func (w *world) Signals(_ time.Time, pool []engine.Candidate) {
	for i := range pool {
		if s, ok := w.signals[pool[i].ID]; ok {
			pool[i].Signals = s
		}
	}
}

func (w *world) Target(k engine.AffinityKey, _ time.Time) (engine.Target, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.affinity[k]
	return t, ok
}

func (w *world) Succeeded(k engine.AffinityKey, t engine.Target, _, _ time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.affinity[k] = t
}

func (w *world) Record(*engine.Decision) {}

// Execute tries each candidate once, as the simplest executor would.
func (w *world) Execute(ctx context.Context, _ *engine.Request, p *engine.Plan, _ engine.Sink) (engine.Result, error) {
	for {
		class := engine.ClassNone
		for i := range p.Order {
			c := &p.Order[i]
			w.called = append(w.called, c.ID)
			class = w.fails[c.ID]
			p.Attempted(engine.Attempt{Deployment: c.ID, Class: class, SelectionSource: p.Source(c)})
			if class == engine.ClassNone {
				p.Served(c)
				return engine.Result{Status: 200, Deployment: c.ID, Model: p.Name(), Cost: engine.Unknown}, nil
			}
			p.Failed(c)
			if !class.Rule().Next {
				break
			}
		}
		next, ok := p.Fallback(ctx, class)
		if !ok {
			return engine.Result{}, &engine.UpstreamError{Code: class.String(), Status: 502, Class: class}
		}
		p = next
	}
}

type cooldownCheck struct{}

func (cooldownCheck) Name() string { return "cooldown" }

func (cooldownCheck) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		c := &pool[i]
		if c.CooldownUntil.After(r.Now) {
			out.RemoveUntil(i, engine.ReasonCooldown, "cooling", c.CooldownUntil)
		}
		if !c.Enabled {
			out.Remove(i, engine.ReasonDisabled, "off")
		}
		if c.Context > 0 && r.InputTokens > c.Context {
			out.Remove(i, engine.ReasonContextWindow, "too long")
		}
		if q := c.FreshQuota(r.Now); q != nil && q.Windows[0].LeftPPM == 0 {
			out.RemoveUntil(i, engine.ReasonQuotaExhausted, "used up", q.Windows[0].ResetsAt)
		}
		if !r.Caller.AllowedModels.Allows(c.Model) {
			out.Remove(i, engine.ReasonModelNotAllowed, "not for this key")
		}
	}
	return nil
}

// newWorld takes "model: deployment, deployment" lines in the form
// {"m", "a/m", "b/m"}: providers are what stands before the first slash.
func newWorld(tb testing.TB, models ...[]string) *world {
	tb.Helper()
	w := &world{
		signals:  map[string]engine.Signals{},
		affinity: map[engine.AffinityKey]engine.Target{},
		fails:    map[string]engine.FailureClass{},
	}
	providers := map[string]*engine.Provider{}
	for _, m := range models {
		model := &engine.Model{Name: m[0], Route: engine.Route{Retry: engine.DefaultRetryPolicy(), Chains: map[engine.Chain][]string{}}}
		for i, id := range m[1:] {
			name, upstream := splitID(id)
			if providers[name] == nil {
				providers[name] = &engine.Provider{ID: name, Enabled: true, HasCredential: true}
				w.spec.Providers = append(w.spec.Providers, providers[name])
			}
			model.Deployments = append(model.Deployments, &engine.Deployment{
				ID: id, Model: m[0], Provider: providers[name], UpstreamModel: upstream, Enabled: true, Weight: 1, Listed: i,
			})
		}
		w.spec.Models = append(w.spec.Models, model)
	}
	w.spec.Strategies = map[string]*engine.Strategy{"balanced": {Name: "balanced"}, "price": {Name: "price"}}
	w.spec.Checks = []engine.Check{cooldownCheck{}}
	w.spec.AffinityOn = true
	w.spec.SessionTTL = time.Hour
	return w
}

func splitID(id string) (provider, model string) {
	for i := range len(id) {
		if id[i] == '/' {
			return id[:i], id[i+1:]
		}
	}
	return id, id
}

func (w *world) start(tb testing.TB) *engine.Snapshot {
	tb.Helper()
	s, err := engine.NewSnapshot(w.spec, nil)
	if err != nil {
		tb.Fatal(err)
	}
	w.engine = engine.New(s, w, w, w, w)
	return s
}

func (w *world) model(name string) *engine.Model {
	i := slices.IndexFunc(w.spec.Models, func(m *engine.Model) bool { return m.Name == name })
	return w.spec.Models[i]
}

func (w *world) deployment(id string) *engine.Deployment {
	for _, m := range w.spec.Models {
		for _, d := range m.Deployments {
			if d.ID == id {
				return d
			}
		}
	}
	panic("no deployment " + id)
}

func request(model string) *engine.Request {
	return &engine.Request{ID: "r", Model: model, Endpoint: engine.EndpointChat, Now: now, Caller: &engine.Caller{AllowRequestStrategy: true}}
}

func withSession(r *engine.Request, n byte) *engine.Request {
	r.Session = engine.Session{Key: [16]byte{n}, Source: "header"}
	r.Seed = uint64(n) * 7919
	return r
}

func (w *world) serve(s *engine.Snapshot, r *engine.Request) (*engine.Decision, error) {
	w.called = nil
	return w.engine.Serve(context.Background(), s, r, nil, func() time.Time { return now.Add(time.Second) })
}

func code(err error) string {
	if r, ok := errors.AsType[*engine.RefusedError](err); ok {
		return r.Code
	}
	if u, ok := errors.AsType[*engine.UpstreamError](err); ok {
		return u.Code
	}
	return ""
}

func TestServeFailsOverInOrderAndRecords(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m", "c/m"})
	w.deployment("a/m").Priority = 30
	w.deployment("b/m").Priority = 20
	w.fails["a/m"], w.fails["b/m"] = engine.ClassServer, engine.ClassConnect
	d, err := w.serve(w.start(t), request("m"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/m", "b/m", "c/m"}, w.called); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(w.called, d.Order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if d.Result.Deployment != "c/m" || d.Duration != time.Second || d.Strategy != "balanced" || d.SelectionSource != "default" {
		t.Errorf("decision = %+v", d)
	}
}

func TestSnapshotClosesWhenItsLastRequestEnds(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"})
	closed := 0
	first, err := engine.NewSnapshot(w.spec, func() { closed++ })
	if err != nil {
		t.Fatal(err)
	}
	second, err := engine.NewSnapshot(newWorld(t, []string{"m", "b/m"}).spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(first, w, w, w, w)
	held := e.Acquire()
	e.Swap(second)
	if closed != 0 {
		t.Fatal("closed while a request held it")
	}
	if got := e.Acquire(); got != second {
		t.Fatal("a later request does not see the new snapshot")
	}
	e.Swap(second) // again: nothing changes
	if got := e.Acquire(); got != second {
		t.Fatal("the current snapshot was closed by being swapped in again")
	}
	held.Release()
	if closed != 1 {
		t.Fatalf("closed %d times, want once", closed)
	}
}

func TestSwapUnderLoad(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m"})
	closed := make(chan struct{}, 200)
	snapshot := func() *engine.Snapshot {
		s, err := engine.NewSnapshot(newWorld(t, []string{"m", "a/m", "b/m"}).spec, func() { closed <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	e := engine.New(snapshot(), w, w, w, w)
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := e.Acquire()
				if _, err := e.Plan(context.Background(), s, request("m")); err != nil {
					t.Error(err)
				}
				s.Release()
			}
		})
	}
	const swaps = 100
	for range swaps {
		e.Swap(snapshot())
	}
	close(stop)
	readers.Wait()
	if got := len(closed); got != swaps {
		t.Errorf("%d snapshots closed, want %d", got, swaps)
	}
}

func TestNewSnapshotNamesEveryFault(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"}, []string{"n", "a/m"})
	w.model("m").Route.Chains[engine.ChainGeneral] = []string{"gone"}
	w.model("n").Aliases = []string{"m"}
	w.model("n").Route.Strategy = "nope"
	w.spec.Default = "absent"
	_, err := engine.NewSnapshot(w.spec, nil)
	for _, want := range []string{`no model "gone"`, `"m" is taken`, `no strategy "nope"`, `no strategy "absent"`, `id "a/m" is taken`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestCost(t *testing.T) {
	d := &engine.Deployment{Price: engine.Price{Known: true, Input: 2_500_000_000, Output: 10_000_000_000, CachedInput: 1_250_000_000, CacheWrite: engine.Unknown}}
	use := engine.Usage{Known: true, Input: 1000, Cached: 400, Output: 200}
	// 600 × 2,500 + 400 × 1,250 + 200 × 10,000 nano-USD a token.
	if got, want := d.Cost(use, now), int64(4_000_000); got != want {
		t.Errorf("cost = %d, want %d", got, want)
	}
	d.Sale = engine.Sale{Multiplier: 800_000, Until: now.Add(time.Hour)}
	if got, want := d.Cost(use, now), int64(3_200_000); got != want {
		t.Errorf("cost in the sale = %d, want %d", got, want)
	}
	if got, want := d.Cost(use, now.Add(time.Hour)), int64(4_000_000); got != want {
		t.Errorf("cost after the sale = %d, want %d", got, want)
	}
	if got := d.Cost(engine.Usage{Known: true, Input: math.MaxInt64 / 4, Output: 1}, now); got <= 0 {
		t.Errorf("cost of an absurd usage = %d, want a large positive number", got)
	}
	if got := (&engine.Deployment{}).Cost(use, now); got != engine.Unknown {
		t.Errorf("cost without a price = %d, want Unknown", got)
	}
}

func ExampleFailureClass_Rule() {
	r := engine.ClassRateLimit.Rule()
	fmt.Println(r.Name, r.SameAgain, r.Next, r.Chain, r.Circuit)
	// Output: rate_limit true true fallbacks true
}
