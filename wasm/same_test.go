package wasm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// The same request gets the same answer, from any instance, after any other
// request, in any goroutine.
func TestSameDecision(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	m := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm"), Instances: 3})
	admits := load(t, r, wasm.Source{Bytes: read(t, "answers", "admit.wasm"), Instances: 3})
	want := map[int][]uint32{}
	for n := range 40 {
		want[n] = ranked(request(n, 1), make([]float64, n), nil)
	}
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			var out abi.Result
			for range 300 {
				n := rnd.IntN(40)
				if err := rankPatiently(m, request(n, 1), &out); err != nil {
					t.Error(err)
					return
				}
				if !slices.Equal(out.Order, want[n]) {
					t.Errorf("%d candidates: got %v, want %v", n, out.Order, want[n])
				}
				if err := admits.Admit(context.Background(), request(3, 100), &out); err == nil && out.Removed != 1 {
					t.Errorf("got %+v", out)
				}
			}
		})
	}
	wg.Wait()
	if s := m.Stats(); s.InUse != 0 || s.Instances != 3 {
		t.Errorf("got %+v", s)
	}
}

// Loads, calls, faults and closes at the same time.
func TestHammer(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	sources := []wasm.Source{
		{Name: "a", Bytes: read(t, "answers", "rank.wasm"), Instances: 2, Budget: 100_000},
		{Name: "b", Bytes: read(t, "guests", "rank.wasm"), Instances: 2},
		{Name: "c", Bytes: read(t, "answers", "opa.wasm"), Instances: 2, Entrypoint: "answer", Host: served()},
	}
	var mu sync.Mutex
	current := make([]*wasm.Module, len(sources))
	for k, s := range sources {
		current[k] = load(t, r, s)
	}
	var callers, loader sync.WaitGroup
	stop := make(chan struct{})
	loader.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			k := n % len(sources)
			renewed := load(t, r, sources[k])
			mu.Lock()
			old := current[k]
			current[k] = renewed
			mu.Unlock()
			if err := old.Close(context.Background()); err != nil {
				t.Error(err)
			}
			_ = old.Stats()
		}
	})
	for g := range 6 {
		callers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 2))
			for range 200 {
				mu.Lock()
				m := current[rnd.IntN(len(current))]
				mu.Unlock()
				_ = ask(m, uint32(99+rnd.IntN(32)))
				_ = m.Stats()
			}
		})
	}
	callers.Wait()
	close(stop)
	loader.Wait()
}

func TestCallsDoNotAllocate(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	ctx := context.Background()
	rank := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
	admit := load(t, r, wasm.Source{Bytes: withManifest(read(t, "guests", "admit.wasm"), `{"name":"x","kind":"admission","reasons":["a","b"]}`)})
	opa := load(t, r, wasm.Source{Bytes: read(t, "guests", "opa-rank.wasm"), Own: true})
	in := request(20, 1)
	reads, err := abi.ReadsOf([]string{"candidates[_].id", "candidates[_].price", "candidates[_].ttft_ms", "candidates[_].region"})
	if err != nil {
		t.Fatal(err)
	}
	var ranking, admission abi.Result
	var doc, value []byte
	for name, call := range map[string]func() error{
		"Rank":  func() error { return rank.Rank(ctx, in, &ranking) },
		"Admit": func() error { return admit.Admit(ctx, in, &admission) },
		"Eval": func() (err error) {
			if doc, err = abi.AppendJSON(doc[:0], in, abi.Ranking, reads); err != nil {
				return err
			}
			value, err = opa.Eval(ctx, doc, value[:0])
			return err
		},
	} {
		for range 20 { // every instance has its buffers
			if err := call(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if n := testing.AllocsPerRun(100, func() { err = call() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}
