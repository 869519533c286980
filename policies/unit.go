package policies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewright/engine"
	"gatewright/wasm/abi"
)

// program is one version of a policy, ready to run with the parameters of a
// binding. Its methods may run in parallel. An error is a fault: whatever is in
// the verdict then is void.
type program interface {
	// decide fills the verdict for an input: of an admission the refusal and the
	// removals, of a ranking one score a candidate.
	decide(ctx context.Context, in *input, out *verdict) error
}

// unit is a program in its place: a version that a binding uses.
type unit struct {
	digest  string
	program program
	gauge   *gauge
}

// errSuspended is a policy that is not asked, because it failed too often.
var errSuspended = errors.New("it failed too often and is not asked for now")

// run evaluates the unit. took is how long that was, 0 for an answer that was kept. A request that ends before it
// is answered is no fault of the policy, and nobody has a use for an answer.
func (u *unit) run(ctx context.Context, r *engine.Request, in *input, out *verdict) (took time.Duration, err error) {
	out.reset()
	if !u.gauge.ready(r.Now) {
		return 0, errSuspended
	}
	err = u.decide(ctx, in, out)
	took = out.took()
	if err == nil {
		u.gauge.evaluations.Add(1)
		return took, nil
	}
	out.reset()
	if !errors.Is(err, ctx.Err()) {
		u.gauge.evaluations.Add(1)
		u.gauge.fault(r.Now, err)
	}
	return took, err
}

// decide turns a panic into a fault.
func (u *unit) decide(ctx context.Context, in *input, out *verdict) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the policy's evaluation panicked: %v", v)
		}
	}()
	return u.program.decide(ctx, in, out)
}

// bound is a policy as one binding uses it.
type bound struct {
	binding *Binding
	kind    Kind
	needs   needs
	active  *unit // nil = no version is active
	canary  *unit // nil = none
	shadow  *unit // nil = none
	share   uint64
}

// used returns the version that a request gets, and in which mode; nil if it
// gets none.
func (b *bound) used(r *engine.Request) (u *unit, mode string) {
	if b.canary != nil && draw(r.Seed, b.binding.Policy) < b.share {
		return b.canary, engine.ModeCanary
	}
	return b.active, ""
}

// shareOf turns ppm into what draw is compared with.
func shareOf(ppm int64) uint64 {
	return uint64(ppm) << 44 / million //nolint:gosec // 0 to 1e6
}

// draw is a number below 2^44 that follows from the request's seed, which is the
// same for all turns of a session, and differs from policy to policy.
func draw(seed uint64, name string) uint64 {
	h := seed
	for i := range len(name) { // FNV-1a, over the seed
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	// The finalizer of SplitMix64 (Steele, Lea, Flood 2014) spreads what FNV
	// leaves in the low bits.
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return (h ^ h>>31) >> 20
}

// record begins the record of an evaluation.
func (b *bound) record(u *unit, stage, mode string, took time.Duration) engine.PolicyRecord {
	return engine.PolicyRecord{
		Name: b.binding.Policy, Version: u.digest, Stage: stage, Mode: mode,
		Micros: took.Microseconds(), Stateful: b.binding.Stateful,
	}
}

// stageOf is the contract's stage of a kind.
func stageOf(k Kind) abi.Stage {
	if k == Ranking {
		return abi.Ranking
	}
	return abi.Admission
}
