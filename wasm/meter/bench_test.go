package meter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"

	"gatewright/wasm/meter"
)

// BenchmarkOverhead is what a decision costs with and without the budget, for
// 20 candidates.
func BenchmarkOverhead(b *testing.B) {
	for _, g := range []struct{ file, export string }{{"rank.wasm", "gw_rank"}, {"admit.wasm", "gw_admit"}} {
		plain := read(b, "guests", g.file)
		for name, module := range map[string][]byte{"plain": plain, "metered": instrument(b, plain)} {
			b.Run(g.export+"/"+name, func(b *testing.B) {
				i := instantiate(b, newEngine(b, wazero.NewRuntimeConfigCompiler()), module)
				in := request(rand.New(rand.NewPCG(1, 2)), 20)
				at, _, err := i.call(enough, "gw_alloc", uint64(len(in)))
				if err != nil || !i.Memory().Write(uint32(at[0]), in) {
					b.Fatal(err)
				}
				decide := i.ExportedFunction(g.export)
				var stack [2]uint64
				b.ReportAllocs()
				for b.Loop() {
					if i.budget != nil {
						i.budget.Set(2_000_000)
					}
					stack[0], stack[1] = at[0], uint64(len(in))
					if err := decide.CallWithStack(b.Context(), stack[:]); err != nil {
						b.Fatal(err)
					}
				}
				if i.budget != nil {
					b.ReportMetric(float64(2_000_000-int64(i.budget.Get())), "units/op")
				}
			})
		}
	}
}

// BenchmarkTurn is the dearest case: a loop with nothing in it.
func BenchmarkTurn(b *testing.B) {
	module := program(0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b)
	for name, module := range map[string][]byte{"plain": module, "metered": instrument(b, module)} {
		b.Run(name, func(b *testing.B) {
			i := instantiate(b, newEngine(b, wazero.NewRuntimeConfigCompiler()), module)
			run := i.ExportedFunction("run")
			var stack [1]uint64
			const turns = 100_000
			for b.Loop() {
				if i.budget != nil {
					i.budget.Set(2_000_000)
				}
				stack[0] = turns
				if err := run.CallWithStack(b.Context(), stack[:]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		})
	}
}

func BenchmarkInstrument(b *testing.B) {
	module := read(b, "guests", "opa-rank.wasm")
	b.SetBytes(int64(len(module)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := meter.Instrument(module, meter.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
