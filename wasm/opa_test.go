package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// A module of OPA's compiler scores as its rule says, with its data.
func TestOPAGuest(t *testing.T) {
	reads, err := abi.ReadsOf([]string{"candidates[_].id", "candidates[_].price", "candidates[_].ttft_ms", "candidates[_].circuit", "candidates[_].affinity", "candidates[_].region"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRuntime(t, wasm.Config{})
	for _, own := range []bool{false, true} {
		m := load(t, r, wasm.Source{Bytes: read(t, "guests", "opa-rank.wasm"), Data: []byte(`{"params": {"weights": {"eu-west": 7}}}`), Own: own})
		if i := m.Info(); i.Kind != check.KindOPA || i.Profile != wasm.ProfileOPA || i.Budget != wasm.BudgetOPA ||
			!slices.Equal(i.Entrypoints, []string{"gatewright/ranking/score"}) || len(i.Builtins) != 0 {
			t.Errorf("got %+v", i)
		}
		var input, value []byte
		for n := range 40 {
			in := request(n%5*5, 1)
			if n%3 == 0 && n > 0 && len(in.Records) > 0 {
				in.Records[0].Flags |= abi.Affinity
			}
			if input, err = abi.AppendJSON(input[:0], in, abi.Ranking, reads); err != nil {
				t.Fatal(err)
			}
			if value, err = m.Eval(t.Context(), input, value[:0]); err != nil {
				t.Fatal(err)
			}
			want := map[string]int64{}
			for _, c := range in.Records {
				penalty := int64(5)
				switch {
				case c.Circuit == abi.CircuitHalfOpen:
					penalty = 1_000_000
				case c.Flags&abi.Affinity != 0:
					penalty = 0
				case c.Region == "eu-west":
					penalty = 7
				}
				want[c.ID] = 3*c.PriceIn + c.PriceOut + c.TTFT*1_000_000 + penalty
			}
			var got map[string]int64
			if err := json.Unmarshal(value, &got); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
		if s := m.Stats(); len(s.Faults) != 0 || s.Calls != 40 {
			t.Errorf("got %+v", s)
		}
	}
}

// A pool that needs more memory than an instance has at first is evaluated all
// the same, for as long as one likes.
func TestOPAOfLargePools(t *testing.T) {
	for _, own := range []bool{false, true} {
		m := load(t, newRuntime(t, wasm.Config{}), wasm.Source{Bytes: read(t, "guests", "opa-rank.wasm"), Own: own, Budget: wasm.MaxBudget, Instances: 1})
		reads, err := abi.ReadsOf([]string{"candidates[_].id", "candidates[_].price", "candidates[_].ttft_ms", "candidates[_].region"})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := abi.AppendJSON(nil, request(700, 1), abi.Ranking, reads)
		if err != nil {
			t.Fatal(err)
		}
		units := uint64(0)
		for range 40 {
			before := m.Stats().Units
			if err := evalPatiently(m, doc); err != nil {
				t.Fatal(err)
			}
			units = m.Stats().Units - before
		}
		if s := m.Stats(); (!own && s.Outgrown == 0) || s.Outgrown > 6 || s.Calls < 40 {
			t.Errorf("own %v: %d instances were too small, %d units", own, s.Outgrown, units)
		}
	}
}

func evalPatiently(m *wasm.Module, input []byte) error {
	for {
		_, err := m.Eval(context.Background(), input, nil)
		if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultBusy {
			return err
		}
	}
}

// A built-in that is not in the module is served by the host, and one that
// nobody serves is named when it is loaded.
func TestOPABuiltins(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	s := wasm.Source{Name: "crowd", Bytes: read(t, "guests", "opa-builtins.wasm"), Data: []byte(`{"limits": {"candidates": 3}}`)}
	if _, err := r.Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), "does not serve: sprintf") {
		t.Errorf("without the host's function: %v", err)
	}
	s.Host = map[string]wasm.HostFunc{"sprintf": func(args []byte) ([]byte, error) {
		var a []json.RawMessage
		var format string
		var values []any
		if err := errors.Join(json.Unmarshal(args, &a), json.Unmarshal(a[0], &format), json.Unmarshal(a[1], &values)); err != nil {
			return nil, err
		}
		return json.Marshal(fmt.Sprintf(strings.ReplaceAll(format, "%d", "%v"), values...))
	}}
	m := load(t, r, s)
	for n, want := range map[int]string{3: `[]`, 5: `[{"code":"crowd","message":"search has 5 candidates"}]`} {
		doc, err := abi.AppendJSON(nil, request(n, 1), abi.Admission, abi.All())
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Eval(t.Context(), doc, []byte("x"))
		if err != nil || string(got) != "x"+want {
			t.Errorf("%d candidates: got %s and %v, want %s", n, got, err, want)
		}
	}
	if got := m.Info().Builtins; !slices.Equal(got, []string{"sprintf"}) {
		t.Errorf("it is served %v", got)
	}
	if n := m.Stats().Builtins; n != 1 {
		t.Errorf("%d calls of the host", n)
	}
}

func served() map[string]wasm.HostFunc {
	return map[string]wasm.HostFunc{"test.echo": echo, "test.fail": fail, "test.pair": echo}
}

func TestEvaluations(t *testing.T) {
	host := served()
	m := answers(t, "opa", wasm.Source{Entrypoint: "answer", Data: []byte(`{"a": 1}`), Host: host, Instances: 60})
	tests := []struct {
		name, input string
		kind        wasm.FaultKind
		want        string // the value, or part of the fault's text
	}{
		{"the input", "e 1", 0, "e 1"},
		{"the data", "d", 0, `{"a": 1}`},
		{"the entry point", "i", 0, "0"},
		{"not a list", "w", wasm.FaultContract, "not a list of one result"},
		{"a result that never ends", "n", wasm.FaultContract, "more than 1048576 bytes"},
		{"a result of 2 MiB", "h", wasm.FaultContract, "more than 1048576 bytes"},
		{"a result outside of the memory", "o", wasm.FaultContract, "outside its memory"},
		{"no result", "z", wasm.FaultContract, "outside its memory"},
		{"aborts", "a", wasm.FaultTrap, "aborted: because it is so"},
		{"never ends", "l", wasm.FaultBudget, "used up"},
		{"prints", "p", 0, "1"},
		{"gives up", "y", wasm.FaultTrap, "unreachable"},
		{"calls a built-in", `b"x"`, 0, `["x"]`},
		{"calls a built-in of two arguments", `2{"y": [1]}`, 0, `[7,{"y": [1]}]`},
		{"calls a built-in that does not exist", "c", wasm.FaultHost, "number 77"},
		{"calls a built-in with too much", "b" + strings.Repeat("1", 270_000), wasm.FaultHost, "test.echo: the arguments have more than 262144 bytes"},
		{"calls a built-in that fails", "f", wasm.FaultHost, "test.fail: it cannot"},
		{"calls a built-in without end", "q", wasm.FaultBudget, "used up"},
		{"grows its memory", "g", 0, "1"},
		{"the input again", "e 2", 0, "e 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := m.Eval(t.Context(), []byte(tt.input), nil)
			if tt.kind != 0 {
				if f := faultOf(t, err); f.Kind != tt.kind || !strings.Contains(f.Detail, tt.want) {
					t.Errorf("got %v, want a fault of kind %s with %q", err, tt.kind, tt.want)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s and %v, want %s", got, err, tt.want)
			}
		})
	}
	if got, err := m.Eval(t.Context(), []byte("u"), []byte("x")); !errors.Is(err, wasm.ErrUndefined) || string(got) != "x" {
		t.Errorf("undefined: got %s and %v", got, err)
	}
	if f := faultOf(t, lastError(m.Eval(t.Context(), make([]byte, 5<<20), nil))); f.Kind != wasm.FaultMemory {
		t.Errorf("an input of 5 MiB: %v", f)
	}
}

func lastError[T any](_ T, err error) error { return err }

// A host function that panics, or answers nonsense, is a fault of the call.
func TestBrokenHostFunctions(t *testing.T) {
	for name, tt := range map[string]struct {
		f     wasm.HostFunc
		words string
	}{
		"panics":   {func([]byte) ([]byte, error) { panic("oh") }, "test.echo: oh"},
		"not JSON": {func([]byte) ([]byte, error) { return []byte("!"), nil }, "test.echo: the result is not JSON"},
		"much too long": {
			func([]byte) ([]byte, error) { return bytes.Repeat([]byte("1"), 300_000), nil },
			"test.echo: the result has more than 262144 bytes",
		},
	} {
		host := served()
		host["test.echo"] = tt.f
		m := answers(t, "opa", wasm.Source{Entrypoint: "answer", Host: host})
		if f := faultOf(t, lastError(m.Eval(t.Context(), []byte(`b1`), nil))); f.Kind != wasm.FaultHost || !strings.Contains(f.Detail, tt.words) {
			t.Errorf("%s: got %v", name, f)
		}
	}
}

// An evaluation may do more the larger its input is.
func TestInputAddsToTheBudget(t *testing.T) {
	host := served()
	m := answers(t, "opa", wasm.Source{Entrypoint: "answer", Host: host, HostCost: func(string, []byte) int64 { return wasm.BudgetOPA + 100_000 }})
	for input, enough := range map[string]bool{"b1": false, "b1" + strings.Repeat(" ", 200): true} {
		if _, err := m.Eval(t.Context(), []byte(input), nil); (err == nil) != enough {
			t.Errorf("an input of %d bytes: %v", len(input), err)
		}
	}
}

// What a built-in costs is charged before it is called.
func TestHostCost(t *testing.T) {
	host, called := served(), 0
	host["test.echo"] = func(args []byte) ([]byte, error) { called++; return args, nil }
	for _, tt := range []struct {
		cost  int64
		calls int
	}{{100_000, 1}, {wasm.BudgetOPA + 10_000, 0}} {
		called = 0
		m := answers(t, "opa", wasm.Source{Entrypoint: "answer", Host: host, HostCost: func(name string, args []byte) int64 {
			if name != "test.echo" || string(args) != "[1]" {
				t.Errorf("asked for the cost of %s%s", name, args)
			}
			return tt.cost
		}})
		_, err := m.Eval(t.Context(), []byte("b1"), nil)
		if called != tt.calls || (err == nil) != (tt.calls == 1) {
			t.Errorf("a call for %d units: called %d times, %v", tt.cost, called, err)
		}
		if err != nil && faultOf(t, err).Kind != wasm.FaultBudget {
			t.Error(err)
		}
		if s := m.Stats(); tt.calls == 1 && s.Units < uint64(tt.cost) {
			t.Errorf("%d units are counted", s.Units)
		}
	}
}

// Nothing of an evaluation reaches the next: neither what a foreign module keeps
// in its globals nor what it leaves above its heap.
func TestEvaluationsKeepNothing(t *testing.T) {
	m := answers(t, "opa", wasm.Source{Entrypoint: "answer", Host: served(), Instances: 1})
	for _, input := range []string{"s", "s", "t", "t", "e x", "s", "t"} {
		want := "1"
		if input == "e x" {
			want = "e x"
		}
		if got, err := m.Eval(t.Context(), []byte(input), nil); err != nil || string(got) != want {
			t.Errorf("%s: got %s and %v, want %s", input, got, err, want)
		}
	}
	stateful := answers(t, "opa", wasm.Source{Entrypoint: "answer", Host: served(), Instances: 1, Stateful: true})
	for n := 1; n < 4; n++ {
		if got, err := stateful.Eval(t.Context(), []byte("s"), nil); err != nil || string(got) != strconv.Itoa(n) {
			t.Errorf("stateful: got %s and %v", got, err)
		}
	}
}

func TestEntrypoints(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	s := wasm.Source{Name: "p", Bytes: read(t, "answers", "opa.wasm"), Host: served()}
	for entry, want := range map[string]string{"": "it has the entry points answer, other; name one", "answr": `no entry point "answr"; it has answer, other`} {
		s.Entrypoint = entry
		if _, err := r.Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", entry, err)
		}
	}
	s.Entrypoint = "other"
	if got, err := load(t, r, s).Eval(t.Context(), []byte("i"), nil); err != nil || string(got) != "1" {
		t.Errorf("got %s and %v", got, err)
	}
	s.Probes = [][]byte{[]byte("u"), []byte("e1")}
	load(t, r, s)
	s.Probes = append(s.Probes, []byte("a"))
	if refused, ok := errors.AsType[*wasm.LoadError](lastError(r.Load(t.Context(), s))); !ok || refused.Step != wasm.StepProbe || !strings.Contains(refused.Error(), "probe 2") {
		t.Errorf("a probe that aborts: %v", refused)
	}
	// The same module says that it has version 2 of the ABI.
	s.Bytes = bytes.Replace(s.Bytes, []byte{0x7f, 0, 0x41, 1, 0x0b}, []byte{0x7f, 0, 0x41, 2, 0x0b}, 1)
	if _, err := r.Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), "version 2.3 of the ABI of OPA, the gateway knows 1.2") {
		t.Errorf("another version: %v", err)
	}
}
