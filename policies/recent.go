package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"gatewright/wasm/rego"
)

// maxRecent is how many compiled Rego policies are kept for the next binding or
// activation: compiling one takes some ten milliseconds, and about 200 KiB.
const maxRecent = 64

// recent keeps what was compiled last. Its methods may run in parallel.
type recent struct {
	mu    sync.Mutex
	known map[string]*recentRule
	keys  []string // oldest first
}

// recentRule is one of them.
type recentRule struct {
	mu     sync.Mutex
	module *rego.Module // nil = made is still to be read
	made   []byte       // by another process
}

// whole returns the module, whose source it is.
func (x *recentRule) whole(source rego.Source) (*rego.Module, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.module != nil {
		return x.module, nil
	}
	m := new(rego.Module)
	if err := json.Unmarshal(x.made, m); err != nil {
		return nil, fmt.Errorf("read what was made of it: %w", err)
	}
	if err := m.Restore(source); err != nil {
		return nil, err
	}
	x.module, x.made = m, nil
	return m, nil
}

// compile returns the module of a source, from memory if it was compiled before
// under the same file name and kind.
func (r *recent) compile(ctx context.Context, u *Upload, source rego.Source) (*rego.Module, error) {
	if x := r.find(u); x != nil {
		return x.whole(source)
	}
	m, err := rego.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	r.keep(u, &recentRule{module: m})
	return m, nil
}

// of returns what was made here of an upload; nil = it is not known, or no Rego.
func (r *recent) of(u *Upload) *rego.Module {
	x := r.find(u)
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.module
}

func (r *recent) find(u *Upload) *recentRule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[recentKey(u)]
}

func recentKey(u *Upload) string { return Digest(u.Body) + " " + string(u.Kind) + " " + u.file() }

// keep keeps what was made of an upload, unless something is kept already.
func (r *recent) keep(u *Upload, x *recentRule) {
	key := recentKey(u)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] != nil {
		return
	}
	if len(r.keys) == maxRecent {
		delete(r.known, r.keys[0])
		r.keys = r.keys[1:]
	}
	r.keys = append(r.keys, key)
	if r.known == nil {
		r.known = make(map[string]*recentRule, maxRecent)
	}
	r.known[key] = x
}
