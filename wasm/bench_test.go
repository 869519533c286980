package wasm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// pairOfPolicies are the admission and the ranking in C.
func pairOfPolicies(b *testing.B) (admit, rank *wasm.Module) {
	b.Helper()
	r := newRuntime(b, wasm.Config{})
	admit = load(b, r, wasm.Source{Bytes: withManifest(read(b, "guests", "admit.wasm"), `{"name":"x","kind":"admission","reasons":["a","b"]}`)})
	return admit, load(b, r, wasm.Source{Bytes: read(b, "guests", "rank.wasm")})
}

// BenchmarkPaths are what the policies of one request cost, for 20 candidates.
// "floor" is the same ranking in Go.
func BenchmarkPaths(b *testing.B) {
	ctx := context.Background()
	in := request(20, 1)
	floor := func(b *testing.B) {
		b.Helper()
		scores, order := make([]float64, 20), make([]uint32, 0, 20)
		b.ReportAllocs()
		for b.Loop() {
			order = ranked(in, scores, order)
		}
	}
	admit, rank := pairOfPolicies(b)
	var admission, ranking abi.Result
	b.Run("floor", floor)
	b.Run("rank", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := rank.Rank(ctx, in, &ranking); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("admit and rank", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := admit.Admit(ctx, in, &admission); err != nil {
				b.Fatal(err)
			}
			if err := rank.Rank(ctx, in, &ranking); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("admit and rank, in parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			in := request(20, 1)
			var admission, ranking abi.Result
			for p.Next() {
				if err := admit.Admit(ctx, in, &admission); err != nil {
					b.Fatal(err)
				}
				if err := rank.Rank(ctx, in, &ranking); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("spread", func(b *testing.B) {
		took := make([]time.Duration, 0, b.N)
		for range b.N {
			start := time.Now()
			if err := admit.Admit(ctx, in, &admission); err != nil {
				b.Fatal(err)
			}
			if err := rank.Rank(ctx, in, &ranking); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
	})
}

// BenchmarkOPA is a module of OPA's compiler that scores each candidate.
func BenchmarkOPA(b *testing.B) {
	reads, err := abi.ReadsOf([]string{"candidates[_].id", "candidates[_].price", "candidates[_].ttft_ms", "candidates[_].circuit", "candidates[_].affinity", "candidates[_].region"})
	if err != nil {
		b.Fatal(err)
	}
	for _, own := range []bool{true, false} {
		for _, n := range []int{3, 20} {
			b.Run(fmt.Sprintf("own=%v/candidates=%d", own, n), func(b *testing.B) {
				m := load(b, newRuntime(b, wasm.Config{}), wasm.Source{Bytes: read(b, "guests", "opa-rank.wasm"), Own: own})
				in := request(n, 1)
				var doc, value []byte
				b.ReportAllocs()
				for b.Loop() {
					if doc, err = abi.AppendJSON(doc[:0], in, abi.Ranking, reads); err != nil {
						b.Fatal(err)
					}
					if value, err = m.Eval(context.Background(), doc, value[:0]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(m.Stats().Units)/float64(m.Stats().Calls), "units/op")
			})
		}
	}
}

// BenchmarkReset is what it costs to put an instance back: a guest with nothing
// to do, with and without.
func BenchmarkReset(b *testing.B) {
	for _, stateful := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%v", stateful), func(b *testing.B) {
			m := load(b, newRuntime(b, wasm.Config{}), wasm.Source{Bytes: read(b, "answers", "W22-alloc-same.wasm"), Stateful: stateful}) // 64 KiB
			in := request(0, 1)
			var out abi.Result
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Rank(context.Background(), in, &out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRunaway is how long guests that never end take to be stopped, at the
// budget of a ranking.
func BenchmarkRunaway(b *testing.B) {
	for _, g := range []struct {
		name string
		mode uint32
	}{{"loop", 118}, {"recursion", 123}, {"fills", 130}} {
		b.Run(g.name, func(b *testing.B) {
			m := load(b, newRuntime(b, wasm.Config{}), wasm.Source{Bytes: read(b, "answers", "rank.wasm"), Instances: 16})
			in := request(3, g.mode)
			var out abi.Result
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				err := m.Rank(context.Background(), in, &out)
				if f := faultOf(b, err); f.Kind != wasm.FaultBudget {
					continue // no instance was free
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			for name, at := range map[string]int{"best-us": 0, "p50-us": len(took) / 2, "p99-us": len(took) * 99 / 100} {
				b.ReportMetric(float64(took[at].Microseconds()), name)
			}
		})
	}
}

// BenchmarkLoad is what it takes to accept a module and make an instance of it,
// compiled anew and from the cache.
func BenchmarkLoad(b *testing.B) {
	for _, module := range []string{"rank", "opa-rank"} {
		bytes := read(b, "guests", module+".wasm")
		dir := b.TempDir()
		for _, cached := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/cached=%v", module, cached), func(b *testing.B) {
				for b.Loop() {
					c := wasm.Config{}
					if cached {
						c.CacheDir = dir
					}
					r, err := wasm.NewRuntime(c)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := r.Load(context.Background(), wasm.Source{Name: module, Bytes: bytes}); err != nil {
						b.Fatal(err)
					}
					if err := r.Close(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
