package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/wasm/abi"
)

// scripted is a program that a test writes down.
type scripted func(in *input, out *verdict) error

func (f scripted) decide(_ context.Context, in *input, out *verdict) error { return f(in, out) }

// shelf is a loader of scripted programs, by digest.
type shelf map[string]scripted

func (s shelf) load(_ context.Context, p *Policy, v *Version, b *Binding) (*unit, needs, func(), error) {
	f, ok := s[v.Digest]
	if !ok {
		return nil, needs{}, nil, errors.New("it does not compile")
	}
	g := &gauge{name: p.Name, digest: v.Digest, logger: slog.New(slog.DiscardHandler)}
	return &unit{digest: v.Digest, program: f, gauge: g}, needs{headers: b.Grants.Headers, text: b.Grants.Text}, func() {}, nil
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ask(key string) *engine.Request {
	return &engine.Request{
		ID: "r", Model: "m", Endpoint: engine.EndpointChat, Now: noon, Seed: 1,
		Caller: &engine.Caller{Key: key, Team: "web", Org: "acme"},
	}
}

// poolOf is a pool of deployments of the model m, one of each provider.
func poolOf(providers ...string) []engine.Candidate {
	pool := make([]engine.Candidate, len(providers))
	for i, p := range providers {
		pool[i].Deployment = &engine.Deployment{ID: p + "/m", Model: "m", Provider: &engine.Provider{ID: p, Region: p, Tags: map[string]string{"zdr": "yes"}}}
		pool[i].Quota = nil
	}
	return pool
}

// exclude removes the candidates of some regions.
func exclude(reason string, regions ...string) scripted {
	return func(in *input, out *verdict) error {
		for i := range in.Records {
			if slices.Contains(regions, in.Records[i].Region) {
				out.removals = append(out.removals, removal{index: i, reason: reason})
			}
		}
		return nil
	}
}

func fails(text string) scripted { return func(*input, *verdict) error { return errors.New(text) } }

func panics(*input, *verdict) error { panic("index out of range") }

// lives makes a state of policies whose versions 1, 2, … are given, the first
// active.
func lives(t *testing.T, kind Kind, names []string, bindings ...Binding) *State {
	t.Helper()
	s, err := NewState(nil, nil)
	for i, name := range names {
		if err == nil {
			s, err = s.Upload(name, kind, version(i))
		}
		if err == nil {
			s, err = s.Activate(name, "", day(0))
		}
	}
	for i := range bindings {
		if err == nil {
			s, err = s.Bind(&bindings[i])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refuse asks the checks and shows what they said.
func refuse(t *testing.T, rules *Rules, r *engine.Request, pool []engine.Candidate) (refusals, records []string) {
	t.Helper()
	var out engine.Refusals
	for _, c := range rules.Checks {
		if err := c.Refuse(t.Context(), r, pool, &out); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range out.List() {
		who := "all"
		if f.Candidate != engine.WholeRequest {
			who = pool[f.Candidate].ID
		}
		refusals = append(refusals, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %d", who, f.Reason, f.Detail, f.Code, f.Status)))
	}
	for _, p := range out.Trail.List() {
		differs := ""
		if p.Differs {
			differs = " differs"
		}
		records = append(records, strings.TrimSpace(p.Name+" "+p.Mode+" "+string(p.Outcome)+" "+p.Detail+differs))
	}
	return refusals, records
}

func TestGate(t *testing.T) {
	refuses := scripted(func(_ *input, out *verdict) error {
		out.refusal = refusal{status: 402, code: "too_dear", message: "no money", retryAfter: time.Minute}
		return nil
	})
	for _, tc := range []struct {
		name     string
		programs []scripted // of the policies a, b, …
		bindings []Binding
		key      string
		want     []string
		records  []string
	}{
		{"nothing to say", []scripted{exclude("eu_only")}, []Binding{{ID: "1", Policy: "a"}}, "k", nil, []string{"a  allowed"}},
		{
			"removes",
			[]scripted{exclude("eu_only", "us")},
			[]Binding{{ID: "1", Policy: "a"}},
			"k",
			[]string{"us/m policy:a eu_only  0"},
			[]string{"a  removed"},
		},
		{
			"in their order",
			[]scripted{exclude("x", "us"), exclude("y", "us")},
			[]Binding{{ID: "1", Policy: "a", Order: 2}, {ID: "2", Policy: "b", Key: "k", Order: 1}},
			"k",
			[]string{"us/m policy:b y  0", "us/m policy:a x  0"},
			[]string{"b  removed", "a  removed"},
		},
		{
			"only whom they are bound to",
			[]scripted{exclude("x", "us"), exclude("y", "us"), exclude("z", "us")},
			[]Binding{
				{ID: "1", Policy: "a", Key: "other"},
				{ID: "2", Policy: "a", Key: "k", Model: "other"},
				{ID: "3", Policy: "b", Team: "web", Org: "acme"},
				{ID: "4", Policy: "b", Team: "web", Org: "other"},
				{ID: "5", Policy: "c", Org: "acme", Model: "m"},
			},
			"k",
			[]string{"us/m policy:b y  0", "us/m policy:c z  0"},
			[]string{"b  removed", "c  removed"},
		},
		{
			"refuses, and nobody is asked after",
			[]scripted{refuses, exclude("x", "us")},
			[]Binding{{ID: "1", Policy: "a"}, {ID: "2", Policy: "b"}},
			"k",
			[]string{"all policy:a no money too_dear 402"},
			[]string{"a  refused too_dear"},
		},
		{
			"fails closed",
			[]scripted{fails("out of budget")},
			[]Binding{{ID: "1", Policy: "a"}},
			"k",
			[]string{`all policy:a the policy "a" cannot decide policy_error 0`},
			[]string{"a  fail_closed out of budget"},
		},
		{
			"fails open",
			[]scripted{fails("out of budget"), exclude("x", "us")},
			[]Binding{{ID: "1", Policy: "a", OnFault: FailOpen}, {ID: "2", Policy: "b"}},
			"k",
			[]string{"us/m policy:b x  0"},
			[]string{"a  fail_open out of budget", "b  removed"},
		},
		{
			"panics",
			[]scripted{panics},
			[]Binding{{ID: "1", Policy: "a"}},
			"k",
			[]string{`all policy:a the policy "a" cannot decide policy_error 0`},
			[]string{"a  fail_closed the policy's evaluation panicked: index out of range"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			books, names := shelf{}, []string{"a", "b", "c"}[:len(tc.programs)]
			for i, f := range tc.programs {
				books[digestOf(i)] = f
			}
			rules, err := newRules(t.Context(), lives(t, Admission, names, tc.bindings...), books, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, records := refuse(t, rules, ask(tc.key), poolOf("eu", "us"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.records, records); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPolicySeesWhatOneBeforeItRemoved(t *testing.T) {
	var seen []abi.Skip
	books := shelf{
		digestOf(0): exclude("x", "us"),
		digestOf(1): func(in *input, _ *verdict) error {
			for i := range in.Records {
				seen = append(seen, in.Records[i].Skipped)
			}
			return nil
		},
	}
	rules, err := newRules(t.Context(), lives(t, Admission, []string{"a", "b"}, Binding{ID: "1", Policy: "a"}, Binding{ID: "2", Policy: "b"}), books, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, rules, ask("k"), poolOf("eu", "us"))
	if diff := cmp.Diff([]abi.Skip{0, abi.SkipPolicy}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestAPolicyThatKeepsFailingIsSuspended(t *testing.T) {
	asked := 0
	books := shelf{digestOf(0): func(*input, *verdict) error {
		asked++
		return errors.New("trap")
	}}
	rules, err := newRules(t.Context(), lives(t, Admission, []string{"a"}, Binding{ID: "1", Policy: "a", OnFault: FailOpen}), books, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var records []string
	for range 7 {
		_, got := refuse(t, rules, ask("k"), poolOf("eu"))
		records = append(records, got...)
	}
	if asked != 5 || records[4] != "a  fail_open trap" || records[5] != "a  fail_open "+errSuspended.Error() {
		t.Errorf("asked %d times: %q", asked, records)
	}
	later := ask("k")
	later.Now = noon.Add(suspendFirst)
	if _, got := refuse(t, rules, later, poolOf("eu")); asked != 6 || got[0] != "a  fail_open trap" {
		t.Errorf("after its suspension it was asked %d times: %q", asked, got)
	}
}

func TestShadowAndCanaryOfAnAdmission(t *testing.T) {
	books := shelf{
		digestOf(0): exclude("x", "us"), digestOf(1): exclude("y", "eu"), digestOf(2): fails("trap"),
	}
	s := lives(t, Admission, []string{"a"}, Binding{ID: "1", Policy: "a"})
	for n := 1; n < 3; n++ {
		var err error
		if s, err = s.Upload("a", Admission, version(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name    string
		op      step
		want    []string
		records []string
	}{
		{"shadow", shadow("a", digestOf(1)), []string{"us/m policy:a x  0"}, []string{"a  removed", "a shadow removed  differs"}},
		{"shadow that fails", shadow("a", digestOf(2)), []string{"us/m policy:a x  0"}, []string{"a  removed", "a shadow fail_closed trap"}},
		{"canary for nearly all", canary("a", digestOf(1), 999_999), []string{"eu/m policy:a y  0"}, []string{"a canary removed"}},
		{"canary for nearly none", canary("a", digestOf(1), 1), []string{"us/m policy:a x  0"}, []string{"a  removed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next, err := tc.op(s)
			if err != nil {
				t.Fatal(err)
			}
			rules, err := newRules(t.Context(), next, books, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, records := refuse(t, rules, ask("k"), poolOf("eu", "us"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.records, records); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCanaryTakesItsShareOfSessions(t *testing.T) {
	for _, ppm := range []int64{1, 10_000, 100_000, 500_000, 999_999} {
		const n = 200_000
		taken := 0
		for seed := range uint64(n) {
			if draw(seed, "p") < shareOf(ppm) {
				taken++
			}
			if draw(seed, "p") != draw(seed, "p") { //nolint:staticcheck // the same seed draws the same
				t.Fatal("a session changes sides")
			}
		}
		want := float64(ppm) / million * n
		if math.Abs(float64(taken)-want) > 4*math.Sqrt(want)+1 {
			t.Errorf("%d ppm: %d of %d sessions, want about %.0f", ppm, taken, n, want)
		}
	}
}

func TestFill(t *testing.T) {
	r := ask("k")
	r.Stream, r.Needs, r.InputTokens, r.MaxOutput = true, engine.CapTools|engine.CapVision, 1<<40, 100
	r.Session = engine.Session{Key: [16]byte{1, 0xab}, Source: "header"}
	pool := poolOf("eu", "us")
	d := pool[0].Deployment
	d.Price = engine.Price{Known: true, Input: 3, Output: 5, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
	d.Sale = engine.Sale{Multiplier: 500_000}
	d.UpstreamModel, d.Priority, d.Weight, d.Context, d.Caps = "m-1", 7, 9, 128, engine.CapJSONSchema
	pool[0].Signals = engine.Signals{
		Circuit: engine.CircuitHalfOpen, InFlight: 4, TTFT: 1500 * time.Millisecond,
		LatencyP50: 2*time.Second + time.Microsecond, LatencyP95: 9 * time.Second, Throughput: 30, SuccessPPM: 990_000, Samples: 50,
		LastSuccess: noon.Add(-time.Minute),
		Quota:       &engine.Quota{TakenAt: noon, Windows: []engine.QuotaWindow{{LeftPPM: 1000, ResetsAt: noon.Add(time.Hour)}}},
	}
	pool[0].Affinity, pool[0].Tier = true, 1
	pool[1].Signals = engine.Signals{
		TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
		Throughput: engine.Unknown, SuccessPPM: engine.Unknown,
	}
	pool[1].Skipped = &engine.Skipped{Reason: engine.ReasonCooldown, Until: noon.Add(time.Second)}
	var in input
	in.fill(r, pool, newDesk([]*engine.Provider{pool[0].Provider}))
	in.client(r, &needs{})
	want := abi.Input{
		Org: "acme", Team: "web", Key: "k", Endpoint: "chat", Model: "m", Session: "01ab" + strings.Repeat("0", 28),
		Flags: abi.Stream | abi.Tools | abi.Vision, InputTokens: math.MaxUint32 - 1, MaxOutputTokens: 100, AttemptBudget: engine.MaxAttempts,
		NowUnixMS: noon.UnixMilli(), Seed: 1, BudgetLeft: abi.NoLimit, RPMLeft: abi.NoLimitCount, TPMLeft: abi.NoLimitCount,
		Records: []abi.Candidate{
			{
				ID: "eu/m", Provider: "eu", Model: "m", UpstreamModel: "m-1", Region: "eu", Tags: []abi.Tag{{Key: "zdr", Value: "yes"}},
				Flags: abi.Stream | abi.JSONSchema | abi.Affinity, Circuit: abi.CircuitHalfOpen, SkippedUntil: abi.Unknown,
				Tier: 1, Priority: 7, Weight: 9, ContextLimit: 128, MaxOutput: abi.UnknownCount, InFlight: 4, Samples: 50,
				PriceIn: 2, PriceOut: 3, Price: 7, EstCost: d.EstimatedCost(r), TTFT: 1500, LatencyP50: 2000, LatencyP95: 9000,
				Throughput: 30, Success: 990_000, QuotaLeft: 1000, QuotaReset: noon.Add(time.Hour).UnixMilli(), LastSuccess: noon.Add(-time.Minute).UnixMilli(),
			},
			{
				ID: "us/m", Provider: "us", Model: "m", Region: "us", Flags: abi.Stream,
				Skipped: abi.SkipOf("cooldown"), SkippedUntil: noon.Add(time.Second).UnixMilli(),
				ContextLimit: abi.UnknownCount, MaxOutput: abi.UnknownCount, PriceIn: abi.Unknown, PriceOut: abi.Unknown, Price: abi.Unknown, EstCost: abi.Unknown,
				TTFT: abi.Unknown, LatencyP50: abi.Unknown, LatencyP95: abi.Unknown, Throughput: abi.Unknown, Success: abi.Unknown,
				QuotaLeft: abi.Unknown, QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
			},
		},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".roster" || name == ".clock" || name == ".known" || name == ".values" || name == ".keys" || name == ".Headers" || name == ".Metadata"
	}, cmp.Ignore())
	if diff := cmp.Diff(want, in.Input, cmp.AllowUnexported(abi.Input{}), ignore); diff != "" {
		t.Error(diff)
	}
}

// client is an engine.ClientData of a test.
type client struct{}

func (client) Header(name string) string { return map[string]string{"x-team": "search"}[name] }

func (client) Metadata(each func(key, value string)) {
	each("b", "1")
	each("a", "2")
	each("b", "3")
}

func (client) Text(last bool) string {
	return map[bool]string{false: "all of it", true: "the last"}[last]
}

func TestFillOfWhatIsGranted(t *testing.T) {
	r := ask("k")
	r.Client = client{}
	var in input
	in.client(r, &needs{id: true, metadata: true, headers: []string{"x-none", "x-team"}, text: TextLastUser})
	if in.ID != "r" || in.Text != "the last" || !in.Granted {
		t.Errorf("got %q, %q, %v", in.ID, in.Text, in.Granted)
	}
	if diff := cmp.Diff([]abi.Tag{{Key: "x-team", Value: "search"}}, in.Headers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]abi.Tag{{Key: "a", Value: "2"}, {Key: "b", Value: "3"}}, in.Metadata); diff != "" {
		t.Error(diff)
	}
	in.client(r, &needs{})
	if in.ID != "" || in.Text != "" || in.Granted || len(in.Headers)+len(in.Metadata) > 0 {
		t.Errorf("what was granted before is still there: %+v", in.Input)
	}
}
