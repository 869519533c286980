package policies

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gatewright/engine"
	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// rounds is how often a property is tried: some times always, all of them in a
// soak.
func rounds(some, all int) int {
	switch {
	case os.Getenv("GATEWRIGHT_SOAK") != "":
		return all
	case testing.Short():
		return some / 10
	}
	return some
}

// answers are programs whose answers are made up. Each reads and applies them as
// those do whose answers come from a module.
type answers struct {
	dice *rand.Rand
	kind Kind
	last string // what was answered, for messages
}

// decide implements program.
func (a *answers) decide(_ context.Context, in *input, out *verdict) error {
	switch a.dice.IntN(3) {
	case 0:
		return a.scribble(in, out)
	case 1:
		return a.document(in, out)
	}
	if a.kind == Ranking {
		out.unscored(len(in.Records))
		for i := range out.scores {
			out.scores[i] = a.number()
		}
		a.last = fmt.Sprint(out.scores)
		return nil
	}
	return a.document(in, out)
}

// number is a number as policies give them, and as they should not.
func (a *answers) number() float64 {
	odd := [...]float64{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e308, -1e308, math.SmallestNonzeroFloat64, math.MaxFloat64, -1, 1, 1 << 53,
	}
	if n := a.dice.IntN(3 * len(odd)); n < len(odd) {
		return odd[n]
	}
	return float64(a.dice.IntN(7)) - 2
}

// scribble answers as a guest of the binary contract does: it writes into the
// buffer what it may, and sometimes what it may not.
func (a *answers) scribble(in *input, out *verdict) error {
	stage, count := stageOf(a.kind), len(in.Records)
	buffer := make([]byte, abi.Size(&in.Input))
	n, err := abi.Encode(buffer, &in.Input, stage)
	if err != nil {
		return err
	}
	put := func(offset int, v uint32) {
		if offset+4 <= n {
			binary.LittleEndian.PutUint32(buffer[offset:], v)
		}
	}
	record := func(i, field int) int { return abi.HeaderSize + i*abi.RecordSize + field }
	code := int32(0)
	for i := range count {
		if a.kind == Ranking {
			binary.LittleEndian.PutUint64(buffer[record(i, abi.RecordScore):], math.Float64bits(a.number()))
		} else if a.dice.IntN(4) == 0 {
			put(record(i, abi.RecordVerdict), uint32(1+a.dice.IntN(20)/19))
			code++
		}
	}
	switch a.dice.IntN(4) {
	case 0: // an order
		code = int32(a.dice.IntN(count + 2))
		put(abi.HeaderOrderCount, uint32(code))
		for k, i := range a.dice.Perm(count) {
			if a.dice.IntN(30) == 0 {
				i = a.dice.IntN(1<<20) - 1
			}
			put(abi.HeaderSize+count*abi.RecordSize+k*abi.OrderSize, uint32(i))
		}
	case 1:
		put(abi.HeaderRefusalStatus, []uint32{0, 400, 402, 403, 429, 200, 503, math.MaxUint32}[a.dice.IntN(8)])
		put(abi.HeaderRefusalReason, uint32(a.dice.IntN(3)))
	}
	if a.dice.IntN(8) == 0 { // anywhere
		for range 1 + a.dice.IntN(8) {
			buffer[a.dice.IntN(n)] = byte(a.dice.Uint32())
		}
	}
	if a.dice.IntN(20) == 0 {
		code = int32(a.dice.Uint32())
	}
	a.last = fmt.Sprintf("code %d, buffer %x", code, buffer[:n])
	if err := out.guest.Read(buffer[:n], count, stage, code, 1); err != nil {
		return err
	}
	if a.kind == Ranking {
		out.rank(&out.guest, count)
		return nil
	}
	return (&guest{reasons: []string{"x"}}).admit(&out.guest, out)
}

// document answers as a rule does, with JSON.
func (a *answers) document(in *input, out *verdict) error {
	forms := map[Kind][]rule{
		Ranking:   {{form: rego.FormScore, outputs: []rego.Output{rego.OutputScore}}, {form: rego.FormOrder, outputs: []rego.Output{rego.OutputOrder}}},
		Admission: {{form: rego.FormFacet, outputs: []rego.Output{rego.OutputDecision}}, {form: rego.FormCandidate, outputs: []rego.Output{rego.OutputDeny, rego.OutputExclude}}},
	}[a.kind]
	p := forms[a.dice.IntN(len(forms))]
	var b strings.Builder
	b.WriteByte('{')
	for k, o := range p.outputs {
		if k > 0 {
			b.WriteByte(',')
		}
		name := string(o)
		if a.dice.IntN(60) == 0 {
			name = strings.ToUpper(name)
		}
		fmt.Fprintf(&b, "%q:%s", name, a.output(o, in))
	}
	b.WriteByte('}')
	text := []byte(b.String())
	switch a.dice.IntN(30) {
	case 0:
		text[a.dice.IntN(len(text))] = byte(a.dice.Uint32())
	case 1:
		text = text[:a.dice.IntN(len(text))]
	}
	a.last = string(text)
	if err := out.answer.Read(text, p.outputs, in.find()); err != nil {
		return err
	}
	return p.apply(&out.answer, in, out)
}

// wrong is a value that is seldom right anywhere.
func (a *answers) wrong() string {
	list := [...]string{"null", "true", "-1", "1e308", "1e99999", `""`, `"x"`, "[]", "{}", "[[]]", `{"a":null}`, `"\ud800"`, "NaN", "0.5"}
	return list[a.dice.IntN(len(list))]
}

// id is a candidate's, mostly one that there is.
func (a *answers) id(in *input) string {
	if a.dice.IntN(25) == 0 || len(in.Records) == 0 {
		return fmt.Sprintf("%q", []string{"", "unknown", "p0/m ", "é"}[a.dice.IntN(4)])
	}
	return fmt.Sprintf("%q", in.Records[a.dice.IntN(len(in.Records))].ID)
}

// value is a value, or now and then a wrong one in its place.
func (a *answers) value(text string) string {
	if a.dice.IntN(25) == 0 {
		return a.wrong()
	}
	return text
}

// list joins what each makes, between some and very many.
func (a *answers) list(in *input, each func(k int) string) string {
	n := a.dice.IntN(len(in.Records) + 1)
	if a.dice.IntN(1000) == 0 {
		n = 100_000
	}
	parts := make([]string, n)
	for k := range parts {
		parts[k] = each(k)
	}
	return strings.Join(parts, ",")
}

func (a *answers) output(o rego.Output, in *input) string {
	places := a.dice.Perm(len(in.Records))
	place := func(k int) string { // each once, mostly
		if k < len(places) && a.dice.IntN(25) > 0 {
			return fmt.Sprintf("%q", in.Records[places[k]].ID)
		}
		return a.id(in)
	}
	switch o {
	case rego.OutputScore:
		return a.value("{" + a.list(in, func(k int) string {
			text, err := json.Marshal(a.number())
			if err != nil {
				text = []byte("1e400")
			}
			return place(k) + ":" + a.value(string(text))
		}) + "}")
	case rego.OutputOrder:
		return a.value("[" + a.list(in, func(k int) string { return a.value(place(k)) }) + "]")
	case rego.OutputExclude:
		return a.value("[" + a.list(in, func(k int) string {
			return a.value(fmt.Sprintf(`{"id":%s,"reason":%s}`, place(k), a.value(`"x"`)))
		}) + "]")
	case rego.OutputDeny:
		if a.dice.IntN(3) > 0 {
			return "[]"
		}
		return a.value(fmt.Sprintf(`[{"code":%s,"status":%s}]`, a.value(`"x"`), a.value([]string{"400", "402", "403", "429", "503", "200"}[a.dice.IntN(6)])))
	case rego.OutputDecision:
	}
	facet := []string{"region", "provider", "supply_tier", "tag.zone", "id", "tier", "regoin"}[a.dice.IntN(7)]
	switch a.dice.IntN(4) {
	case 0:
		return a.value(fmt.Sprintf(`{"only":{%q:{"values":[%s,%s],"reason":"x"}}}`, facet, a.value(`"eu"`), a.value(`"p1"`)))
	case 1:
		return a.value(fmt.Sprintf(`{"deny":{%q:{"eu":%s,"z1":"x"}}}`, facet, a.value(`"x"`)))
	case 2:
		return a.value(fmt.Sprintf(`{"limits":{"min_context":{"value":%s,"reason":"x"}}}`, a.value("1000")))
	}
	return a.value("{}")
}

// made is a room of one policy whose answers are made up, behind a check that
// removes some candidates.
type made struct {
	*answers
	router  *router
	gone    map[int]bool // by place in the pool
	fleet   []*engine.Deployment
	outcome map[engine.Outcome]int
}

func newMade(t *testing.T, kind Kind, onFault OnFault, seed uint64) *made {
	t.Helper()
	m := &made{answers: &answers{dice: rand.New(rand.NewPCG(seed, 10)), kind: kind}, outcome: map[engine.Outcome]int{}}
	s := lives(t, kind, []string{"p"}, Binding{ID: "1", Policy: "p", OnFault: onFault})
	rules, err := newRules(t.Context(), s, m, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.fleet = fleet(12)
	m.router = newRouter(t, rules, m.fleet, m)
	return m
}

// load implements loader.
func (m *made) load(context.Context, *Policy, *Version, *Binding) (*unit, needs, func(), error) {
	return &unit{digest: digestOf(0), program: m.answers, gauge: &gauge{logger: slog.New(slog.DiscardHandler)}}, needs{}, func() {}, nil
}

// Name and Refuse implement engine.Check.
func (m *made) Name() string { return "some" }

func (m *made) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if m.gone[i] {
			out.Remove(i, engine.ReasonDisabled, "")
		}
	}
	return nil
}

// next is a request a minute after the one before; others are removed before the
// policy is asked, and never all.
func (m *made) next(n int) *engine.Request {
	m.gone = map[int]bool{}
	for i := range m.fleet {
		m.gone[i] = m.dice.IntN(4) == 0
	}
	m.gone[m.dice.IntN(len(m.fleet))] = false
	return later(n, m.dice.Uint64())
}

// admitted lists the deployments that the check left.
func (m *made) admitted() (list []string) {
	for i, d := range m.fleet {
		if !m.gone[i] {
			list = append(list, d.ID)
		}
	}
	return list
}

// Whatever a ranking answers, the plan is a permutation of what admission let
// pass, and the request is never refused for it.
func TestSoakRankingsKeepTheLaw(t *testing.T) {
	m := newMade(t, Ranking, FailClosed, 1)
	for n := range rounds(10_000, 1_000_000) {
		d, err := m.router.plan(t.Context(), m.next(n))
		if err != nil {
			t.Fatalf("round %d: %v; the policy answered %.2000s", n, err, m.last)
		}
		got, want := slices.Sorted(slices.Values(d.Order)), slices.Sorted(slices.Values(m.admitted()))
		if !slices.Equal(got, want) || d.LawMended {
			t.Fatalf("round %d: the plan %v, want %v; mended %v; the policy answered %.2000s", n, got, want, d.LawMended, m.last)
		}
		m.outcome[d.Policies[0].Outcome]++
	}
	t.Log(m.outcome)
	if m.outcome[engine.OutcomeRanked] == 0 || m.outcome[engine.OutcomeFallback] == 0 || len(m.outcome) != 2 {
		t.Errorf("the outcomes %v", m.outcome)
	}
}

// Whatever an admission answers, nobody is in the plan whom others removed. What
// is no answer refuses the request, or removes nobody where the binding says so.
func TestSoakAdmissionsNeverWiden(t *testing.T) {
	for _, onFault := range []OnFault{FailClosed, FailOpen} {
		m := newMade(t, Admission, onFault, 2)
		for n := range rounds(5_000, 500_000) {
			d, err := m.router.plan(t.Context(), m.next(n))
			rec := &d.Policies[0]
			m.outcome[rec.Outcome]++
			admitted := m.admitted()
			for _, id := range d.Order {
				if !slices.Contains(admitted, id) {
					t.Fatalf("round %d: %s is in the plan; the policy answered %.2000s", n, id, m.last)
				}
			}
			whole := slices.Equal(slices.Sorted(slices.Values(d.Order)), slices.Sorted(slices.Values(admitted)))
			refused, _ := errors.AsType[*engine.RefusedError](err)
			ok := false
			switch rec.Outcome {
			case engine.OutcomeAllowed, engine.OutcomeOpen:
				ok = err == nil && whole
			case engine.OutcomeRemoved:
				ok = err == nil || refused != nil && refused.Code == engine.CodeNoEligibleCandidate
			case engine.OutcomeRefused:
				ok = refused != nil && slices.Contains([]int{400, 402, 403, 429}, refused.Status)
			case engine.OutcomeClosed:
				ok = refused != nil && refused.Code == engine.CodePolicyError
			case engine.OutcomeRanked, engine.OutcomeFallback, engine.OutcomeSuspended: // not of an admission
			}
			if !ok {
				t.Fatalf("round %d: %+v, %v, %v; the policy answered %.2000s", n, rec, err, d.Order, m.last)
			}
		}
		t.Log(onFault, m.outcome)
		if len(m.outcome) != 4 {
			t.Errorf("%s: the outcomes %v", onFault, m.outcome)
		}
	}
}
