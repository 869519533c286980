package wasm

import (
	"context"
	"errors"
	"fmt"

	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// errKind is a module that is asked for what it does not decide.
var errKind = errors.New("the module is of another kind")

// Admit asks an admission module about in and puts its verified answer into
// out. The error is a *Fault, the context's if it ended before the call began,
// or about an input that nobody may be given (abi.ErrTooMany); out is of no use
// then. A call that has begun ends by its budget and not by the context. It
// allocates nothing once out has grown.
func (m *Module) Admit(ctx context.Context, in *abi.Input, out *abi.Result) error {
	return m.answer(ctx, in, out, abi.Admission, check.KindAdmission)
}

// Rank asks a ranking module, like Admit.
func (m *Module) Rank(ctx context.Context, in *abi.Input, out *abi.Result) error {
	return m.answer(ctx, in, out, abi.Ranking, check.KindRanking)
}

func (m *Module) answer(ctx context.Context, in *abi.Input, out *abi.Result, stage abi.Stage, kind check.Kind) error {
	if m.info.Kind != kind {
		return fmt.Errorf("policy %q decides %s: %w", m.info.Name, m.info.Kind, errKind)
	}
	i, err := m.pool.get(ctx)
	if err != nil {
		return m.missed(err)
	}
	return m.finish(ctx, i, i.answer(in, out, stage))
}

// Eval evaluates the entry point of a module of OPA's compiler on input, which is
// JSON, and appends its value, which the module wrote as JSON and nobody has
// parsed, to dst. The error is like that of Admit, or ErrUndefined. It allocates
// nothing once dst is large enough.
func (m *Module) Eval(ctx context.Context, input, dst []byte) ([]byte, error) {
	if m.info.Kind != check.KindOPA {
		return dst, fmt.Errorf("policy %q decides %s: %w", m.info.Name, m.info.Kind, errKind)
	}
	i, err := m.pool.get(ctx)
	if err != nil {
		return dst, m.missed(err)
	}
	dst, err = i.protectedEvaluate(input, dst)
	return dst, m.finish(ctx, i, err)
}

// missed is a call for which there was no instance.
func (m *Module) missed(err error) error {
	fault, ok := err.(*Fault) //nolint:errorlint // get returns it bare
	if !ok {
		return err
	}
	fault.Module = m.info.Name
	m.count.faults[fault.Kind].Add(1)
	return fault
}

// finish gives the instance back and says how the call ended.
func (m *Module) finish(ctx context.Context, i *instance, err error) error {
	if len(i.notes.lines) > 0 || i.notes.dropped > 0 {
		m.tell(ctx, &i.notes)
	}
	fault, ok := err.(*Fault) //nolint:errorlint // calls return it bare
	if !ok {
		m.pool.put(i, !m.info.Stateful && i.spent())
		return err
	}
	fault.Module = m.info.Name
	i.count.faults[fault.Kind].Add(1)
	m.pool.put(i, true)
	return fault
}

// spent puts the instance back to what it was, and reports whether that is not
// possible: a memory that has grown cannot shrink.
func (i *instance) spent() bool {
	if size := i.memory.Size(); size != i.kept.size {
		i.count.grown.Add(1)
		if i.opa != nil {
			i.owner.makeRoom(size)
		}
		return true
	}
	i.restore()
	return false
}

// answer is one call of gw_admit or gw_rank. The error is a *Fault or about the
// input.
func (i *instance) answer(in *abi.Input, out *abi.Result, stage abi.Stage) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostPanic(r)
		}
	}()
	n, err := i.encode(in, stage)
	if err != nil {
		return err
	}
	i.stack[0], i.stack[1] = uint64(i.base), uint64(n)
	if fault := i.run(i.owner.info.Budget); fault != nil {
		return fault
	}
	buffer, _ := i.memory.Read(i.base, n)
	code := int32(arg(i.stack[:], 0)) //nolint:gosec // the same bits
	if err := out.Read(buffer, len(in.Records), stage, code, len(i.owner.info.Reasons)); err != nil {
		return answerFault(err)
	}
	return nil
}

func (i *instance) protectedEvaluate(input, dst []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = dst, hostPanic(r)
		}
	}()
	return i.evaluate(input, dst)
}

// hostPanic is a panic of the host's own code: a fault of this call, not the end
// of the process.
func hostPanic(r any) *Fault {
	return &Fault{Kind: FaultHost, Detail: oneLine(fmt.Sprint("the host panicked: ", r))}
}

// run calls the export that decides, with the budget of one call. Arguments and
// result are in i.stack.
func (i *instance) run(budget int64) *Fault {
	i.budget.Set(uint64(budget)) //nolint:gosec // positive
	err := i.decide.CallWithStack(i.ctx, i.stack[:])
	left := int64(i.budget.Get()) //nolint:gosec // the same bits
	i.count.calls.Add(1)
	i.count.units.Add(uint64(min(budget, budget-left))) //nolint:gosec // positive
	if err != nil {
		return engineFault(err, left)
	}
	return nil
}
