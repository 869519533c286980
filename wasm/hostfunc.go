package wasm

import (
	"context"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/check"
)

// hostCall is a function of the host. The stack holds the arguments and takes
// the result. Only the lower half of a slot is defined for an i32.
type hostCall func(i *instance, stack []uint64)

// instanceKey is the key of the instance in the context of its calls.
type instanceKey struct{}

// guestCall makes a function that the engine can call of a hostCall.
func guestCall(f hostCall) api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
		i, _ := ctx.Value(instanceKey{}).(*instance)
		f(i, stack)
	})
}

// offer makes the host module that a list of imports asks for, under another
// name if one is given. Every import must have a function, with the signature
// that the structure check holds modules to.
func offer(ctx context.Context, r wazero.Runtime, module, as string, imports []check.Extern, functions map[string]hostCall) error {
	b := r.NewHostModuleBuilder(as)
	for _, e := range imports {
		if e.Module != module || e.Kind != check.ExternFunc {
			continue
		}
		f := functions[e.Name]
		if f == nil {
			return fmt.Errorf("the host function %s.%s does not exist", module, e.Name)
		}
		params, results := signature(e.Type)
		b.NewFunctionBuilder().WithGoModuleFunction(guestCall(f), params, results).Export(e.Name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// signature reads a type like "(i32, i64) -> i32".
func signature(s string) (params, results []api.ValueType) {
	in, out, _ := strings.Cut(s, "->")
	return valueTypes(in), valueTypes(out)
}

func valueTypes(s string) []api.ValueType {
	var list []api.ValueType
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		switch name {
		case "i32":
			list = append(list, api.ValueTypeI32)
		case "i64":
			list = append(list, api.ValueTypeI64)
		case "f32":
			list = append(list, api.ValueTypeF32)
		case "f64":
			list = append(list, api.ValueTypeF64)
		}
	}
	return list
}

// arg is an i32 argument.
func arg(stack []uint64, n int) uint32 { return uint32(stack[n]) } //nolint:gosec // the upper half is undefined

// charge takes units from what is left to the guest, and ends the call when
// that is nothing.
func (i *instance) charge(units int64) {
	left := int64(i.budget.Get()) - units //nolint:gosec // the same bits
	i.budget.Set(uint64(left))            //nolint:gosec // the same bits
	if left < 0 {
		panic(&hostError{FaultBudget, "its instructions are used up"})
	}
}

// view is a piece of the guest's memory, which it must have. what asks for it.
func (i *instance) view(what string, at, n uint32) []byte {
	b, ok := i.memory.Read(at, n)
	if !ok {
		panic(&hostError{FaultHost, fmt.Sprintf("%s: %d bytes at %#x lie outside its memory", what, n, at)})
	}
	return b
}
