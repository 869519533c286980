package wasm

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"gatewright/wasm/check"
)

// Module is a policy that is ready to be asked: a pool of instances of it. Its
// methods may be called by several goroutines; each call borrows an instance.
type Module struct {
	runtime *Runtime
	code    *code
	pool    *pool
	count   counters // of what no instance does
	pace    pace

	defaultBudget int64
	params        []byte
	data          []byte
	entrypoint    string
	host          map[string]HostFunc
	hostCost      func(name string, args []byte) int64
	own           bool
	room          atomic.Uint64 // of an OPA module: memory for an evaluation, in bytes

	info    Info
	learned sync.Once // entry points and built-ins, from the first instance
}

// Info is what a module is. It does not change after Load.
type Info struct {
	Name    string
	Digest  string // SHA-256 of the bytes, in hexadecimal
	Profile Profile
	Kind    check.Kind

	Manifest  *Manifest // nil = it has none
	Reasons   []string  // what verdicts are indexes into
	Structure check.Info

	Budget    int64 // of one call, in units
	Stateful  bool
	Instances int // made ahead

	Entrypoints []string // of an OPA module
	Builtins    []string // that the host serves it
}

// Info returns what the module is. Nobody may write into it.
func (m *Module) Info() Info { return m.info }

// learn notes what the first instance says of itself, before anybody else can
// see the module.
func (m *Module) learn(n *opaNames) {
	m.learned.Do(func() {
		m.info.Entrypoints = slices.Sorted(maps.Keys(n.entrypoints))
		m.info.Builtins = slices.Sorted(maps.Keys(n.builtins))
	})
}

// adopt makes the module one of the runtime's, unless that is closed.
func (r *Runtime) adopt(m *Module) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.modules[m] = struct{}{}
	return true
}

// free is called once, when no instance is left.
func (m *Module) free() {
	m.runtime.mu.Lock()
	delete(m.runtime.modules, m)
	m.runtime.mu.Unlock()
	m.runtime.drop(m.code)
}

// Close lets calls in flight end and frees the instances; calls that begin later
// are a fault of kind FaultClosed. If ctx ends first it returns the context's
// error, and the rest goes on in the background. It may be called more than
// once.
func (m *Module) Close(ctx context.Context) error {
	m.pool.close()
	select {
	case <-m.pool.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
