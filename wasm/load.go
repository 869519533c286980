package wasm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// Bounds of what comes with a module.
const (
	maxParams    = 64 << 10
	maxData      = 4 << 20
	maxInstances = 1024
)

// load is every step of loading; step says which one it is at.
func (r *Runtime) load(s *Source, step *Step) (m *Module, err error) {
	profile := s.Profile
	if profile == "" {
		profile = ProfileSmall
		if check.Recognize(s.Bytes) == check.KindOPA {
			profile = ProfileOPA
		}
	}
	rules, budget, err := profile.rules()
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	c, err := r.obtain(s.Bytes, profile, rules, step)
	if err != nil {
		return nil, err
	}
	m = r.newModule(s, c, profile, budget)
	defer func() {
		if p := recover(); p != nil {
			m.pool.close()
			panic(p)
		}
		if err != nil {
			m.pool.close()
			m = nil
		}
	}()
	*step = StepInstance
	if !r.adopt(m) {
		return m, ErrClosed
	}
	for range m.pool.want {
		if err := m.pool.make(); err != nil {
			return m, err
		}
	}
	if s.Unprobed {
		return m, nil
	}
	*step = StepProbe
	return m, m.probe(s.Probes)
}

// validate checks the settings that come with the bytes.
func (s *Source) validate() error {
	var list []error
	add := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }
	if s.Name == "" {
		add("name: empty; name the policy")
	}
	if s.Budget < 0 || s.Budget > MaxBudget {
		add("budget: %d units; write 1 to %d, or 0 for that of the profile", s.Budget, MaxBudget)
	}
	if s.Instances < 0 || s.Instances > maxInstances {
		add("instances: %d; write 1 to %d, or 0 for one a processor", s.Instances, maxInstances)
	}
	for _, d := range []struct {
		name string
		doc  []byte
		most int
	}{{"params", s.Params, maxParams}, {"data", s.Data, maxData}} {
		switch {
		case len(d.doc) > d.most:
			add("%s: %d bytes, the limit is %d", d.name, len(d.doc), d.most)
		case d.doc != nil && !json.Valid(d.doc):
			add("%s: not JSON", d.name)
		}
	}
	return errors.Join(list...)
}

// newModule makes a module without instances, as the user of c.
func (r *Runtime) newModule(s *Source, c *code, profile Profile, budget int64) *Module {
	m := &Module{
		runtime: r, code: c, defaultBudget: budget,
		params: slices.Clone(s.Params), data: slices.Clone(s.Data),
		entrypoint: s.Entrypoint, host: s.Host, hostCost: s.HostCost, own: s.Own,
	}
	if m.hostCost == nil {
		m.hostCost = usualCost
	}
	m.room.Store(foreignRoom)
	if s.Own {
		m.room.Store(ownRoom)
	}
	if m.data == nil {
		m.data = []byte("{}")
	}
	if s.Budget > 0 {
		budget = s.Budget
	}
	want := s.Instances
	if want == 0 {
		want = runtime.GOMAXPROCS(0)
	}
	m.info = Info{
		Name: s.Name, Digest: hex.EncodeToString(c.key.digest[:]), Profile: profile, Kind: c.info.Kind,
		Manifest: c.manifest, Reasons: defaultReasons, Structure: c.info,
		Budget: budget, Stateful: s.Stateful, Instances: want,
	}
	if c.manifest != nil && len(c.manifest.Reasons) > 0 {
		m.info.Reasons = c.manifest.Reasons
	}
	m.pool = newPool(m, want)
	return m
}

// probe calls the module with made-up input: it must be able to answer before
// it is asked about a request.
func (m *Module) probe(inputs [][]byte) error {
	ctx := context.Background()
	if m.info.Kind == check.KindOPA {
		for n, in := range inputs {
			if _, err := m.Eval(ctx, in, nil); err != nil && !errors.Is(err, ErrUndefined) {
				return fmt.Errorf("probe %d: %w", n, err)
			}
		}
		return nil
	}
	ask := m.Admit
	if m.info.Kind == check.KindRanking {
		ask = m.Rank
	}
	var out abi.Result
	for _, count := range probeCounts {
		err := ask(ctx, probeInput(count), &out)
		said, own := errors.AsType[*abi.ReturnedError](err)
		if err == nil || (own && said.Code <= abi.CodeOwn) { // it may have its reasons
			continue
		}
		return fmt.Errorf("asked about %d made-up candidates: %w", count, err)
	}
	return nil
}

// probeCounts are how many candidates the probes have.
var probeCounts = [...]int{0, 1, 20}

// probeInput is a request with so many candidates, some of which are skipped and
// some of which nobody knows anything about.
func probeInput(count int) *abi.Input {
	in := &abi.Input{
		ID: "probe", Org: "probe", Team: "probe", Key: "probe", Endpoint: "chat", Model: "probe-model", Session: "probe",
		Tags: []abi.Tag{{Key: "env", Value: "probe"}}, Flags: abi.Stream | abi.Tools,
		InputTokens: 1000, MaxOutputTokens: 500, AttemptBudget: 4, NowUnixMS: 1_767_225_600_000, Seed: 1,
		BudgetLeft: abi.NoLimit, RPMLeft: abi.NoLimitCount, TPMLeft: abi.NoLimitCount,
	}
	for n := range count {
		k := int64(n)
		c := abi.Candidate{
			ID: fmt.Sprintf("probe-%d", n), Provider: fmt.Sprintf("provider-%d", n%5), Model: "probe-model", UpstreamModel: "probe",
			Region: [...]string{"eu-west", "us-east", ""}[n%3], SupplyTier: "direct", Tags: []abi.Tag{{Key: "n", Value: "1"}},
			Flags: abi.Stream | abi.Tools, Circuit: abi.Circuit(n % 3), SkippedUntil: abi.Unknown,
			Tier: uint32(n % 2), Priority: 1, Weight: 1, ContextLimit: 128_000, MaxOutput: 4096, InFlight: uint32(n), Samples: 50,
			PriceIn: 1_000_000_000 + k, PriceOut: 4_000_000_000 - k, Price: 7_000_000_000 + 2*k, EstCost: 3_000_000 + k, TTFT: 300 + k, LatencyP50: 900 + k,
			LatencyP95: 2000 + k, Throughput: 50_000 + k, Success: 990_000, QuotaLeft: 500_000, QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
		}
		if n%7 == 3 {
			c.Skipped = 10
		}
		if n%5 == 4 {
			c.Samples, c.ContextLimit, c.MaxOutput = 0, abi.UnknownCount, abi.UnknownCount
			c.PriceIn, c.PriceOut, c.Price, c.EstCost, c.TTFT = abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown
			c.LatencyP50, c.LatencyP95, c.Throughput, c.Success, c.QuotaLeft = abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown
		}
		in.Records = append(in.Records, c)
	}
	return in
}
