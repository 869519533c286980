package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
	"gatewright/wasm"
)

// Sources gives back what was uploaded, by its digest. Its methods may run in
// parallel.
type Sources interface {
	Source(digest string) ([]byte, error)
}

// Options are what a Library is made of.
type Options struct {
	CacheDir string       // for compiled code; "" = none is kept
	Logger   *slog.Logger // required
	Sources  Sources      // required
	Clock    func() time.Time
}

// Library compiles policies and keeps those that snapshots use, each once. Its
// methods may run in parallel.
type Library struct {
	options Options
	runtime *wasm.Runtime

	recent recent

	loading sync.Mutex // one program is loaded at a time; never held with mu

	mu     sync.Mutex
	gauges map[gaugeKey]*gauge
	loaded map[loadKey]*loaded
}

type gaugeKey struct{ name, digest string }

// loadKey is what makes one program: instances belong to a version and its
// parameters.
type loadKey struct {
	name, digest string
	parameters   string
	stateful     bool
}

// loaded is a program that rules use.
type loaded struct {
	*compiled
	users int
}

// compiled is a version that is ready to run.
type compiled struct {
	program program
	modules []*wasm.Module
	hits    *atomic.Uint64 // of its cache; nil = it has none
	reads   reads
	version Version
	kind    Kind
	unready bool // it waits for the parameters of a binding
}

// NewLibrary returns an empty library. It must be closed.
func NewLibrary(o Options) (*Library, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.CacheDir != "" {
		// Whoever can write there runs code as this process.
		if err := os.MkdirAll(o.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of compiled policies: %w", err)
		}
	}
	runtime, err := wasm.NewRuntime(wasm.Config{CacheDir: o.CacheDir, Log: o.Logger})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox of policies: %w", err)
	}
	return &Library{options: o, runtime: runtime, gauges: map[gaugeKey]*gauge{}, loaded: map[loadKey]*loaded{}}, nil
}

// Close ends all programs. Rules that were not closed fail from now on.
func (l *Library) Close(ctx context.Context) error { return l.runtime.Close(ctx) }

// Judge checks an upload and makes it run once, on made-up requests. The error is
// a *SourceError for what is wrong with the source.
func (l *Library) Judge(ctx context.Context, u *Upload) (*Judgement, error) {
	c, err := l.compile(ctx, u, nil)
	if err != nil {
		return nil, err
	}
	defer l.discard(c) //nolint:contextcheck // what is made is closed though ctx has ended
	if u.Kind != "" && u.Kind != c.kind {
		return nil, &SourceError{Name: u.Name, Problems: []Problem{{
			File: u.file(), Rule: "kind", Message: fmt.Sprintf("it is uploaded as %s, and it is of kind %s", u.Kind, c.kind),
			Fix: "upload it with kind=" + string(c.kind),
		}}}
	}
	j := &Judgement{Kind: c.kind, Version: c.version}
	j.Version.Uploaded = l.options.Clock().UTC()
	return j, nil
}

// discard closes a module that nobody uses.
func (l *Library) discard(c *compiled) {
	for _, m := range c.modules {
		// What still runs ends by its budget.
		if err := m.Close(context.Background()); err != nil {
			l.options.Logger.Warn("close a policy", slog.Any("error", err))
		}
	}
}

// Rules makes the rules of a state. named are the rankings that strategies name.
// On an error nothing is kept.
func (l *Library) Rules(ctx context.Context, s *State, providers []*engine.Provider, named []string) (*Rules, error) {
	return newRules(ctx, s, l, providers, named)
}

// load implements loader.
func (l *Library) load(ctx context.Context, p *Policy, v *Version, b *Binding) (*unit, needs, func(), error) {
	key := loadKey{name: p.Name, digest: v.Digest, parameters: string(b.parameters()), stateful: b.Stateful}
	l.loading.Lock()
	defer l.loading.Unlock()
	x := l.take(key)
	if x == nil {
		body, err := l.options.Sources.Source(v.Digest)
		if err != nil {
			return nil, needs{}, nil, err
		}
		c, err := l.compile(ctx, &Upload{Name: p.Name, Kind: p.Kind, Format: v.Format, Profile: v.Profile, File: v.File, Body: body}, b)
		if err != nil {
			return nil, needs{}, nil, err
		}
		x = l.put(key, c)
	}
	u := &unit{digest: v.Digest, program: x.program, gauge: l.gauge(p.Name, v.Digest)}
	return u, x.reads.granted(&b.Grants), sync.OnceFunc(func() { l.release(key, x) }), nil //nolint:contextcheck // called when no request uses it any more
}

// take returns a program that is loaded, for one user more; nil if it is not.
func (l *Library) take(key loadKey) *loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.loaded[key]
	if x != nil {
		x.users++
	}
	return x
}

// put keeps a program for its first user.
func (l *Library) put(key loadKey, c *compiled) *loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &loaded{compiled: c, users: 1}
	l.loaded[key] = x
	return x
}

// reads are the parts of an input that a program looks at, of those that cost
// something to find.
type reads struct{ id, metadata, headers, text bool }

// granted is what of it a binding grants.
func (r reads) granted(g *Grants) needs {
	n := needs{id: r.id, metadata: r.metadata}
	if r.headers {
		n.headers = g.Headers
	}
	if r.text {
		n.text = g.Text
	}
	return n
}

func (l *Library) release(key loadKey, x *loaded) {
	l.mu.Lock()
	x.users--
	last := x.users == 0
	if last {
		delete(l.loaded, key)
	}
	l.mu.Unlock()
	if last {
		l.discard(x.compiled)
	}
}

// gauge returns the gauge of a version.
func (l *Library) gauge(name, digest string) *gauge {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := gaugeKey{name, digest}
	g := l.gauges[key]
	if g == nil {
		g = &gauge{name: name, digest: digest, logger: l.options.Logger}
		l.gauges[key] = g
	}
	return g
}

// Keep forgets what is known of versions that a state does not have.
func (l *Library) Keep(s *State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.gauges {
		p, err := s.Policy(key.name)
		if err == nil {
			_, err = p.Version(key.digest)
		}
		if err != nil {
			delete(l.gauges, key)
		}
	}
}

// Status tells how a version is doing.
func (l *Library) Status(name, digest string) Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.gauges[gaugeKey{name, digest}]
	if g == nil {
		return Status{}
	}
	s := g.status(l.options.Clock())
	for key, x := range l.loaded {
		if key.name == name && key.digest == digest && x.hits != nil {
			s.CacheHits += x.hits.Load()
		}
	}
	return s
}

// Digest is the name of a version: the SHA-256 of what was uploaded, hex.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// sourceError explains what the sandbox refuses.
func sourceError(u *Upload, err error) error {
	if errors.Is(err, wasm.ErrQueueFull) {
		return fmt.Errorf("policy %q: %w: %w", u.Name, ErrBusy, err)
	}
	refused, ok := errors.AsType[*wasm.LoadError](err)
	if !ok {
		return fmt.Errorf("policy %q: %w", u.Name, err)
	}
	return &SourceError{Name: u.Name, Problems: problemsOf(u, refused)}
}
