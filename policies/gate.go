package policies

import (
	"context"
	"errors"

	"gatewright/engine"
)

// gate is every admission policy of a snapshot as one engine.Check. It asks
// those that are bound to the request, in their order, until one refuses all of
// it.
type gate struct {
	everyone []*bound            // bound to no key, team or org
	byKey    map[string][]*bound // of one key
	byTeam   map[string][]*bound
	byOrg    map[string][]*bound
	order    map[*bound]int
	desk     *desk
}

var _ engine.Check = (*gate)(nil)

// newGate makes the check of bound admission policies, which come in their order.
func newGate(list []*bound, d *desk) *gate {
	g := &gate{
		byKey: map[string][]*bound{}, byTeam: map[string][]*bound{}, byOrg: map[string][]*bound{},
		order: make(map[*bound]int, len(list)), desk: d,
	}
	for i, b := range list {
		g.order[b] = i
		switch {
		case b.binding.Key != "":
			g.byKey[b.binding.Key] = append(g.byKey[b.binding.Key], b)
		case b.binding.Team != "":
			g.byTeam[b.binding.Team] = append(g.byTeam[b.binding.Team], b)
		case b.binding.Org != "":
			g.byOrg[b.binding.Org] = append(g.byOrg[b.binding.Org], b)
		default:
			g.everyone = append(g.everyone, b)
		}
	}
	return g
}

// Name is what a fault of the check itself would be recorded under; policies
// record themselves.
func (g *gate) Name() string { return "policies" }

// Refuse asks the policies; it never fails, for a fault of one of them becomes
// what its binding says.
func (g *gate) Refuse(ctx context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	if len(pool) == 0 {
		return nil
	}
	c := r.Caller
	lists := [...][]*bound{g.everyone, g.byOrg[c.Org], g.byTeam[c.Team], g.byKey[c.Key]}
	b := g.next(&lists, c, pool[0].Model)
	if b == nil {
		return nil
	}
	s := g.desk.about(r, pool, &out.Trail)
	for b != nil && b.admit(ctx, r, s, out) {
		b = g.next(&lists, c, pool[0].Model)
	}
	return nil
}

// next takes the binding that comes first in the order, of those that serve the
// caller and the model, out of the lists; nil when there is none left.
func (g *gate) next(lists *[4][]*bound, c *engine.Caller, model string) *bound {
	for {
		best := -1
		for i, list := range lists {
			if len(list) > 0 && (best < 0 || g.order[list[0]] < g.order[lists[best][0]]) {
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		b := lists[best][0]
		lists[best] = lists[best][1:]
		if b.binding.serves(c, model) {
			return b
		}
	}
}

// admit asks one policy, and its shadow if it has one. It reports whether the
// request goes on.
func (b *bound) admit(ctx context.Context, r *engine.Request, s *scratch, out *engine.Refusals) bool {
	s.in.client(r, &b.needs)
	goesOn := true
	u, mode := b.used(r)
	if u != nil {
		took, err := u.run(ctx, r, &s.in, &s.used)
		rec := b.record(u, engine.StageAdmission, mode, took)
		if err != nil {
			goesOn = b.failed(err, &rec, out)
		} else {
			goesOn = b.apply(&s.used, &rec, out)
		}
		out.Trail.Record(rec)
	}
	if b.shadow != nil && b.shadow != u {
		took, err := b.shadow.run(ctx, r, &s.in, &s.shadow)
		rec := b.record(b.shadow, engine.StageAdmission, engine.ModeShadow, took)
		if err != nil {
			b.failed(err, &rec, nil)
		} else {
			b.apply(&s.shadow, &rec, nil)
			rec.Differs = u != nil && !sameAdmission(&s.used, &s.shadow)
		}
		if rec.Differs {
			b.shadow.gauge.differs.Add(1)
		}
		out.Trail.Record(rec)
	}
	if u != nil && goesOn {
		s.in.skip(&s.used)
	}
	return goesOn
}

// failed does what the binding says about a fault; with a nil out it only says
// so. It reports whether the request goes on.
func (b *bound) failed(err error, rec *engine.PolicyRecord, out *engine.Refusals) bool {
	rec.Detail = bounded(err.Error())
	if b.binding.OnFault == FailOpen {
		rec.Outcome = engine.OutcomeOpen
		return true
	}
	if rec.Outcome = engine.OutcomeClosed; errors.Is(err, errSuspended) {
		rec.Outcome = engine.OutcomeSuspended
	}
	if out != nil {
		out.Refuse(engine.Refusal{
			Reason: b.reason(), Code: engine.CodePolicyError, Detail: "the policy " + quoted(b.binding.Policy) + " cannot decide",
		})
	}
	return false
}

// apply hands a verdict to the engine; with a nil out it only records it. It
// reports whether the request goes on.
func (b *bound) apply(v *verdict, rec *engine.PolicyRecord, out *engine.Refusals) bool {
	if f := &v.refusal; f.status != 0 {
		rec.Outcome, rec.Detail = engine.OutcomeRefused, f.code
		if out != nil {
			out.Refuse(b.refusal(f))
		}
		return false
	}
	rec.Outcome = engine.OutcomeAllowed
	if n := len(v.removals); n > 0 {
		rec.Outcome, rec.Removed = engine.OutcomeRemoved, n
	}
	if out != nil {
		for i := range v.removals {
			m := &v.removals[i]
			if m.until.IsZero() {
				out.Remove(m.index, b.reason(), m.reason)
			} else {
				out.RemoveUntil(m.index, b.reason(), m.reason, m.until)
			}
		}
	}
	return true
}

// refusal is a policy's refusal in the engine's terms.
func (b *bound) refusal(f *refusal) engine.Refusal {
	code, message := f.code, f.message
	if code == "" {
		code = b.binding.Policy
	}
	if message == "" {
		message = "the policy " + quoted(b.binding.Policy) + " refuses the request"
	}
	return engine.Refusal{Reason: b.reason(), Code: code, Status: f.status, Detail: message, RetryAfter: f.retryAfter}
}

func (b *bound) reason() engine.Reason { return engine.PolicyReason(b.binding.Policy) }

func quoted(name string) string { return `"` + name + `"` }
