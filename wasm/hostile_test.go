package wasm_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// Every module of testdata/wasm/hostile ends as its table says: refused before
// an engine sees it, or stopped while it is being loaded. A policy beside it
// keeps serving, and no memory is left.
func TestHostile(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	healthy := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
	own := r.Memory()
	for _, row := range table(t, "hostile", 5, 70) {
		number, file, fate, words := row[0], row[1], row[3], row[4]
		if file == "test" {
			continue // the bytes are made, and refused, in the tests of package check
		}
		t.Run(file, func(t *testing.T) {
			m, err := r.Load(t.Context(), wasm.Source{Name: file, Bytes: read(t, "hostile", file+".wasm"), Instances: 2})
			meet(t, number, fate, words, m, err)
			var out abi.Result
			if err := healthy.Rank(t.Context(), request(20, 1), &out); err != nil {
				t.Errorf("the policy beside it: %v", err)
			}
			if m != nil {
				if err := m.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	waitFor(t, func() bool { return r.Memory() == own })
}

// meet checks the fate of one module. What traps or never ends does so when it
// is probed or made, so it is never accepted.
func meet(t *testing.T, number, fate, words string, m *wasm.Module, err error) {
	t.Helper()
	refused, _ := errors.AsType[*wasm.LoadError](err)
	kind := wasm.FaultKind(0)
	if f, ok := errors.AsType[*wasm.Fault](err); ok {
		kind = f.Kind
	}
	ok := false
	switch fate {
	case "refused":
		_, by := errors.AsType[*check.Error](err)
		ok = by && refused != nil && refused.Step == wasm.StepCheck && strings.Contains(err.Error(), words)
	case "budget":
		ok = kind == wasm.FaultBudget
	case "stack":
		ok = kind == wasm.FaultBudget || kind == wasm.FaultStack
	case "trap":
		ok = kind == wasm.FaultTrap
	case "accepted":
		if number == "W33" {
			ok = refused != nil && refused.Step == wasm.StepInstance && strings.Contains(err.Error(), "version 2.0 of the contract, this gateway has 1.0")
			break
		}
		ok = m != nil
		for n := 0; ok && n < 20; n++ { // nothing is kept, so the third call is as good as the first
			var out abi.Result
			if err := m.Rank(t.Context(), request(1, 1), &out); err != nil {
				t.Error(err)
			}
		}
	}
	if !ok || (err != nil && m != nil) {
		t.Errorf("want %s with %q, got %v", fate, words, err)
	}
}

// waitFor waits until something that happens in the background is so. The test's
// own deadline ends it.
func waitFor(tb testing.TB, so func() bool) {
	tb.Helper()
	for !so() {
		if tb.Context().Err() != nil {
			tb.Fatal("it never was so")
		}
	}
}

// Bytes that are no module are refused before anything is allocated for them
// (W38, W39, W40, W48, W49, W50), and what was loaded before keeps serving.
func TestRubbish(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	m := load(t, r, wasm.Source{Bytes: read(t, "guests", "admit.wasm")})
	whole := read(t, "guests", "admit.wasm")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(whole)
	_ = z.Close()
	rubbish := [][]byte{nil, {}, []byte("(module)"), zipped.Bytes(), []byte("\x00asm\x0d\x00\x01\x00\x00\x00"), append(bytes.Clone(whole), make([]byte, 100<<20)...)}
	for n := 1; n < len(whole); n += 41 {
		rubbish = append(rubbish, whole[:n])
	}
	for n, b := range rubbish {
		_, err := r.Load(t.Context(), wasm.Source{Name: "rubbish", Bytes: b})
		if refused, ok := errors.AsType[*wasm.LoadError](err); !ok || refused.Step != wasm.StepCheck {
			t.Errorf("%d, %d bytes: %v", n, len(b), err)
		}
	}
	var out abi.Result
	if err := m.Admit(t.Context(), request(3, 1), &out); err != nil || out.Removed != 1 {
		t.Errorf("the policy from before: %+v, %v", out, err)
	}
}

// A thousand slow calls at the same time are served or turned away, and need no
// more memory than the pool has (W55).
func TestManyAtOnce(t *testing.T) {
	m := answers(t, "rank", wasm.Source{Instances: 4, Budget: 100_000})
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			in := request(3, 128)
			in.MaxOutputTokens = 10_000
			var out abi.Result
			err := m.Rank(context.Background(), in, &out)
			if f, ok := errors.AsType[*wasm.Fault](err); err != nil && (!ok || f.Kind != wasm.FaultBusy) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := m.Stats()
	if s.Calls == 0 || s.Calls+s.Faults[wasm.FaultBusy] != 1000+probes || s.Made != 4 || s.Memory != 4*128<<10 {
		t.Errorf("got %+v", s)
	}
}

// probes is how often a module is asked while it is loaded.
const probes = 3

// A policy that faults all the time is stopped all the time, and the policies
// beside it serve every request (W01, W05, W13, W52, W59 in traffic).
func TestFaultsInTraffic(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	healthy := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm"), Instances: 8})
	bad := load(t, r, wasm.Source{Bytes: read(t, "answers", "rank.wasm"), Instances: 2, Budget: 200_000})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var out abi.Result
			modes := []uint32{117, 118, 100, 123, 124, 119, 120, 1}
			for n := range 100 {
				_ = bad.Rank(t.Context(), request(3, modes[(n+g)%len(modes)]), &out)
			}
		})
		wg.Go(func() {
			var out abi.Result
			for range 200 {
				if err := healthy.Rank(t.Context(), request(20, 1), &out); err != nil {
					t.Errorf("a healthy policy: %v", err)
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, func() bool { return bad.Stats().Instances == 2 })
	var out abi.Result
	if err := rankPatiently(bad, request(3, 1), &out); err != nil {
		t.Errorf("when it behaves again: %v", err)
	}
}

// mutants is how many mutated modules are loaded.
func mutants() int {
	switch {
	case os.Getenv("GATEWRIGHT_SOAK") != "":
		return 100_000
	case testing.Short():
		return 200
	}
	return 1500
}

// Honest modules with a few bytes changed are refused, or stopped, or answer;
// the process lives, no call hangs, and what answers keeps to the contract.
func TestSoakMutants(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	rnd := rand.New(rand.NewPCG(21, 22))
	seeds := [][]byte{
		read(t, "guests", "rank.wasm"), read(t, "guests", "admit.wasm"), read(t, "answers", "rank.wasm"),
		read(t, "answers", "admit.wasm"), read(t, "answers", "opa.wasm"), read(t, "answers", "wasi.wasm"),
	}
	host := map[string]wasm.HostFunc{"test.echo": echo, "test.fail": fail, "test.pair": echo}
	loaded, answered, faulted := 0, 0, 0
	for n := range mutants() {
		k := rnd.IntN(len(seeds))
		b := bytes.Clone(seeds[k])
		for range 1 + rnd.IntN(3) {
			b[8+rnd.IntN(len(b)-8)] = byte(rnd.Uint32())
		}
		s := wasm.Source{Name: "mutant", Bytes: b, Instances: 1, Host: host, Budget: 200_000, Entrypoint: "answer"}
		if k == 5 {
			s.Profile = wasm.ProfileGo
		}
		m, err := r.Load(t.Context(), s)
		if err != nil {
			if _, ok := errors.AsType[*wasm.LoadError](err); !ok {
				t.Fatalf("mutant %d: %v", n, err)
			}
			continue
		}
		loaded++
		err = ask(m, uint32(99+rnd.IntN(32)))
		if err == nil || errors.Is(err, wasm.ErrUndefined) {
			answered++
		} else {
			_ = faultOf(t, err)
			faulted++
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d mutants: %d loaded, %d answered, %d faulted", mutants(), loaded, answered, faulted)
	if loaded == 0 || answered == 0 || faulted == 0 {
		t.Error("nothing is tested")
	}
}

// ask asks a module for what it decides.
func ask(m *wasm.Module, mode uint32) error {
	var out abi.Result
	in := request(3, mode)
	switch m.Info().Kind {
	case check.KindUnknown, check.KindOPA:
	case check.KindAdmission:
		return m.Admit(context.Background(), in, &out)
	case check.KindRanking:
		return m.Rank(context.Background(), in, &out)
	}
	_, err := m.Eval(context.Background(), []byte{"edibfugp"[mode%8], ' ', '7'}, nil)
	return err
}

func echo(args []byte) ([]byte, error) { return args, nil }

func fail([]byte) ([]byte, error) { return nil, errors.New("it cannot") }
