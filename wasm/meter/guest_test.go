package meter_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/meter"
)

// enough is a budget that no honest guest uses up.
const enough = 1 << 40

func read(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"../../testdata/wasm"}, parts...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func instrument(tb testing.TB, module []byte) []byte {
	tb.Helper()
	b, err := meter.Instrument(module, meter.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// engines are the two ways in which a module is run.
var engines = []struct {
	name   string
	config func() wazero.RuntimeConfig
}{
	{"compiler", wazero.NewRuntimeConfigCompiler},
	{"interpreter", wazero.NewRuntimeConfigInterpreter},
}

// newEngine makes a runtime as the sandbox does, with the function that the
// host offers to policies.
func newEngine(tb testing.TB, config wazero.RuntimeConfig) wazero.Runtime {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	features := api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false)
	r := wazero.NewRuntimeWithConfig(ctx, config.WithMemoryLimitPages(64).WithCoreFeatures(features))
	tb.Cleanup(func() { _ = r.Close(ctx) })
	i32 := api.ValueTypeI32
	_, err := r.NewHostModuleBuilder("gw").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {}), []api.ValueType{i32, i32, i32}, nil).
		Export("log").Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// instance is an instance of a plain or an instrumented module.
type instance struct {
	api.Module
	ctx    context.Context //nolint:containedctx // of the test
	budget api.MutableGlobal
}

func instantiate(tb testing.TB, r wazero.Runtime, module []byte) *instance {
	tb.Helper()
	ctx := tb.Context()
	m, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		tb.Fatal(err)
	}
	i := &instance{Module: m, ctx: ctx}
	if g := m.ExportedGlobal(meter.Budget); g != nil {
		i.budget = g.(api.MutableGlobal)
	}
	return i
}

// call calls an export with a budget and returns what it used.
func (i *instance) call(budget int64, name string, args ...uint64) (result []uint64, used int64, err error) {
	if i.budget != nil {
		i.budget.Set(uint64(budget))
	}
	result, err = i.ExportedFunction(name).Call(i.ctx, args...)
	if i.budget != nil {
		used = budget - int64(i.budget.Get())
	}
	return result, used, err
}

// request is a buffer of the contract's version 1 with so many candidates.
func request(r *rand.Rand, count int) []byte {
	const header, record = 160, 216
	order := header + record*count
	texts := order + 4*count + 256
	b := make([]byte, texts+16*count)
	put32, put64 := binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	copy(b, "GWP1")
	for at, v := range map[int]int{4: 0x10000, 8: count, 12: record, 16: header, 20: texts, 40: 1200, 44: 500, 104: order, 112: order + 4*count, 116: 256} {
		put32(b[at:], uint32(v))
	}
	put64(b[24:], r.Uint64())
	put64(b[56:], 1<<40)
	regions := []string{"eu-west", "eu-central", "eu-north", "us-east", "us-west-2"}
	for i := range count {
		p := b[header+record*i:]
		put32(p, uint32(i))
		put32(p[36:], r.Uint32N(3))
		for _, at := range []int{40, 48, 64, 72} {
			put64(p[at:], r.Uint64N(20_000))
		}
		put64(p[96:], r.Uint64N(1_000_000))
		put32(p[120:], r.Uint32N(10))
		put64(p[200:], r.Uint64N(1<<41))
		at := texts + 16*i
		put32(p[160:], uint32(at))
		put32(p[164:], uint32(copy(b[at:], regions[r.IntN(len(regions))])))
	}
	return b
}

// decision is all that a guest leaves behind.
type decision struct {
	result []uint64
	memory []byte
	err    string
}

func (d decision) equal(o decision) bool {
	return slices.Equal(d.result, o.result) && bytes.Equal(d.memory, o.memory) && d.err == o.err
}

func (i *instance) decide(tb testing.TB, name string, request []byte) (d decision, used int64) {
	tb.Helper()
	at, _, err := i.call(enough, "gw_alloc", uint64(len(request)))
	if err != nil {
		tb.Fatal(err)
	}
	if at[0] == 0 || !i.Memory().Write(uint32(at[0]), request) {
		tb.Fatalf("no room for %d bytes at %d", len(request), at[0])
	}
	result, used, err := i.call(enough, name, at[0], uint64(len(request)))
	all, _ := i.Memory().Read(0, i.Memory().Size())
	return decision{result, slices.Clone(all), fmt.Sprint(err)}, used
}

// mutable is the n-th global of state, nil if there are fewer.
func (i *instance) mutable(n int) api.MutableGlobal {
	g, _ := i.ExportedGlobal(meter.State(n)).(api.MutableGlobal)
	return g
}
