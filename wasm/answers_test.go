package wasm_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// faultOf is the fault that an error is, which it must be.
func faultOf(tb testing.TB, err error) *wasm.Fault {
	tb.Helper()
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok {
		tb.Fatalf("got the error %v, want a fault", err)
	}
	if f.Detail == "" || len(f.Detail) > 512 || strings.ContainsAny(f.Detail, "\n\t\x00") {
		tb.Errorf("the detail %q", f.Detail)
	}
	return f
}

// What a ranking answers, by the way in which it misbehaves. An instance that
// faulted is replaced, so each call begins with a clean one.
func TestRankings(t *testing.T) {
	m := answers(t, "rank", wasm.Source{Instances: 1})
	nan := math.NaN()
	tests := []struct {
		name  string
		mode  uint32
		kind  wasm.FaultKind // 0 = none
		words string
		order []uint32
		score []float64
	}{
		{"honest", 1, 0, "", nil, []float64{0, 1, 2}},
		{"names one twice", 100, wasm.FaultContract, "candidate 1 twice", nil, nil},
		{"names one that is not there", 101, wasm.FaultContract, "names candidate 3", nil, nil},
		{"names one far away", 102, wasm.FaultContract, "names candidate 4294967295", nil, nil},
		{"names a million", 103, wasm.FaultContract, "1000000 entries", nil, nil},
		{"an order without a count", 104, wasm.FaultContract, "order_count is 0", nil, nil},
		{"an infinite score", 105, wasm.FaultContract, "+Inf", nil, nil},
		{"a negative infinite score", 106, wasm.FaultContract, "-Inf", nil, nil},
		{"odd scores", 107, 0, "", nil, []float64{nan, math.Copysign(0, -1), 1e308}},
		{"names one that is skipped", 108, 0, "", []uint32{2, 0}, nil},
		{"a message that is too long", 109, wasm.FaultContract, "257 bytes", nil, nil},
		{"a message of 2 GiB", 110, wasm.FaultContract, "2147483648 bytes", nil, nil},
		{"a message that is not UTF-8", 111, wasm.FaultContract, "UTF-8", nil, nil},
		{"does not know the version", 112, wasm.FaultReturned, "returned -1", nil, nil},
		{"bad input", 113, wasm.FaultReturned, "returned -2", nil, nil},
		{"failed", 114, wasm.FaultReturned, "returned -3", nil, nil},
		{"its own error", 115, wasm.FaultReturned, "returned -100: its own error: no data for this region", nil, nil},
		{"a code that means nothing", 116, wasm.FaultContract, "returned -50", nil, nil},
		{"gives up", 117, wasm.FaultTrap, "unreachable", nil, nil},
		{"never ends", 118, wasm.FaultBudget, "used up", nil, nil},
		{"grows its memory", 119, 0, "", nil, []float64{0, 1, 2}},
		{"grows until there is no more", 120, wasm.FaultTrap, "unreachable", nil, nil},
		{"moves the host's offsets", 121, 0, "", []uint32{1, 0}, nil},
		{"fills all of its memory", 122, wasm.FaultContract, "4294967295 bytes", nil, nil},
		{"calls itself without end", 123, wasm.FaultBudget, "used up", nil, nil},
		{"logs what it does not have", 125, wasm.FaultHost, "outside its memory", nil, nil},
		{"fills 16 MiB", 130, wasm.FaultBudget, "used up", nil, nil},
		{"divides by zero", 131, wasm.FaultTrap, "divide by zero", nil, nil},
		{"reads beyond its memory", 132, wasm.FaultTrap, "out of bounds memory access", nil, nil},
		{"honest again", 1, 0, "", nil, []float64{0, 1, 2}},
	}
	faults := map[wasm.FaultKind]uint64{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got abi.Result
			err := rankPatiently(m, request(3, tt.mode), &got)
			if tt.kind != 0 {
				faults[tt.kind]++
				if f := faultOf(t, err); f.Kind != tt.kind || f.Module != "test" || !strings.Contains(f.Detail, tt.words) {
					t.Errorf("got %v, want a fault of kind %s with %q", err, tt.kind, tt.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := abi.Result{Order: tt.order, Scores: tt.score, Ordered: tt.order != nil}
			if diff := cmp.Diff(want.Order, got.Order); diff != "" || want.Ordered != got.Ordered {
				t.Errorf("ordered %v: %s", got.Ordered, diff)
			}
			for i, s := range tt.score {
				if g := got.Scores[i]; math.Float64bits(g) != math.Float64bits(s) && !(math.IsNaN(g) && math.IsNaN(s)) {
					t.Errorf("score %d is %v, want %v", i, g, s)
				}
			}
		})
	}
	s := m.Stats()
	delete(s.Faults, wasm.FaultBusy)
	if diff := cmp.Diff(faults, s.Faults); diff != "" {
		t.Error(diff)
	}
	if s.Outgrown != 1 || s.Made < uint64(len(tests))/2 || s.NotMade != 0 {
		t.Errorf("got %+v", s)
	}
}

// rankPatiently asks again while the only instance is being replaced.
func rankPatiently(m *wasm.Module, in *abi.Input, out *abi.Result) error {
	for {
		err := m.Rank(context.Background(), in, out)
		if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultBusy {
			return err
		}
	}
}

func TestAdmissions(t *testing.T) {
	keep := abi.Verdict{Until: abi.Unknown}
	m := answers(t, "admit", wasm.Source{Instances: 40})
	tests := []struct {
		name  string
		mode  uint32
		words string // of the fault; "" = none
		want  abi.Result
	}{
		{"honest", 1, "", abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}}},
		{"removes one", 100, "", abi.Result{Verdicts: []abi.Verdict{keep, {Reason: 1, Until: 1790000000000}, keep}, Removed: 1}},
		{"a reason that it does not have", 101, "there are 1 reasons", abi.Result{}},
		{"says that it removed more", 102, "returned 2, and 1", abi.Result{}},
		{"until no instant", 103, "no instant", abi.Result{}},
		{"refuses the request", 104, "", abi.Result{Verdicts: []abi.Verdict{keep, keep, keep}, Refusal: abi.Refusal{Status: 429, RetryAfter: 60, Reason: 1}}},
		{"an odd status", 105, "status 200", abi.Result{}},
		{"a reason without a status", 106, "without a status", abi.Result{}},
		{"a wait of 136 years", 107, "4294967295 seconds", abi.Result{}},
		{"a refusal's reason that it does not have", 108, "reason 9", abi.Result{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got abi.Result
			err := m.Admit(t.Context(), request(3, tt.mode), &got)
			if tt.words != "" {
				if f := faultOf(t, err); f.Kind != wasm.FaultContract || !strings.Contains(f.Detail, tt.words) {
					t.Errorf("got %v, want %q", err, tt.words)
				}
				if _, ok := errors.AsType[*abi.AnswerError](err); !ok {
					t.Errorf("behind the fault is %v", errors.Unwrap(err))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.Transformer("", func(b []byte) string { return string(b) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The table of testdata/wasm/answers.
func TestAnswersTable(t *testing.T) {
	for _, row := range table(t, "answers", 6, 14) {
		module, what, params, fate, words := row[1], row[2], row[3], row[4], row[5]
		t.Run(module+" "+what+params, func(t *testing.T) {
			s := wasm.Source{Name: module, Bytes: read(t, "answers", module+".wasm"), Instances: 1}
			if params != "" {
				s.Params = []byte(params)
			}
			r := newRuntime(t, wasm.Config{})
			m, err := r.Load(t.Context(), s)
			got := "-"
			if refused, ok := errors.AsType[*wasm.LoadError](err); ok {
				got = string(refused.Step)
			} else if err == nil {
				var out abi.Result
				if err = rankPatiently(m, request(100, 1), &out); err != nil {
					got = faultOf(t, err).Kind.String()
				}
			}
			if got != fate || (err != nil && !strings.Contains(err.Error(), words)) {
				t.Errorf("got %s and %v, want %s and %q", got, err, fate, words)
			}
			if m != nil && fate != "-" {
				var out abi.Result
				if err := rankPatiently(m, request(3, 1), &out); err != nil {
					t.Errorf("a smaller request afterwards: %v", err)
				}
			}
		})
	}
}

// Nothing of one call reaches the next, unless the binding wants it so.
func TestState(t *testing.T) {
	for _, tt := range []struct {
		name string
		mode uint32
	}{{"in a global", 126}, {"in the memory", 127}} {
		for _, stateful := range []bool{false, true} {
			m := answers(t, "rank", wasm.Source{Instances: 1, Stateful: stateful})
			for n := range 5 {
				var out abi.Result
				if err := m.Rank(t.Context(), request(3, tt.mode), &out); err != nil {
					t.Fatal(err)
				}
				want := 1.0
				if stateful {
					want = float64(n + 1)
				}
				if out.Scores[0] != want {
					t.Errorf("%s, stateful %v: call %d saw %v, want %v", tt.name, stateful, n, out.Scores[0], want)
				}
			}
			if m.Info().Stateful != stateful {
				t.Error("Info says something else")
			}
		}
	}
}

// A call that takes nine tenths of its budget passes, one that takes eleven does
// not, whenever it is asked.
func TestBudget(t *testing.T) {
	const budget = 1_000_000
	m := answers(t, "rank", wasm.Source{Budget: budget, Instances: 1})
	units := func(turns uint32) uint64 {
		in := request(3, 128)
		in.MaxOutputTokens = turns
		before := m.Stats().Units
		var out abi.Result
		if err := rankPatiently(m, in, &out); err != nil {
			t.Fatal(err)
		}
		return m.Stats().Units - before
	}
	one, many := units(1), units(10_001)
	per := (many - one) / 10_000
	if per == 0 {
		t.Fatal("a turn costs nothing")
	}
	for range 3 {
		in := request(3, 128)
		var out abi.Result
		in.MaxOutputTokens = uint32((budget*9/10 - one) / per)
		if err := rankPatiently(m, in, &out); err != nil {
			t.Errorf("nine tenths: %v", err)
		}
		in.MaxOutputTokens = uint32((budget*11/10 - one) / per)
		if f := faultOf(t, rankPatiently(m, in, &out)); f.Kind != wasm.FaultBudget {
			t.Errorf("eleven tenths: %v", f)
		}
	}
	if a, b := units(5), units(5); a != b {
		t.Error("the same call costs something else")
	}
}

// A module is asked for what it decides, and nothing else.
func TestWrongKind(t *testing.T) {
	ranking := answers(t, "rank", wasm.Source{})
	admission := answers(t, "admit", wasm.Source{})
	var out abi.Result
	if err := ranking.Admit(t.Context(), request(1, 1), &out); err == nil || !strings.Contains(err.Error(), "decides ranking") {
		t.Errorf("an admission of a ranking: %v", err)
	}
	if err := admission.Rank(t.Context(), request(1, 1), &out); err == nil {
		t.Error("a ranking of an admission")
	}
	if _, err := admission.Eval(t.Context(), nil, nil); err == nil {
		t.Error("an evaluation of an admission")
	}
}

// What nobody may be given is the caller's fault, and the instance lives on.
func TestInputsThatNobodyIsGiven(t *testing.T) {
	m := answers(t, "rank", wasm.Source{Instances: 1})
	var out abi.Result
	if err := m.Rank(t.Context(), &abi.Input{Records: make([]abi.Candidate, abi.MaxRecords+1)}, &out); !errors.Is(err, abi.ErrTooMany) {
		t.Errorf("too many candidates: %v", err)
	}
	if err := m.Rank(t.Context(), &abi.Input{Tags: []abi.Tag{{Key: "b"}, {Key: "a"}}}, &out); err == nil {
		t.Error("tags in no order")
	}
	if s := m.Stats(); s.Made != 1 || len(s.Faults) != 0 {
		t.Errorf("got %+v", s)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Rank(done, request(1, 1), &out); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
