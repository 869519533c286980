package meter_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// environment is the module that an OPA module imports from, as text:
//
//	(module
//	  (import "opa" "abort" (func (param i32)))
//	  (import "opa" "0" (func (param i32 i32) (result i32))) … 4
//	  (memory (export "memory") 8 64)
//	  (export "opa_abort" (func 0)) (export "opa_builtin0" (func 1)) … 4)
func environment() []byte {
	var types, imports, exports [][]byte
	types = append(types, cat(0x60, 1, 0x7f, 0))
	imports = append(imports, cat("opa", "abort", 0, 0))
	exports = append(exports, cat("memory", 2, 0), cat("opa_abort", 0, 0))
	for i := range 5 {
		types = append(types, cat(0x60, i+2, repeat(i+2, 0x7f), 1, 0x7f))
		imports = append(imports, cat("opa", strconv.Itoa(i), 0, i+1))
		exports = append(exports, cat("opa_builtin"+strconv.Itoa(i), 0, i+1))
	}
	return assemble(section{1, list(types...)}, section{2, list(imports...)}, section{5, cat(1, 1, 8, 64)}, section{7, list(exports...)})
}

// opa is an instance of an OPA module with its data read.
type opa struct {
	*instance
	memory     api.Memory
	data, heap uint64
}

func newOPA(t *testing.T, config wazero.RuntimeConfig, module []byte, data string) *opa {
	t.Helper()
	ctx := t.Context()
	r := newEngine(t, config)
	host := r.NewHostModuleBuilder("opa")
	fails := api.GoModuleFunc(func(context.Context, api.Module, []uint64) { panic("the policy calls the host") })
	i32 := api.ValueTypeI32
	host.NewFunctionBuilder().WithGoModuleFunction(fails, []api.ValueType{i32}, nil).Export("abort")
	params := []api.ValueType{i32, i32}
	for i := range 5 {
		host.NewFunctionBuilder().WithGoModuleFunction(fails, params, []api.ValueType{i32}).Export(strconv.Itoa(i))
		params = append(params, i32)
	}
	if _, err := host.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	env, err := r.InstantiateWithConfig(ctx, environment(), wazero.NewModuleConfig().WithName("env"))
	if err != nil {
		t.Fatal(err)
	}
	o := &opa{instance: instantiate(t, r, module), memory: env.Memory()}
	if o.ExportedFunction(meter.Start) != nil {
		o.must(t, meter.Start)
	}
	at := o.must(t, "opa_malloc", uint64(len(data)))
	o.memory.WriteString(uint32(at), data)
	o.data = o.must(t, "opa_json_parse", at, uint64(len(data)))
	o.heap = o.must(t, "opa_heap_ptr_get")
	return o
}

func (o *opa) must(t *testing.T, name string, args ...uint64) uint64 {
	t.Helper()
	result, _, err := o.call(enough, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	if len(result) == 0 {
		return 0
	}
	return result[0]
}

// eval evaluates the first entry point.
func (o *opa) eval(t *testing.T, input string) (result string, used int64) {
	t.Helper()
	o.memory.WriteString(uint32(o.heap), input)
	n := uint64(len(input))
	at, used, err := o.call(enough, "opa_eval", 0, 0, o.data, o.heap, n, (o.heap+n+7)&^7, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := o.memory.Read(uint32(at[0]), 4096)
	return string(text[:bytes.IndexByte(text, 0)]), used
}

func candidates(count int) string {
	var list []string
	for i := range count {
		circuit := []string{"closed", "half_open", "closed"}[i%3]
		list = append(list, fmt.Sprintf(`{"id":"d%d","region":"r%d","price":%d,"ttft_ms":%d,"circuit":%q,"affinity":%v}`, i, i%4, i*7919%100_000, i*131%900, circuit, i == 7))
	}
	return `{"candidates":[` + strings.Join(list, ",") + `]}`
}

// A policy that OPA compiled gives the same result with the budget in it, and
// takes the same units in both engines.
func TestOPA(t *testing.T) {
	plain := read(t, "guests", "opa-rank.wasm")
	if _, err := check.Check(plain, check.OPA()); err != nil {
		t.Fatal(err)
	}
	metered := instrument(t, plain)
	const data = `{"params":{"weights":{"r1":3,"r2":17}}}`
	for _, count := range []int{0, 1, 20} {
		want, _ := newOPA(t, wazero.NewRuntimeConfigCompiler(), plain, data).eval(t, candidates(count))
		if count > 0 && !strings.Contains(want, `"d0":3`) && !strings.Contains(want, `"d0":5`) {
			t.Fatalf("the plain module answers %s", want)
		}
		var units []int64
		for _, e := range engines {
			got, used := newOPA(t, e.config(), metered, data).eval(t, candidates(count))
			if got != want {
				t.Errorf("%s: got %s, want %s", e.name, got, want)
			}
			units = append(units, used)
		}
		if units[0] != units[1] || units[0] > 5_000_000 {
			t.Errorf("%v units for %d candidates", units, count)
		}
	}
}
