package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/check"
)

// Runtime runs the modules of one trust domain: they share an engine, a cache of
// compiled code and a bound on memory. Its methods may be called by several
// goroutines.
type Runtime struct {
	config    Config
	engine    wazero.Runtime
	uncached  wazero.Runtime // the same without the cache's folder; nil until it is needed
	validator wazero.Runtime // an engine that compiles nothing, and tells sooner what is not valid
	cache     wazero.CompilationCache
	account   account

	jobs       chan *job
	stop       chan struct{} // closed by Close
	background sync.WaitGroup
	gone       chan struct{} // closed when everything is freed

	mu      sync.Mutex // may be held while a pool's is taken, never the other way round
	closed  bool
	codes   map[codeKey]*code
	modules map[*Module]struct{}
}

// starting is held while an engine is made: making two at once races inside it.
var starting sync.Mutex

// NewRuntime makes a runtime. The error is about the cache's folder, or about a
// processor that the engine has no compiler for.
func NewRuntime(c Config) (r *Runtime, err error) {
	if c.MaxMemory == 0 {
		c.MaxMemory = defaultMemory
	}
	if c.Queue == 0 {
		c.Queue = defaultQueue
	}
	r = &Runtime{
		config: c, account: account{limit: c.MaxMemory},
		jobs: make(chan *job, c.Queue), stop: make(chan struct{}), gone: make(chan struct{}),
		codes: map[codeKey]*code{}, modules: map[*Module]struct{}{},
	}
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("make the sandbox: %v", p)
		}
	}()
	if c.CacheDir == "" {
		r.cache = wazero.NewCompilationCache()
	} else if r.cache, err = wazero.NewCompilationCacheWithDir(c.CacheDir); err != nil {
		return nil, fmt.Errorf("make the cache of compiled policies: %w", err)
	}
	starting.Lock()
	defer starting.Unlock()
	r.validator = wazero.NewRuntimeWithConfig(context.Background(), restrict(wazero.NewRuntimeConfigInterpreter()))
	r.engine, err = newEngine(r.cache)
	if err != nil {
		r.free()
		return nil, fmt.Errorf("make the sandbox: %w", err)
	}
	r.background.Go(r.work)
	return r, nil
}

// restrict is what holds for every module. The engine's own deadline stays off:
// it makes loops slow and does not stop everything, and budgets do.
func restrict(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithMemoryLimitPages(maxPages).
		WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false)).
		WithDebugInfoEnabled(false).
		WithCloseOnContextDone(false)
}

// newEngine makes an engine with the host modules that the profiles allow to
// import.
func newEngine(cache wazero.CompilationCache) (wazero.Runtime, error) {
	ctx := context.Background()
	e := wazero.NewRuntimeWithConfig(ctx, restrict(wazero.NewRuntimeConfigCompiler()).WithCompilationCache(cache))
	small, golang, opa := check.Small(), check.Go(), check.OPA()
	return e, errors.Join(
		offer(ctx, e, "gw", "gw", small.Imports, logFunctions),
		offer(ctx, e, wasiModule, wasiModule, golang.Imports, wasiFunctions),
		offer(ctx, e, envModule, hostModule, opa.Imports, opaFunctions),
	)
}

// Memory is how much linear memory all instances have now, in bytes.
func (r *Runtime) Memory() int64 { return r.account.used.Load() }

// Close closes every module and frees everything. It waits for calls and for
// the load in flight; if ctx ends first it returns the context's error, and
// the rest goes on in the background. It may be called more than once.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.stop)
		var last []*Module
		for m := range r.modules {
			m.pool.close()
			last = append(last, m)
		}
		go func() { //nolint:contextcheck // freeing goes on when the caller waits no longer
			for _, m := range last {
				<-m.pool.gone // no call is in flight any more
			}
			r.background.Wait()
			r.free()
			close(r.gone)
		}()
	}
	r.mu.Unlock()
	select {
	case <-r.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// free frees the engine. No instance is left, so nothing of it can fail.
func (r *Runtime) free() {
	ctx := context.Background()
	for _, c := range []interface {
		Close(ctx context.Context) error
	}{r.engine, r.uncached, r.validator, r.cache} {
		if c != nil {
			_ = c.Close(ctx)
		}
	}
}
