package meter_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"

	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// mutate changes a copy of module in one to three places.
func mutate(r *rand.Rand, module []byte) []byte {
	b := append([]byte(nil), module...)
	for range 1 + r.IntN(3) {
		at := 8 + r.IntN(len(b)-8)
		switch r.IntN(7) {
		case 0, 1:
			b[at] = byte(r.Uint32())
		case 2, 3:
			b[at] ^= 1 << r.IntN(8)
		case 4:
			b[at] += byte(r.IntN(3)) - 1
		case 5:
			n := min(1+r.IntN(8), len(b)-at)
			copy(b[at:at+n], b[8+r.IntN(len(b)-8):])
		default:
			if n := min(1+r.IntN(4), len(b)-at); len(b)-n >= 16 {
				b = append(b[:at], b[at+n:]...)
			}
		}
	}
	return b
}

// errPanic is a panic of the engine.
var errPanic = errors.New("the engine panics")

// try compiles a module and, if it has gw_rank, calls that with a budget.
func try(ctx context.Context, r wazero.Runtime, module []byte, run bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	defer func() { _ = compiled.Close(ctx) }()
	if !run {
		return nil
	}
	i, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil // data that does not fit: it compiled, which is the question
	}
	defer func() { _ = i.Close(ctx) }()
	_, _ = i.ExportedFunction("gw_rank").Call(ctx, 1024, 160) // ends, however
	return nil
}

// Random changes never make Instrument panic; what the check and the engine
// accept, both accept with a budget; and whatever it does, it ends.
func TestMutations(t *testing.T) {
	seeds := [][]byte{
		read(t, "guests", "rank.wasm"), read(t, "hostile", "W04-indirect-call-tree.wasm"),
		read(t, "hostile", "W06-mutual-recursion.wasm"), read(t, "hostile", "W12-fills.wasm"), read(t, "hostile", "W07-grow-loop.wasm"),
		read(t, "hostile", "W59-host-call-storm.wasm"), read(t, "hostile", "W52-every-third-call.wasm"),
	}
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	ctx := context.WithoutCancel(t.Context())
	engine := newEngine(t, wazero.NewRuntimeConfigInterpreter())
	r := rand.New(rand.NewPCG(21, 22))
	ran := 0
	for n := range count {
		plain := mutate(r, seeds[n%len(seeds)])
		metered, err := meter.Instrument(plain, meter.Options{Initial: 100_000})
		if _, refused := check.Check(plain, check.Small()); refused != nil {
			continue
		}
		if invalid := try(ctx, engine, plain, false); errors.Is(invalid, errPanic) {
			t.Fatalf("%v: %x", invalid, plain)
		} else if invalid != nil {
			continue
		}
		if err != nil {
			t.Fatalf("accepted by the engine, but %v: %x", err, plain)
		}
		if err := try(ctx, engine, metered, true); err != nil {
			t.Fatalf("accepted by the engine without a budget, but %v: %x", err, plain)
		}
		ran++
	}
	if ran < count/20 {
		t.Errorf("of %d mutants %d ran: too few to learn from", count, ran)
	}
	t.Logf("%d of %d mutants ran", ran, count)
}

func FuzzInstrument(f *testing.F) {
	f.Add(program())
	f.Add(program(0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b))
	f.Add(program(0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 1, 0x0b, 0x0f, 0x0b))
	f.Add(program(0x20, 0, 0x04, 0x40, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0, 0x05, 0x00, 0x0b))
	f.Add(read(f, "guests", "admit.wasm"))
	f.Fuzz(func(t *testing.T, module []byte) {
		got, err := meter.Instrument(module, meter.Options{Initial: 7})
		if (got == nil) == (err == nil) {
			t.Fatalf("%d bytes and the error %v", len(got), err)
		}
		if err != nil {
			return
		}
		if len(got) > 10*len(module)+200 {
			t.Fatalf("%d bytes become %d", len(module), len(got))
		}
		if _, err := meter.Instrument(got, meter.Options{}); err == nil {
			t.Fatal("a module with a budget got a second one")
		}
	})
}
