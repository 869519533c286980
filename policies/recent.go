package policies

import (
	"context"
	"sync"

	"gatewright/wasm/rego"
)

// maxRecent is how many compiled Rego policies are kept for the next binding or
// activation: compiling one takes some ten milliseconds, and about 200 KiB.
const maxRecent = 64

// recent keeps what was compiled last. Its methods may run in parallel.
type recent struct {
	mu    sync.Mutex
	known map[string]*rego.Module
	keys  []string // oldest first
}

// compile returns the module of a source, from memory if it was compiled before
// under the same file name and kind.
func (r *recent) compile(ctx context.Context, u *Upload, source rego.Source) (*rego.Module, error) {
	key := Digest(u.Body) + " " + string(u.Kind) + " " + u.file()
	r.mu.Lock()
	m := r.known[key]
	r.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := rego.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] == nil {
		if len(r.keys) == maxRecent {
			delete(r.known, r.keys[0])
			r.keys = r.keys[1:]
		}
		r.keys = append(r.keys, key)
		if r.known == nil {
			r.known = make(map[string]*rego.Module, maxRecent)
		}
		r.known[key] = m
	}
	return m, nil
}
