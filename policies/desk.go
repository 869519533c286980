package policies

import (
	"slices"
	"sync"

	"gatewright/engine"
	"gatewright/wasm/abi"
)

// desk is what the policies of one snapshot share: what stays the same of its pools,
// and the memory of evaluations. Its methods may run in parallel.
type desk struct {
	labels  labels
	scratch sync.Pool

	lineups sync.Map   // []*lineup by the pool's first *engine.Deployment
	adding  sync.Mutex // of lineups
}

func newDesk(providers []*engine.Provider) *desk {
	d := &desk{labels: newLabels(providers)}
	d.scratch.New = func() any { return &scratch{desk: d} }
	return d
}

// scratch is the memory of the policies of one pool: the input, filled for it, and
// what they answered.
type scratch struct {
	desk   *desk
	in     input
	used   verdict
	shadow verdict

	request *engine.Request // that the input is filled for; nil while nobody uses it
	pool    []engine.Candidate
}

var _ engine.Memo = (*scratch)(nil)

// about returns memory with the input filled for a pool. What a policy has left that
// was asked before is taken, and who was removed since then noted. It belongs to the
// trail, for those that are asked after.
func (d *desk) about(r *engine.Request, pool []engine.Candidate, trail *engine.Trail) *scratch {
	if s, ok := trail.Left().(*scratch); ok && s.of(d, r, pool) {
		s.in.refresh(pool)
		return s
	}
	s, _ := d.scratch.Get().(*scratch)
	s.request, s.pool = r, pool
	s.in.fill(r, pool, d)
	trail.Leave(s)
	return s
}

// of reports whether the input is filled for this pool, by the same desk.
func (s *scratch) of(d *desk, r *engine.Request, pool []engine.Candidate) bool {
	return s.desk == d && s.request == r && len(s.pool) == len(pool) && &s.pool[0] == &pool[0]
}

// Done implements engine.Memo.
func (s *scratch) Done() {
	s.request, s.pool = nil, nil
	s.desk.scratch.Put(s)
}

// lineup is what stays the same of a pool from one request to the next.
type lineup struct {
	deployments []*engine.Deployment
	roster      *abi.Roster
	columns     [columns]column
}

// maxLineups is how many pools are kept that begin with the same deployment. A model
// has one, and some more where callers name a provider or continue what one has
// issued.
const maxLineups = 4

// lineup returns that of a pool, made when the pool is first seen; nil if there are
// too many, or candidates.
func (d *desk) lineup(pool []engine.Candidate) *lineup {
	list := d.known(pool)
	for _, l := range list {
		if l.is(pool) {
			return l
		}
	}
	if len(list) >= maxLineups || len(pool) > abi.MaxRecords {
		return nil
	}
	return d.add(pool)
}

func (d *desk) known(pool []engine.Candidate) []*lineup {
	v, _ := d.lineups.Load(pool[0].Deployment)
	list, _ := v.([]*lineup)
	return list
}

func (l *lineup) is(pool []engine.Candidate) bool {
	if len(l.deployments) != len(pool) {
		return false
	}
	for i, d := range l.deployments {
		if pool[i].Deployment != d {
			return false
		}
	}
	return true
}

func (d *desk) add(pool []engine.Candidate) *lineup {
	d.adding.Lock()
	defer d.adding.Unlock()
	list := d.known(pool)
	if i := slices.IndexFunc(list, func(l *lineup) bool { return l.is(pool) }); i >= 0 {
		return list[i]
	}
	l := &lineup{deployments: make([]*engine.Deployment, len(pool))}
	records := make([]abi.Candidate, len(pool))
	for i := range pool {
		l.deployments[i] = pool[i].Deployment
		fillFixed(&records[i], pool[i].Deployment, d.labels)
	}
	var err error
	if l.roster, err = abi.NewRoster(records); err != nil {
		return nil // what it is about, an evaluation will say
	}
	for kind := range columns {
		l.columns[kind] = newColumn(kind, records)
	}
	d.lineups.Store(pool[0].Deployment, append(slices.Clip(list), l))
	return l
}
