package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewright/builtin"
	"gatewright/engine"
)

// world is one model's pool with everything that is known of it, without a
// network behind it: the engine plans, nobody is called.
type world struct {
	request    *engine.Request
	candidates []engine.Candidate // as the rules see them
	session    string             // deployment that last served the session; "" = none
	affinityOn bool
	checks     []engine.Check
}

var (
	_ engine.SignalSource = (*world)(nil)
	_ engine.Affinity     = (*world)(nil)
)

// Signals hands out what the world knows.
func (w *world) Signals(_ time.Time, pool []engine.Candidate) {
	for i := range pool {
		for j := range w.candidates {
			if w.candidates[j].ID == pool[i].ID {
				pool[i].Signals = w.candidates[j].Signals
			}
		}
	}
}

// Target returns what last served the session.
func (w *world) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{Deployment: w.session}, w.session != ""
}

// Succeeded is not called by plans.
func (w *world) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}

// model is the name that every world's pool goes by.
const model = "m"

// planner is a world's engine with one strategy in place.
type planner struct {
	engine   *engine.Engine
	snapshot *engine.Snapshot
	request  engine.Request
}

func (w *world) planner(s *engine.Strategy) (*planner, error) {
	spec := engine.Spec{
		Strategies: map[string]*engine.Strategy{s.Name: s}, Default: s.Name, Checks: w.checks,
		AffinityOn: w.affinityOn, SessionTTL: time.Hour,
	}
	m := &engine.Model{Name: model, Route: engine.Route{Retry: engine.DefaultRetryPolicy()}}
	seen := map[string]bool{}
	for i := range w.candidates {
		d := *w.candidates[i].Deployment // a snapshot owns its deployments
		if !seen[d.Provider.ID] {
			seen[d.Provider.ID] = true
			spec.Providers = append(spec.Providers, d.Provider)
		}
		m.Deployments = append(m.Deployments, &d)
	}
	spec.Models = []*engine.Model{m}
	snapshot, err := engine.NewSnapshot(spec, nil)
	if err != nil {
		return nil, err
	}
	p := &planner{engine: engine.New(snapshot, w, w, nil, nil), snapshot: snapshot, request: *w.request}
	p.request.Model = model
	if len(w.candidates) > 0 && w.candidates[0].Locked {
		p.request.Model = w.candidates[0].Provider.ID + "/" + model
	}
	return p, nil
}

// plan returns the decision for one seed. That nobody may be called now is no
// error: the decision says who was removed and in which order the rest stands.
func (p *planner) plan(seed uint64) (*engine.Decision, error) {
	r := p.request
	r.Seed = seed
	d, err := p.engine.Plan(context.Background(), p.snapshot, &r)
	if refused, ok := errors.AsType[*engine.RefusedError](err); ok && refused.Status == 0 {
		err = nil
	}
	return d, err
}

// load builds the world that a case describes.
func load(in *input, f *facts) (*world, error) {
	if in.V != 1 {
		return nil, fmt.Errorf("v is %d, want 1", in.V)
	}
	now := time.UnixMilli(in.Request.NowUnixMS).UTC()
	w := &world{affinityOn: true}
	var err error
	if w.request, err = loadRequest(in, f, now); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	providers := map[string]*engine.Provider{}
	preferred := map[string]bool{}
	for i := range in.Candidates {
		c := &in.Candidates[i]
		known := f.Candidates[c.ID]
		p := providers[c.Provider]
		if p == nil {
			p = &engine.Provider{
				ID: c.Provider, SupplyTier: c.SupplyTier, Region: c.Region,
				Enabled: !f.Providers[c.Provider].Disabled, HasCredential: !f.Providers[c.Provider].NoCredential,
			}
			providers[c.Provider], preferred[c.Provider] = p, c.Preferred
		}
		if p.SupplyTier != c.SupplyTier || preferred[c.Provider] != c.Preferred {
			return nil, fmt.Errorf("candidate %s: another supply tier or preference than provider %s has", c.ID, c.Provider)
		}
		candidate, err := loadCandidate(i, c, &known, now)
		if err != nil {
			return nil, fmt.Errorf("candidate %s: %w", c.ID, err)
		}
		candidate.Provider = p
		if c.Affinity || known.LastOfSession {
			w.session, w.affinityOn = c.ID, c.Affinity
		}
		if c.Preferred {
			w.request.Caller.Preferred[c.Provider] = struct{}{}
		}
		w.candidates = append(w.candidates, candidate)
	}
	return w, w.consistent(in)
}

func loadRequest(in *input, f *facts, now time.Time) (*engine.Request, error) {
	q := &in.Request
	e, err := endpoint(q.Endpoint)
	if err != nil {
		return nil, err
	}
	needs, err := capabilities(f.Request.Needs)
	if err != nil {
		return nil, err
	}
	for need, asked := range map[engine.Capabilities]bool{
		engine.CapTools: q.Tools, engine.CapVision: q.Vision, engine.CapAudio: q.Audio,
		engine.CapJSONSchema: q.JSONSchema, engine.CapReasoning: q.Reasoning,
	} {
		if asked {
			needs |= need
		}
	}
	r := &engine.Request{
		Model: q.Model, Endpoint: e, Stream: q.Stream, Needs: needs, Now: now,
		InputTokens: q.InputTokens, MaxOutput: q.MaxOutputTokens,
		MaxTTFT: time.Duration(f.Request.MaxTTFTMS) * time.Millisecond, MaxCost: f.Request.MaxCostNUSD,
		Caller: &engine.Caller{
			Key:           q.Key,
			AllowedModels: engine.NewSet(f.Caller.AllowedModels), AllowedProviders: engine.NewSet(f.Caller.AllowedProviders),
			SupplyTiers: engine.NewSet(f.Caller.SupplyTiers), Preferred: engine.Set{},
			MaxTTFT: time.Duration(f.Caller.MaxTTFTMS) * time.Millisecond, MaxCost: f.Caller.MaxCostNUSD,
		},
	}
	if q.Session != "" {
		copy(r.Session.Key[:], q.Session)
		r.Session.Source = "header"
	}
	return r, nil
}

func loadCandidate(listed int, c *inputCandidate, f *candidateFacts, now time.Time) (engine.Candidate, error) {
	endpoints := engine.EndpointSet(engine.EndpointChat, engine.EndpointCompletions, engine.EndpointEmbeddings)
	if f.Endpoints != nil {
		endpoints = 0
	}
	for _, name := range f.Endpoints {
		e, err := endpoint(name)
		if err != nil {
			return engine.Candidate{}, err
		}
		endpoints |= engine.EndpointSet(e)
	}
	can, err := capabilities(f.Capabilities)
	if err != nil {
		return engine.Candidate{}, err
	}
	known, err := capabilities(f.CapabilitiesKnown)
	if err != nil {
		return engine.Candidate{}, err
	}
	state, err := circuit(c.Circuit)
	if err != nil {
		return engine.Candidate{}, err
	}
	d := &engine.Deployment{
		ID: c.ID, Model: model, UpstreamModel: c.UpstreamModel, Enabled: !f.Disabled, Priority: c.Priority, Weight: 1, Listed: listed,
		Context: c.ContextLimit, MaxOutput: c.MaxOutput, Caps: can, CapsKnown: known, Endpoints: endpoints,
	}
	if c.Model != "" {
		d.Model = c.Model
	}
	if c.Weight != nil {
		d.Weight = *c.Weight
	}
	if c.PriceIn != nil && c.PriceOut != nil {
		d.Price = engine.Price{Known: true, Input: *c.PriceIn, Output: *c.PriceOut, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
	}
	if s := f.Sale; s != nil {
		d.Price = engine.Price{Known: true, Input: s.PriceIn, Output: s.PriceOut, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
		d.Sale = engine.Sale{Multiplier: s.MultiplierPPM, From: unixMS(s.FromUnixMS), Until: unixMS(s.UntilUnixMS)}
	}
	s := engine.Signals{
		Circuit: state, ProbeTaken: f.ProbeTaken, CooldownUntil: unixMS(f.CooldownUntilUnixMS),
		TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
		InFlight: c.InFlight, Throughput: number(c.ThroughputMilli), SuccessPPM: number(c.SuccessPPM),
		TokensThisMinute: f.TokensThisMinute, LastSuccess: unixMS(c.LastSuccessUnixMS), Quota: quota(c, f, now),
	}
	if state == engine.CircuitOpen {
		s.CircuitUntil = now.Add(time.Minute)
	}
	if c.TTFTMS != nil {
		s.TTFT = time.Duration(*c.TTFTMS) * time.Millisecond
	}
	if f.TTFTMicros != nil {
		s.TTFT = time.Duration(*f.TTFTMicros) * time.Microsecond
	}
	out := engine.Candidate{
		Deployment: d, Signals: s, Locked: c.Locked, Preferred: c.Preferred,
		Affinity: c.Affinity, LastOfSession: c.Affinity || f.LastOfSession,
	}
	if c.Skipped != nil {
		out.Skipped = &engine.Skipped{Deployment: c.ID, Reason: c.Skipped.Reason, Until: unixMS(c.Skipped.UntilUnixMS)}
	}
	return out, nil
}

// consistent checks the numbers that a case gives twice: rules in another
// language read the document's, built-in rules what they are made of.
func (w *world) consistent(in *input) error {
	keys := builtin.SortKeys()
	for i := range in.Candidates {
		c := &in.Candidates[i]
		for name, given := range map[string]*int64{
			"price": c.Price, "input_price": c.PriceIn, "latency": c.TTFTMS, "quota_left": c.QuotaLeftPPM, "quota_reset": c.QuotaResetUnixMS,
		} {
			out := make([]float64, 1)
			if err := keys[name].Values(context.Background(), w.request, w.candidates[i:i+1], out); err != nil {
				return err
			}
			if given != nil && out[0] != float64(*given) {
				return fmt.Errorf("candidate %s: %s is given as %d, but the rest of the case says %v", c.ID, name, *given, out[0])
			}
		}
		if out := w.candidates[i].OutputPrice(w.request.Now); c.PriceOut != nil && out != *c.PriceOut {
			return fmt.Errorf("candidate %s: price_out is given as %d, but the rest of the case says %d", c.ID, *c.PriceOut, out)
		}
		if cost := w.candidates[i].EstimatedCost(w.request); c.EstCostNUSD != nil && cost != *c.EstCostNUSD {
			return fmt.Errorf("candidate %s: est_cost_nusd is given as %d, but the prices say %d", c.ID, *c.EstCostNUSD, cost)
		}
	}
	return nil
}
