package rego

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// testBudget is what an evaluation may use in tests, in units: the most that the
// gateway gives a policy.
const testBudget = 50_000_000

var errUndefined = errors.New("undefined")

// compilations are shared by all instances of a test run.
var compilations = wazero.NewCompilationCache()

// instance runs a compiled policy in tests: the structure check, the budget and
// an engine, as the gateway puts them together.
type instance struct {
	runtime  wazero.Runtime
	module   api.Module
	memory   api.Memory
	budget   api.MutableGlobal
	builtins map[uint32]string
	entries  map[string]uint32
	data     uint64
	heap     uint64
	used     int64 // units of the last evaluation
}

// newInstance makes an instance of a module with its data.
func newInstance(ctx context.Context, tb testing.TB, module []byte, data string) *instance {
	tb.Helper()
	if _, err := check.Check(module, check.OPA()); err != nil {
		tb.Fatal(err)
	}
	metered, err := meter.Instrument(module, meter.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	i := &instance{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(256).WithCompilationCache(compilations))}
	tb.Cleanup(func() { _ = i.runtime.Close(context.WithoutCancel(ctx)) })
	if err := i.start(ctx, metered, data); err != nil {
		tb.Fatal(err)
	}
	return i
}

func (i *instance) start(ctx context.Context, metered []byte, data string) error {
	i32 := api.ValueTypeI32
	host := i.runtime.NewHostModuleBuilder("opa")
	host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		panic("aborted: " + i.text(uint32(stack[0])))
	}), []api.ValueType{i32}, nil).Export("abort")
	params := []api.ValueType{i32, i32}
	for n := range 5 {
		host.NewFunctionBuilder().WithGoModuleFunction(i.serve(n), params, []api.ValueType{i32}).Export(strconv.Itoa(n))
		params = append(params, i32)
	}
	if _, err := host.Instantiate(ctx); err != nil {
		return err
	}
	env, err := i.runtime.InstantiateWithConfig(ctx, environment(), wazero.NewModuleConfig().WithName("env"))
	if err != nil {
		return err
	}
	i.memory = env.Memory()
	if i.module, err = i.runtime.InstantiateWithConfig(ctx, metered, wazero.NewModuleConfig().WithName("")); err != nil {
		return err
	}
	i.budget = i.module.ExportedGlobal(meter.Budget).(api.MutableGlobal)
	if i.module.ExportedFunction(meter.Start) != nil {
		i.must(ctx, meter.Start)
	}
	names := map[string]uint32{}
	if err := json.Unmarshal([]byte(i.text(i.must(ctx, "opa_json_dump", uint64(i.must(ctx, "builtins"))))), &names); err != nil {
		return err
	}
	i.builtins = map[uint32]string{}
	for name, id := range names {
		i.builtins[id] = name
	}
	if err := json.Unmarshal([]byte(i.text(i.must(ctx, "opa_json_dump", uint64(i.must(ctx, "entrypoints"))))), &i.entries); err != nil {
		return err
	}
	at := i.must(ctx, "opa_malloc", uint64(len(data)))
	i.memory.WriteString(at, data)
	i.data = uint64(i.must(ctx, "opa_json_parse", uint64(at), uint64(len(data))))
	i.heap = uint64(i.must(ctx, "opa_heap_ptr_get"))
	return nil
}

// must calls an export with plenty of budget.
func (i *instance) must(ctx context.Context, name string, args ...uint64) uint32 {
	i.budget.Set(1 << 40)
	result, err := i.module.ExportedFunction(name).Call(ctx, args...)
	if err != nil {
		panic(err)
	}
	if len(result) == 0 {
		return 0
	}
	return uint32(result[0])
}

func (i *instance) text(at uint32) string {
	b, _ := i.memory.Read(at, i.memory.Size()-at)
	return string(b[:bytes.IndexByte(b, 0)])
}

// serve serves built-ins with so many arguments. One that fails ends the
// evaluation: that is what makes a policy strict.
func (i *instance) serve(arity int) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		name := i.builtins[uint32(stack[0])]
		f, ok := Builtin(name)
		if !ok {
			panic("the built-in " + name + " is not served")
		}
		call := func(name string, args ...uint64) uint32 {
			r, err := i.module.ExportedFunction(name).Call(ctx, args...)
			if err != nil {
				panic(err)
			}
			return uint32(r[0])
		}
		args := []byte{'['}
		for n := range arity {
			if n > 0 {
				args = append(args, ',')
			}
			args = append(args, i.text(call("opa_json_dump", stack[2+n]))...)
		}
		args = append(args, ']')
		i.budget.Set(i.budget.Get() - uint64(BuiltinCost(name, args)))
		result, err := f(args)
		if err != nil {
			panic(err)
		}
		at := call("opa_malloc", uint64(len(result)))
		i.memory.Write(at, result)
		stack[0] = uint64(call("opa_json_parse", uint64(at), uint64(len(result))))
	}
}

// eval evaluates an entry point and returns its value. Every error but
// errUndefined is a fault.
func (i *instance) eval(ctx context.Context, entry, input string) (string, error) {
	id, ok := i.entries[entry]
	if !ok {
		return "", fmt.Errorf("no entry point %q", entry)
	}
	n := uint64(len(input))
	if end := i.heap + n; end > uint64(i.memory.Size()) {
		i.memory.Grow(uint32(end-uint64(i.memory.Size()))/65536 + 1)
	}
	i.memory.WriteString(uint32(i.heap), input)
	i.budget.Set(testBudget)
	result, err := i.module.ExportedFunction("opa_eval").Call(ctx, 0, uint64(id), i.data, i.heap, n, (i.heap+n+7)&^7, 0)
	i.used = testBudget - int64(i.budget.Get())
	if err != nil {
		return "", err
	}
	var set []struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal([]byte(i.text(uint32(result[0]))), &set); err != nil {
		return "", err
	}
	if len(set) == 0 {
		return "", errUndefined
	}
	return string(set[0].Result), nil
}

// environment is the module that an OPA module imports from: it owns the memory
// and passes the host's functions on.
func environment() []byte {
	size := func(n int) []byte { return []byte{byte(n)} }
	name := func(s string) []byte { return append(size(len(s)), s...) }
	list := func(items [][]byte) []byte { return append(size(len(items)), slices.Concat(items...)...) }
	types := [][]byte{{0x60, 1, 0x7f, 0}}
	imports := [][]byte{slices.Concat(name("opa"), name("abort"), []byte{0, 0})}
	exports := [][]byte{append(name("memory"), 2, 0), append(name("opa_abort"), 0, 0), append(name("opa_println"), 0, 0)}
	for n := range 5 {
		types = append(types, slices.Concat([]byte{0x60, byte(n + 2)}, bytes.Repeat([]byte{0x7f}, n+2), []byte{1, 0x7f}))
		imports = append(imports, slices.Concat(name("opa"), name(strconv.Itoa(n)), []byte{0, byte(n + 1)}))
		exports = append(exports, append(name("opa_builtin"+strconv.Itoa(n)), 0, byte(n+1)))
	}
	module := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{{1, list(types)}, {2, list(imports)}, {5, []byte{1, 1, 8, 0x80, 2}}, {7, list(exports)}} {
		n := len(s.body)
		module = append(module, s.id, byte(n)|0x80, byte(n>>7))
		module = append(module, s.body...)
	}
	return module
}

// needs are the built-ins that a module asks the host for.
func (i *instance) needs() iter.Seq[string] { return maps.Values(i.builtins) }
