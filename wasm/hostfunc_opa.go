package wasm

import (
	"bytes"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Bounds and costs of the built-ins that the host serves.
const (
	maxArguments   = 256 << 10 // bytes of JSON: more than any text that a policy is given
	maxBuiltin     = 256 << 10 // the same, of a result
	builtinCall    = 1000      // units of one call
	builtinPerByte = 16        // units of a byte, in and out; see also Source.HostCost
	maxAbort       = 512       // bytes of a message that are read
)

// opaFunctions are those that OPA's modules import.
var opaFunctions = map[string]hostCall{
	"opa_abort":    opaAbort,
	"opa_println":  opaPrint,
	"opa_builtin0": opaBuiltin(0),
	"opa_builtin1": opaBuiltin(1),
	"opa_builtin2": opaBuiltin(2),
	"opa_builtin3": opaBuiltin(3),
	"opa_builtin4": opaBuiltin(4),
}

func opaAbort(i *instance, stack []uint64) {
	panic(&hostError{FaultTrap, "aborted: " + oneLine(string(i.text(arg(stack, 0), maxAbort)))})
}

// opaPrint drops what a policy prints: Rego has the decision to say something.
func opaPrint(i *instance, _ []uint64) { i.count.dropped.Add(1) }

// text is a text with a zero behind it, or its beginning.
func (i *instance) text(at uint32, limit int) []byte {
	size := i.memory.Size()
	if at >= size {
		return nil
	}
	b := i.view("text", at, min(size-at, uint32(limit))) //nolint:gosec // bounds
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return b
}

// opaBuiltin serves a call of a built-in with so many arguments: it takes them
// out of the guest as JSON, asks, and puts the answer into the guest.
func opaBuiltin(arity int) hostCall {
	return func(i *instance, stack []uint64) {
		id := arg(stack, 0)
		b := i.opa.builtin(id)
		if b == nil {
			panic(&hostError{FaultHost, fmt.Sprintf("the built-in number %d is not one that it names", id)})
		}
		args := i.opa.args[:0]
		args = append(args, '[')
		for n := range arity {
			if n > 0 {
				args = append(args, ',')
			}
			doc := i.text(i.reenter(i.opa.dump, arg(stack, 2+n), 0), maxArguments-len(args))
			if args = append(args, doc...); len(args) >= maxArguments {
				panic(&hostError{FaultHost, fmt.Sprintf("%s: the arguments have more than %d bytes", b.name, maxArguments)})
			}
		}
		args = append(args, ']')
		i.opa.args = args
		i.charge(i.owner.hostCost(b.name, args))
		i.count.builtins.Add(1)
		result := b.ask(args)
		if len(result) > maxBuiltin {
			panic(&hostError{FaultHost, fmt.Sprintf("%s: the result has more than %d bytes", b.name, maxBuiltin)})
		}
		i.charge(int64(len(result)) * builtinPerByte)
		at := i.reenter(i.opa.malloc, uint32(len(result)), 0)    //nolint:gosec // bounded
		copy(i.view(b.name, at, uint32(len(result))), result)    //nolint:gosec // bounded
		value := i.reenter(i.opa.parse, at, uint32(len(result))) //nolint:gosec // bounded
		if value == 0 {
			panic(&hostError{FaultHost, b.name + ": the result is not JSON"})
		}
		stack[0] = uint64(value)
	}
}

// reenter calls a function of the guest while the guest waits for the host.
func (i *instance) reenter(f api.Function, a, b uint32) uint32 {
	stack := &i.opa.stack
	stack[0], stack[1] = uint64(a), uint64(b)
	if err := f.CallWithStack(i.ctx, stack[:]); err != nil {
		fault := engineFault(err, int64(i.budget.Get())) //nolint:gosec // the same bits
		panic(&hostError{fault.Kind, fault.Detail})
	}
	return arg(stack[:], 0)
}

// builtin is a built-in that the host serves.
type builtin struct {
	name string
	call HostFunc
}

// ask calls it. An error or a panic of it ends the evaluation, not the process.
func (b *builtin) ask(args []byte) []byte {
	defer func() {
		if r := recover(); r != nil {
			panic(&hostError{FaultHost, fmt.Sprintf("%s: %v", b.name, r)})
		}
	}()
	result, err := b.call(args)
	if err != nil {
		panic(err)
	}
	return result
}

// usualCost is what a built-in costs if nobody knows better.
func usualCost(_ string, args []byte) int64 {
	return builtinCall + int64(len(args))*builtinPerByte
}
