package wasm

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// patience is how long a call waits for an instance. There is one for each
// processor and a call never waits for anything, so all are taken only while the
// system lets others run, and a moment later one is free.
const patience = 10 * time.Millisecond

// pool holds the instances of a module. The one that was used last is taken
// first: its memory is still in the processor's cache.
type pool struct {
	owner *Module
	want  int // instances

	mu      sync.Mutex
	idle    []*instance
	spent   []*instance            // to be closed
	all     map[*instance]struct{} // that are not closed
	live    int                    // idle and in use
	inUse   int
	waiting int  // callers, those apart for whom an instance lies in handoff
	tending bool // tend runs
	closed  bool
	retired counters // of instances that are closed

	handoff chan *instance // for callers that wait
	stop    chan struct{}  // closed by close
	gone    chan struct{}  // closed when nothing is left
}

func newPool(owner *Module, want int) *pool {
	return &pool{
		owner: owner, want: want, all: make(map[*instance]struct{}, want),
		handoff: make(chan *instance, want), stop: make(chan struct{}), gone: make(chan struct{}),
	}
}

// get takes an instance out. It waits for one for patience at most, then it is a
// fault.
func (p *pool) get(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, &Fault{Kind: FaultClosed, Detail: "it was closed"}
	}
	if n := len(p.idle); n > 0 {
		i := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.inUse++
		p.mu.Unlock()
		return i, nil
	}
	p.waiting++
	p.mu.Unlock()
	return p.wait(ctx)
}

func (p *pool) wait(ctx context.Context) (*instance, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case i := <-p.handoff:
		return i, nil
	case <-timer.C:
		err = &Fault{Kind: FaultBusy, Detail: "no instance was free within " + patience.String()}
	case <-p.stop:
		err = &Fault{Kind: FaultClosed, Detail: "it was closed"}
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case i := <-p.handoff: // given in the last moment, maybe to another one who still waits
		return i, nil
	default:
		p.waiting--
		return nil, err
	}
}

// put gives an instance back, to be used again or, if it is spent, to be closed
// and replaced.
func (p *pool) put(i *instance, spent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse--
	if spent || p.closed {
		p.live--
		p.spent = append(p.spent, i)
		p.tend()
		return
	}
	p.offer(i)
}

// offer hands an instance to a caller that waits, or keeps it. p.mu is held.
func (p *pool) offer(i *instance) {
	if p.waiting > 0 {
		p.waiting--
		p.inUse++
		p.handoff <- i // has room for every instance
		return
	}
	p.idle = append(p.idle, i)
}

// tend sees to it that somebody closes what is spent and makes what is missing.
// p.mu is held.
func (p *pool) tend() {
	if p.tending {
		return
	}
	p.tending = true
	p.owner.runtime.background.Go(p.work)
}

// Making an instance may fail for lack of memory. Then it is tried again later
// and later.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 2 * time.Second
)

// work closes and makes instances until nothing is left to do.
func (p *pool) work() {
	pause := firstPause
	for {
		p.mu.Lock()
		spent := p.spent
		p.spent = nil
		missing := !p.closed && p.live < p.want
		if len(spent) == 0 && !missing {
			p.tending = false
			empty := p.closed && p.live == 0
			p.mu.Unlock()
			if empty {
				p.owner.free()
				close(p.gone)
			}
			return
		}
		p.mu.Unlock()
		for _, i := range spent {
			p.retire(i)
		}
		if !missing {
			continue
		}
		if err := p.make(); err != nil {
			p.owner.complain(err)
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-p.stop:
				timer.Stop()
			}
			pause = min(2*pause, lastPause)
		}
	}
}

// make adds an instance.
func (p *pool) make() error {
	i, err := p.owner.newInstance()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[i] = struct{}{}
	p.live++
	if p.closed {
		p.live--
		p.spent = append(p.spent, i) // the next turn of work closes it
		return nil
	}
	p.owner.count.made.Add(1)
	p.offer(i)
	return nil
}

// retire closes an instance and keeps what it has counted.
func (p *pool) retire(i *instance) {
	i.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired.add(i.count)
	delete(p.all, i)
}

// close ends the pool: calls in flight go on, no more begin.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	close(p.stop)
	p.live -= len(p.idle)
	p.spent = append(p.spent, p.idle...)
	p.idle = nil
	p.tend()
}

// complain reports an instance that could not be made.
func (m *Module) complain(err error) {
	m.count.failed.Add(1)
	if log := m.runtime.config.Log; log != nil {
		log.LogAttrs(context.Background(), slog.LevelWarn, "policy instance not made", slog.String("policy", m.info.Name), slog.String("error", oneLine(err.Error())))
	}
}
