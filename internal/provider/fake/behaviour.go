package fake

import (
	"slices"
	"sync/atomic"
	"time"
)

// behaviour is a [Behaviour] made ready to be played, and the state that ends
// with it: how far its script is, and what is left of its quota.
type behaviour struct {
	models []string // as given; nil serves any
	served map[string]bool
	key    string
	pace   Latency
	answer answerPlan

	steps   []plannedStep
	repeat  bool
	decided atomic.Int64 // requests that the script was asked about
	always  plannedFault
	rate    uint64
	with    []plannedFault
	strikes map[Endpoint]bool

	quota *quota
}

// plannedFault is a fault of a script with its row of the table; a def of nil
// means no fault.
type plannedFault struct {
	Fault
	def *faultDef
}

// plannedStep is a step of a script; until counts the requests that it and the
// steps before it decide.
type plannedStep struct {
	plannedFault
	until int64
}

// prepare makes a valid behaviour ready.
func prepare(name string, b *Behaviour) *behaviour {
	p := &behaviour{
		models:  slices.Clone(b.Models),
		key:     b.APIKey,
		pace:    b.Latency,
		answer:  planAnswer(b.Answer, name),
		repeat:  b.Repeat,
		always:  plan(b.Always),
		rate:    uint64(b.Fail.Rate), //nolint:gosec // checked: 0 to a million
		strikes: map[Endpoint]bool{},
		quota:   newQuota(b.Quota),
	}
	if len(b.Models) > 0 {
		p.served = make(map[string]bool, len(b.Models))
		for _, m := range b.Models {
			p.served[m] = true
		}
	}
	var until int64
	for _, s := range b.Script {
		until += int64(max(s.Times, 1))
		p.steps = append(p.steps, plannedStep{plannedFault: plan(s.Fault), until: until})
	}
	for _, f := range b.Fail.With {
		p.with = append(p.with, plan(f))
	}
	on := b.FaultsOn
	if len(on) == 0 {
		on = faultyEndpoints()
	}
	for _, e := range on {
		p.strikes[e] = true
	}
	return p
}

func plan(f Fault) plannedFault {
	def, _ := lookup(f.Name) // nil for "ok" and for none
	return plannedFault{Fault: f, def: def}
}

// serves reports whether the upstream has a model.
func (b *behaviour) serves(model string) bool {
	return b.served == nil || b.served[model]
}

// scripted returns what the script decides for the next request; false when
// the script is over, or there is none.
func (b *behaviour) scripted() (*plannedFault, bool) {
	if len(b.steps) == 0 {
		return nil, false
	}
	n, total := b.decided.Add(1)-1, b.steps[len(b.steps)-1].until
	if b.repeat {
		n %= total
	}
	if n >= total {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(b.steps, n, func(s plannedStep, n int64) int {
		if s.until <= n {
			return -1
		}
		return 1
	})
	return &b.steps[i].plannedFault, true
}

// choose decides what strikes a request; nil for nothing.
func (b *behaviour) choose(c *call, d *dice) *plannedFault {
	if !b.strikes[c.endpoint] {
		return nil
	}
	f, ok := b.scripted()
	switch {
	case ok:
	case b.always.def != nil:
		f = &b.always
	default:
		f = b.drawn(c, d)
	}
	if f == nil || f.def == nil || !f.def.fits(c) {
		return nil
	}
	return f
}

// drawn throws the dice; nil for no fault this time.
func (b *behaviour) drawn(c *call, d *dice) *plannedFault {
	if b.rate == 0 || d.below(Million) >= b.rate {
		return nil
	}
	fitting := uint64(0)
	for i := range b.with {
		if b.with[i].def == nil || b.with[i].def.fits(c) {
			fitting++
		}
	}
	if fitting == 0 {
		return nil
	}
	at := d.below(fitting)
	for i := range b.with {
		if b.with[i].def != nil && !b.with[i].def.fits(c) {
			continue
		}
		if at == 0 {
			return &b.with[i]
		}
		at--
	}
	return nil
}

// progress is how far a script is: the requests decided and those it decides
// in all.
func (b *behaviour) progress() (decided, total int64) {
	if len(b.steps) == 0 {
		return 0, 0
	}
	total = b.steps[len(b.steps)-1].until
	decided = b.decided.Load()
	if b.repeat {
		return decided % total, total
	}
	return min(decided, total), total
}

// beforeHeaders is the wait before the headers, counted from the request.
func (l *Latency) beforeHeaders(d *dice) time.Duration { return d.jitter(l.Headers, l.Jitter) }

// beforeContent is the wait before the first content, counted from the request.
func (l *Latency) beforeContent(d *dice) time.Duration {
	return max(d.jitter(l.FirstToken, l.Jitter), 0)
}

// between is the wait between two pieces.
func (l *Latency) between(d *dice) time.Duration { return d.jitter(l.PerToken, l.Jitter) }
