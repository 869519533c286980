package check_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/check"
)

// mutate changes a copy of module in one to three places: a byte, a run of
// bytes written over another, a few bytes cut out.
func mutate(r *rand.Rand, module []byte) []byte {
	b := append([]byte(nil), module...)
	for range 1 + r.IntN(3) {
		at := 8 + r.IntN(len(b)-8)
		n := min(1+r.IntN(8), len(b)-at)
		switch r.IntN(8) {
		case 0, 1, 2:
			b[at] = byte(r.Uint32())
		case 3, 4:
			b[at] ^= 1 << r.IntN(8)
		case 5:
			b[at] += byte(r.IntN(3)) - 1
		case 6:
			b = append(b[:at], b[at+n:]...)
		default:
			copy(b[at:at+n], b[8+r.IntN(len(b)-8):])
		}
		if len(b) < 16 {
			return b
		}
	}
	return b
}

// compile gives the engine a module that was accepted. A panic in there is what
// the check is for.
func compile(ctx context.Context, engine wazero.Runtime, module []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine panics: %v", p)
			panic(err)
		}
	}()
	m, err := engine.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	return m.Close(ctx)
}

func TestMutations(t *testing.T) {
	seeds := [][]byte{
		policy(), read(t, "guests", "rank.wasm"), read(t, "guests", "admit.wasm"),
		read(t, "hostile", "W04-indirect-call-tree.wasm"), read(t, "hostile", "W59-host-call-storm.wasm"),
		policy(
			section{elements, list(cat(0, 0x41, 0, 0x0b, 1, 3), cat(5, 0x70, 1, 0xd2, 0, 0x0b))}, section{dataCount, cat(2)},
			section{data, list(cat(0, 0x41, 16, 0x0b, "abc"), cat(1, "de"))},
			section{code, bodies(cat(1, 3, 0x7e), 0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 8, 1, 0, 0x03, 0x40, 0x41, 0, 0x04, 0x7f, 0x41, 1, 0x05, 0x41, 2, 0x0b, 0x0d, 0, 0x0b)},
			section{custom, cat("name", 1, sized(list(cat(0, "f"), cat(1, "g"))), 2, sized(list(cat(0, list(cat(0, "l"))))))},
		),
	}
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	ctx := t.Context()
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(64).
		WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false)))
	defer func() { _ = engine.Close(context.WithoutCancel(ctx)) }()
	r := rand.New(rand.NewPCG(1, 2))
	accepted, valid := 0, 0
	for i := range count {
		module := mutate(r, seeds[i%len(seeds)])
		if _, err := check.Check(module, check.Small()); err != nil {
			continue
		}
		accepted++
		if compile(ctx, engine, module) == nil {
			valid++
		}
	}
	if accepted < count/20 || valid < count/50 {
		t.Errorf("of %d mutants %d are accepted and %d valid: too few to learn from", count, accepted, valid)
	}
	t.Logf("%d mutants, %d accepted, %d of them valid", count, accepted, valid)
}

// What a module claims does not decide what is allocated for it.
func TestAllocation(t *testing.T) {
	const huge = 1<<32 - 1
	modules := map[string][]byte{
		"types":            policy(section{types, u32(huge)}),
		"parameters":       policy(section{types, cat(1, 0x60, u32(huge))}),
		"imports":          policy(section{imports, u32(huge)}),
		"import names":     policy(section{imports, cat(1, u32(huge))}),
		"functions":        policy(section{functions, u32(huge)}),
		"tables":           policy(section{tables, u32(huge)}),
		"table entries":    policy(section{tables, cat(1, 0x70, 0, u32(huge))}),
		"memories":         policy(section{memories, u32(huge)}),
		"memory":           policy(section{memories, cat(1, 1, u32(huge), u32(huge))}),
		"globals":          policy(section{globals, u32(huge)}),
		"exports":          policy(section{exports, u32(huge)}),
		"element segments": policy(section{elements, u32(huge)}),
		"elements":         policy(section{elements, cat(1, 1, 0, u32(huge))}),
		"data segments":    policy(section{data, u32(huge)}),
		"data count":       policy(section{dataCount, u32(huge)}),
		"data":             policy(section{data, cat(1, 1, u32(huge))}),
		"bodies":           policy(section{code, u32(huge)}),
		"body":             policy(section{code, cat(4, u32(huge))}),
		"locals":           policy(section{code, bodies(cat(1, u32(huge), 0x7f))}),
		"groups of locals": policy(section{code, bodies(u32(huge))}),
		"br_table":         does(0x41, 0, 0x0e, u32(huge)),
		"select":           does(0x1c, u32(huge)),
		"names":            policy(section{custom, cat("name", 1, sized(u32(huge)))}),
		"section":          append(policy(), cat(custom, u32(huge))...),
	}
	for name, module := range modules {
		t.Run(name, func(t *testing.T) {
			if bytes := allocated(func() { _ = problems(t, module, check.Small()) }); bytes > 64<<10 {
				t.Errorf("allocates %d bytes for a module of %d", bytes, len(module))
			}
		})
	}
}

// The largest modules that the profile lets through cost what the profile
// bounds, and not more the worse they are.
func TestAllocationIsBoundedByTheProfile(t *testing.T) {
	faults := make([][]byte, 4000)
	for i := range faults {
		faults[i] = sized(cat(0, 0x20, u32(uint32(i)), 0x0b))
	}
	modules := map[string][]byte{
		"a fault in each function": policy(section{functions, cat(u32(4000), repeat(4000, 3))}, section{code, list(faults...)}),
		"most types":               policy(section{types, list(slicesOf(1000, cat(0x60, 32, repeat(32, 0x7f), 16, repeat(16, 0x7f)))...)}),
		"deep and many":            does(repeat(64, 0x03, 0x40), repeat(3000, 0x20, 0), repeat(64, 0x0b)),
		"many customs":             policy(section{custom, cat("name", 1, sized(append(u32(60_000), repeat(120_000, 0)...)))}),
	}
	for name, module := range modules {
		t.Run(name, func(t *testing.T) {
			if bytes := allocated(func() { _, _ = check.Check(module, check.Small()) }); bytes > 1<<20 {
				t.Errorf("allocates %d bytes for a module of %d", bytes, len(module))
			}
		})
	}
}

func slicesOf(n int, b []byte) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = b
	}
	return list
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestRecognizeDoesNotAllocate(t *testing.T) {
	module := policy()
	if n := testing.AllocsPerRun(10, func() { check.Recognize(module) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(policy())
	f.Add(does(0x03, 0x40, 0x0c, 0, 0x0b, 0x02, 0x7f, 0x41, 0, 0x0b, 0x1a, 0xfc, 8, 0, 0))
	f.Add(policy(section{elements, list(cat(5, 0x70, 1, 0xd2, 0, 0x0b))}, section{data, list(cat(0, 0x41, 16, 0x0b, "abc"))}))
	f.Add(policy(section{custom, cat("name", 1, sized(list(cat(0, "f"))), 2, sized(list(cat(0, list(cat(0, "l"))))))}))
	f.Add(policy(section{imports, list(cat("gw", "log", 0, 3), cat("env", "memory", 2, 1, 1, 1))}, section{custom, cat("gatewright.manifest", []byte("{}"))}))
	f.Add(read(f, "guests", "admit.wasm"))
	f.Fuzz(func(t *testing.T, module []byte) {
		for _, p := range []check.Profile{check.Small(), check.Go(), check.OPA()} {
			info, err := check.Check(module, p)
			if (info == nil) == (err == nil) {
				t.Fatalf("info %v and error %v", info, err)
			}
			if info == nil {
				continue
			}
			if info.Bytes != len(module) || info.Kind != check.Recognize(module) {
				t.Fatalf("info %+v of a module of %d bytes", info, len(module))
			}
		}
	})
}
