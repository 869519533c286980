package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"gatewright/wasm/abi"
	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// instance is one instance of a module. It serves one call at a time.
type instance struct {
	owner  *Module
	module api.Module
	env    api.Module // of an OPA module: owns the memory
	memory api.Memory
	linear *linear

	// ctx carries the instance itself, for the host's functions.
	ctx context.Context //nolint:containedctx // made once, so that a call allocates nothing

	budget  api.MutableGlobal
	globals []api.MutableGlobal // what a guest can change
	decide  api.Function        // gw_admit, gw_rank or opa_eval
	alloc   api.Function
	stack   [7]uint64 // of a call: opa_eval has seven parameters

	base, room uint32 // the buffer that gw_alloc has given
	kept       snapshot
	wasi, born wasi // now, and when the snapshot was taken
	notes      notes
	opa        *opaState

	count *counters
}

const (
	// firstRoom is the buffer that a new instance is asked for, in bytes: enough
	// for some 60 candidates. A guest may refuse it and still serve smaller ones.
	firstRoom = 16 << 10
	roomGrain = 4 << 10
	alignment = 16
)

// newInstance makes an instance that is ready for its first call.
func (m *Module) newInstance() (i *instance, err error) {
	i = &instance{owner: m, linear: &linear{account: &m.runtime.account, limit: maxPages << 16}, count: &counters{}}
	i.wasi.now = wasiStart
	i.ctx = context.WithValue(context.Background(), instanceKey{}, i)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the engine panicked: %v", r)
		}
		if err != nil {
			i.close()
			i = nil
		}
	}()
	if err := i.instantiate(); err != nil {
		return i, err
	}
	for _, name := range []string{meter.Start, "_initialize"} {
		if i.module.ExportedFunction(name) == nil {
			continue
		}
		if _, err := i.ask(name, max(m.info.Budget, m.defaultBudget)); err != nil {
			return i, err
		}
	}
	if m.info.Kind == check.KindOPA {
		return i, i.startOPA()
	}
	return i, i.startPolicy()
}

func (i *instance) instantiate() error {
	ctx := experimental.WithMemoryAllocator(i.ctx, i.linear)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	code := i.owner.code
	if code.env != nil {
		var err error
		if i.env, err = code.engine.InstantiateModule(ctx, code.env, config); err != nil {
			return err
		}
		ctx = experimental.WithImportResolver(ctx, func(name string) api.Module {
			if name == envModule {
				return i.env
			}
			return nil
		})
	}
	var err error
	if i.module, err = code.engine.InstantiateModule(ctx, code.compiled, config); err != nil {
		return err
	}
	i.memory = i.module.Memory()
	var ok bool
	if i.budget, ok = i.module.ExportedGlobal(meter.Budget).(api.MutableGlobal); !ok {
		return errors.New("the module has no budget")
	}
	for n := 0; ; n++ {
		g, ok := i.module.ExportedGlobal(meter.State(n)).(api.MutableGlobal)
		if !ok {
			break
		}
		i.globals = append(i.globals, g)
	}
	name := map[check.Kind]string{check.KindAdmission: "gw_admit", check.KindRanking: "gw_rank", check.KindOPA: "opa_eval"}[i.owner.info.Kind]
	if i.decide = i.module.ExportedFunction(name); i.decide == nil {
		return fmt.Errorf("the module does not export %s", name)
	}
	i.alloc = i.module.ExportedFunction("gw_alloc")
	return nil
}

// startPolicy makes a module of the gateway's own contract ready.
func (i *instance) startPolicy() error {
	version, err := i.ask("gw_abi_version", i.owner.info.Budget)
	if err != nil {
		return err
	}
	if err := supportsNumber(version); err != nil {
		return err
	}
	if err := i.configure(); err != nil {
		return err
	}
	if fault := i.reserve(firstRoom); fault != nil && fault.Kind != FaultMemory {
		return fault
	}
	i.keep(i.memory.Size())
	return nil
}

// configure hands the binding's parameters to the module.
func (i *instance) configure() error {
	params := i.owner.params
	if i.module.ExportedFunction("gw_configure") == nil {
		if params != nil {
			return &abi.AnswerError{Clause: abi.ClauseConfigure, What: "it is given parameters, and takes none: it does not export gw_configure"}
		}
		return nil
	}
	if params == nil {
		params = []byte("{}")
	}
	n := uint32(len(params)) //nolint:gosec // bounded by Load
	at, fault := i.obtain(n)
	if fault != nil {
		return fmt.Errorf("room for parameters: %w", fault)
	}
	i.memory.Write(at, params)
	code, err := i.ask("gw_configure", i.owner.info.Budget, at, n)
	switch {
	case err != nil:
		return err
	case int32(code) < 0: //nolint:gosec // the same bits
		return &abi.AnswerError{
			Clause: abi.ClauseConfigure, What: fmt.Sprintf("gw_configure refused the parameters: it returned %d%s", int32(code), i.notes.last()), //nolint:gosec // the same bits
		}
	}
	return nil
}

// obtain asks gw_alloc for n bytes and checks what it says.
func (i *instance) obtain(n uint32) (uint32, *Fault) {
	at, err := i.ask("gw_alloc", i.owner.info.Budget, n)
	if err != nil {
		fault, ok := errors.AsType[*Fault](err)
		if !ok {
			fault = &Fault{Kind: FaultTrap, Detail: oneLine(err.Error())}
		}
		return 0, fault
	}
	size := i.memory.Size()
	switch {
	case at == 0:
		return 0, allocFault(FaultMemory, "gw_alloc has no room for %d bytes", n)
	case at%alignment != 0:
		return 0, allocFault(FaultContract, "gw_alloc gave %#x, which is no multiple of %d", at, alignment)
	case uint64(at)+uint64(n) > uint64(size):
		return 0, allocFault(FaultContract, "gw_alloc gave %#x for %d bytes, and the memory ends at %#x", at, n, size)
	}
	return at, nil
}

// allocFault is an answer of gw_alloc that is of no use.
func allocFault(kind FaultKind, format string, args ...any) *Fault {
	what := fmt.Sprintf(format, args...)
	return &Fault{Kind: kind, Detail: what, Err: &abi.AnswerError{Clause: abi.ClauseAlloc, What: what}}
}

// reserve gets a buffer of n bytes for inputs.
func (i *instance) reserve(n uint32) *Fault {
	at, fault := i.obtain(n)
	if fault != nil {
		return fault
	}
	i.base, i.room = at, n
	return nil
}

// keep takes the snapshot that each call begins with.
func (i *instance) keep(until uint32) {
	if i.owner.info.Stateful {
		return
	}
	memory, _ := i.memory.Read(0, i.memory.Size())
	i.kept.take(memory, until, i.globals)
	i.born = i.wasi
}

// ask calls an export outside of a request.
func (i *instance) ask(name string, budget int64, args ...uint32) (uint32, error) {
	f := i.module.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("the module does not export %s", name)
	}
	stack := make([]uint64, max(1, len(args)))
	for n, a := range args {
		stack[n] = uint64(a)
	}
	i.budget.Set(uint64(budget)) //nolint:gosec // positive
	if err := f.CallWithStack(i.ctx, stack); err != nil {
		fault := engineFault(err, int64(i.budget.Get())) //nolint:gosec // the same bits
		fault.Module, fault.Detail = i.owner.info.Name, name+": "+fault.Detail
		return 0, fault
	}
	return arg(stack, 0), nil
}

// close frees everything. Nothing of the instance may be used any more.
func (i *instance) close() {
	ctx := context.Background()
	if i.module != nil {
		_ = i.module.Close(ctx)
	}
	if i.env != nil {
		_ = i.env.Close(ctx)
	}
	i.linear.Free() // also when the engine gave up half-way
}

// encode writes in into the guest's buffer, and gets a larger one if it must.
// The error is a *Fault or about the input.
func (i *instance) encode(in *abi.Input, stage abi.Stage) (uint32, error) {
	for {
		buffer, _ := i.memory.Read(i.base, i.room)
		n, err := abi.Encode(buffer, in, stage)
		if err == nil {
			return uint32(n), nil //nolint:gosec // within the buffer
		}
		if size := abi.Size(in); errors.Is(err, abi.ErrShort) && size > int(i.room) {
			if fault := i.enlarge(size); fault != nil {
				return 0, fault
			}
			continue
		}
		return 0, err
	}
}

// enlarge gets a buffer for n bytes, with some more for the next input if the
// guest has room for it, and takes the snapshot anew: it begins where the old
// one was.
func (i *instance) enlarge(n int) *Fault {
	exact := uint32(n+alignment-1) &^ (alignment - 1) //nolint:gosec // a few MiB
	if !i.owner.info.Stateful {
		i.restore()
	}
	fault := i.reserve((exact + exact/4 + roomGrain - 1) &^ (roomGrain - 1))
	if fault != nil && fault.Kind == FaultMemory {
		fault = i.reserve(exact)
	}
	if fault == nil {
		i.keep(i.memory.Size())
	}
	return fault
}

// restore puts the instance back to what it was before the last call.
func (i *instance) restore() {
	memory, _ := i.memory.Read(0, i.memory.Size())
	i.kept.restore(memory, i.globals)
	i.wasi = i.born
}
