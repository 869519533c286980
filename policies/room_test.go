package policies

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
)

// room is a library with what was uploaded to it, as the gateway has it.
type room struct {
	tb      testing.TB
	library *Library
	state   *State
	shelf   map[string][]byte // by digest
}

// newRoom makes an empty room. At the end of the test no memory of a policy may
// be left.
func newRoom(tb testing.TB) *room {
	tb.Helper()
	r := &room{tb: tb, shelf: map[string][]byte{}}
	var err error
	if r.state, err = NewState(nil, nil); err != nil {
		tb.Fatal(err)
	}
	if r.library, err = NewLibrary(Options{CacheDir: tb.TempDir(), Logger: slog.New(slog.DiscardHandler), Sources: r}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.library.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if left := r.library.runtime.Memory(); left != 0 {
			tb.Errorf("%d bytes of memory of policies are left", left)
		}
	})
	return r
}

// Source implements Sources.
func (r *room) Source(digest string) ([]byte, error) {
	body, ok := r.shelf[digest]
	if !ok {
		return nil, fmt.Errorf("source %s: %w", digest, ErrNotFound)
	}
	return body, nil
}

// upload adds a version to a policy and activates it, unless it is refused.
func (r *room) upload(name string, body []byte) error {
	r.tb.Helper()
	j, err := r.library.Judge(r.tb.Context(), &Upload{Name: name, Body: body})
	if err != nil {
		return err
	}
	v := &j.Version
	r.shelf[v.Digest] = body
	next, err := r.state.Upload(name, j.Kind, v)
	if err == nil {
		next, err = next.Activate(name, v.Digest, noon)
	}
	if err != nil {
		r.tb.Fatal(err)
	}
	r.state = next
	return nil
}

// live uploads a policy that must be accepted, and binds it. Of the binding the
// id and the policy are set here.
func (r *room) live(name string, body []byte, b Binding) {
	r.tb.Helper()
	if err := r.upload(name, body); err != nil {
		r.tb.Fatal(err)
	}
	r.bind(name, b)
}

func (r *room) bind(name string, b Binding) {
	r.tb.Helper()
	b.ID, b.Policy = name, name
	next, err := r.state.Bind(&b)
	if err != nil {
		r.tb.Fatal(err)
	}
	r.state = next
}

// rules makes the rules of what is there now. They are closed with the test.
func (r *room) rules() *Rules {
	r.tb.Helper()
	rules, err := r.library.Rules(r.tb.Context(), r.state, nil, nil)
	if err != nil {
		r.tb.Fatal(err)
	}
	r.tb.Cleanup(rules.Close)
	return rules
}

// router is an engine over one model, m, that calls nobody.
type router struct {
	engine   *engine.Engine
	snapshot *engine.Snapshot
}

// newRouter makes an engine with the rules, behind the checks that are given. The
// ranking, if one is bound to all requests, is its strategy.
func newRouter(tb testing.TB, rules *Rules, deployments []*engine.Deployment, checks ...engine.Check) *router {
	tb.Helper()
	s := snapshotOf(tb, rules, deployments, nil, checks...)
	return &router{engine: engine.New(s, nothingKnown{}, nothingKnown{}, nil, nil), snapshot: s}
}

// snapshotOf makes a snapshot of the rules. onClose runs when its last request has
// ended.
func snapshotOf(tb testing.TB, rules *Rules, deployments []*engine.Deployment, onClose func(), checks ...engine.Check) *engine.Snapshot {
	tb.Helper()
	strategies := map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}}
	maps.Copy(strategies, rules.Strategies)
	var providers []*engine.Provider
	for _, d := range deployments {
		providers = append(providers, d.Provider)
	}
	s, err := engine.NewSnapshot(engine.Spec{
		Providers: providers, Models: []*engine.Model{{Name: "m", Deployments: deployments}},
		Strategies: strategies, Default: rules.Rankings.All, Checks: append(checks, rules.Checks...),
	}, onClose)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// plan decides about a request.
func (r *router) plan(ctx context.Context, q *engine.Request) (*engine.Decision, error) {
	return r.engine.Plan(ctx, r.snapshot, q)
}

// nothingKnown is what a gateway knows that has just started.
type nothingKnown struct{}

func (nothingKnown) Signals(_ time.Time, pool []engine.Candidate) {
	for i := range pool {
		pool[i].Signals = engine.Signals{
			TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
			Throughput: engine.Unknown, SuccessPPM: engine.Unknown, TokensThisMinute: engine.Unknown,
		}
	}
}

func (nothingKnown) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}

func (nothingKnown) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}

// fleet are so many deployments of the model m, each of a provider of its own.
func fleet(n int) []*engine.Deployment {
	list := make([]*engine.Deployment, n)
	for i := range list {
		name := fmt.Sprintf("p%d", i)
		list[i] = &engine.Deployment{
			ID: name + "/m", Model: "m", UpstreamModel: "m", Weight: 1, Context: 128_000, MaxOutput: 4096,
			Provider: &engine.Provider{
				ID: name, Region: [...]string{"eu", "us", "ap"}[i%3], SupplyTier: [...]string{"standard", "economy"}[i%2], HasCredential: true,
				Tags: map[string]string{"zone": fmt.Sprintf("z%d", i%4)},
			},
		}
	}
	return list
}

// testdata is a file below the module's testdata.
func testdata(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"../testdata"}, parts...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// tableOf are the rows of the table in a README, without its head.
func tableOf(tb testing.TB, columns, atLeast int, parts ...string) [][]string {
	tb.Helper()
	var rows [][]string
	ruled := false
	for line := range strings.Lines(string(testdata(tb, append(parts, "README.md")...))) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != columns+2 {
			continue
		}
		if !ruled {
			ruled = strings.HasPrefix(strings.TrimSpace(f[1]), "--")
			continue
		}
		f = f[1 : columns+1]
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		rows = append(rows, f)
	}
	if len(rows) < atLeast {
		tb.Fatalf("the table has %d rows, want at least %d", len(rows), atLeast)
	}
	return rows
}
