package wasm

import "sync/atomic"

// counters count what happened. Each instance has its own, so that processors
// do not share them.
type counters struct {
	calls, units                     atomic.Uint64
	faults                           [FaultClosed + 1]atomic.Uint64
	lines, dropped, output, builtins atomic.Uint64
	made, failed, grown              atomic.Uint64
}

// add adds those of another.
func (c *counters) add(o *counters) {
	c.calls.Add(o.calls.Load())
	c.units.Add(o.units.Load())
	for k := range c.faults {
		c.faults[k].Add(o.faults[k].Load())
	}
	c.lines.Add(o.lines.Load())
	c.dropped.Add(o.dropped.Load())
	c.output.Add(o.output.Load())
	c.builtins.Add(o.builtins.Load())
	c.made.Add(o.made.Load())
	c.failed.Add(o.failed.Load())
	c.grown.Add(o.grown.Load())
}

// Stats are what a module has done since it was loaded.
type Stats struct {
	Calls  uint64 // evaluations that began
	Units  uint64 // of budget that they used
	Faults map[FaultKind]uint64

	Made     uint64 // instances
	NotMade  uint64 // attempts to make one that failed
	Outgrown uint64 // instances replaced because their memory had grown

	LogLines   uint64 // lines of gw.log that reached the log
	LogDropped uint64 // lines that did not: too many, or nobody wants that level
	Output     uint64 // bytes written to standard output, and dropped
	Builtins   uint64 // calls of built-ins that the host serves

	Instances int   // now
	InUse     int   // of them
	Memory    int64 // bytes of linear memory that they have
}

// Stats returns what the module has done.
func (m *Module) Stats() Stats {
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := &counters{}
	sum.add(&m.count)
	sum.add(&p.retired)
	s := Stats{Faults: map[FaultKind]uint64{}, Instances: p.live, InUse: p.inUse}
	for i := range p.all {
		sum.add(i.count)
		s.Memory += i.linear.inUse()
	}
	s.Calls, s.Units = sum.calls.Load(), sum.units.Load()
	for k := range sum.faults {
		if n := sum.faults[k].Load(); n > 0 {
			s.Faults[FaultKind(k)] = n
		}
	}
	s.Made, s.NotMade, s.Outgrown = sum.made.Load(), sum.failed.Load(), sum.grown.Load()
	s.LogLines, s.LogDropped = sum.lines.Load(), sum.dropped.Load()
	s.Output, s.Builtins = sum.output.Load(), sum.builtins.Load()
	return s
}
