package wasm

import (
	"context"
	"fmt"
	"sync"
)

// job is a load that waits for its turn.
type job struct {
	source Source
	done   chan struct{}

	mu        sync.Mutex
	abandoned bool
	module    *Module
	err       error
}

// Load takes a module through every step before it may run; see Source. It is
// done by one background worker for the whole runtime, so hostile modules can
// use one processor at most. The error is a *LoadError about the module,
// ErrQueueFull, ErrClosed or, if ctx ends first, the context's: the worker then
// finishes and throws the module away.
//
// Modules of the same bytes and profile share their compiled code.
func (r *Runtime) Load(ctx context.Context, s Source) (*Module, error) {
	j := &job{source: s, done: make(chan struct{})}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	select {
	case r.jobs <- j:
	default:
		r.mu.Unlock()
		return nil, ErrQueueFull
	}
	r.mu.Unlock()
	select {
	case <-j.done:
		return j.module, j.err
	case <-ctx.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.abandoned = true
	if j.module != nil {
		j.module.pool.close()
	}
	return nil, ctx.Err()
}

// work does one load after another.
func (r *Runtime) work() {
	for {
		select {
		case <-r.stop:
			r.refuseRest()
			return
		default:
		}
		select {
		case j := <-r.jobs:
			r.serve(j)
		case <-r.stop:
		}
	}
}

func (r *Runtime) serve(j *job) {
	j.mu.Lock()
	given := j.abandoned
	j.mu.Unlock()
	var m *Module
	var err error
	if !given {
		m, err = r.protectedLoad(&j.source)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.abandoned {
		if m != nil {
			m.pool.close()
		}
	} else {
		j.module, j.err = m, err
	}
	close(j.done)
}

// refuseRest answers those that still wait. None come after them: Load looks at
// closed first.
func (r *Runtime) refuseRest() {
	for {
		select {
		case j := <-r.jobs:
			j.err = ErrClosed
			close(j.done)
		default:
			return
		}
	}
}

// protectedLoad loads a module inside a recover: hostile bytes can make the
// engine panic.
func (r *Runtime) protectedLoad(s *Source) (m *Module, err error) {
	step := StepSource
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("the engine panicked: %v", p)
		}
		if err != nil {
			err = &LoadError{Module: s.Name, Step: step, Err: err}
		}
	}()
	return r.load(s, &step)
}
