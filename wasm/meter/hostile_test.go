package meter_test

import (
	"strings"
	"testing"

	"gatewright/wasm/check"
	"gatewright/wasm/meter"
)

// The modules of testdata/wasm/hostile that pass the check meet the fate that
// the table says, in both engines.
func TestHostile(t *testing.T) {
	rows := 0
	for line := range strings.Lines(string(read(t, "hostile", "README.md"))) {
		f := strings.Split(line, "|")
		if len(f) != 7 || !strings.HasPrefix(f[1], " W") || strings.TrimSpace(f[4]) == "refused" {
			continue
		}
		rows++
		file, fate := strings.TrimSpace(f[2]), strings.TrimSpace(f[4])
		for _, e := range engines {
			t.Run(file+" "+e.name, func(t *testing.T) {
				plain := read(t, "hostile", file+".wasm")
				if _, err := check.Check(plain, check.Small()); err != nil {
					t.Fatal(err)
				}
				i := instantiate(t, newEngine(t, e.config()), instrument(t, plain))
				meet(t, i, file, fate)
			})
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows", rows)
	}
}

func meet(t *testing.T, i *instance, file, fate string) {
	t.Helper()
	const budget = 2_000_000
	export, args := "gw_rank", []uint64{0, 0}
	switch {
	case i.ExportedFunction(meter.Start) != nil:
		export, args = meter.Start, nil
	case strings.HasPrefix(file, "W23"):
		export, args = "gw_alloc", []uint64{16}
	}
	_, used, err := i.call(budget, export, args...)
	left := int64(i.budget.Get())
	ok := false
	switch fate {
	case "budget":
		ok = err != nil && left < 0
	case "stack":
		ok = err != nil && (left < 0 || strings.Contains(err.Error(), "stack overflow"))
	case "trap":
		ok = err != nil && left >= 0 && used > 0
	case "accepted":
		ok = err == nil && left > 0 && used > 0
	}
	if !ok {
		t.Errorf("want %s, got the error %.60v with %d of %d units left", fate, err, left, budget)
	}
}

// A budget that is used up stays so: no export runs until the host sets it
// again.
func TestUsedUpStaysUsedUp(t *testing.T) {
	for _, e := range engines {
		i := instantiate(t, newEngine(t, e.config()), instrument(t, read(t, "hostile", "W01-endless-loop.wasm")))
		if _, _, err := i.call(1000, "gw_rank", 0, 0); err == nil {
			t.Fatal("an endless loop ended")
		}
		if _, err := i.ExportedFunction("gw_alloc").Call(t.Context(), 1); err == nil {
			t.Error("a call with nothing left went through")
		}
		if _, _, err := i.call(1000, "gw_alloc", 1); err != nil {
			t.Errorf("a call with a new budget: %v", err)
		}
	}
}

// The module's state is all within reach: put back, the third call does not
// trap.
func TestState(t *testing.T) {
	for _, e := range engines {
		i := instantiate(t, newEngine(t, e.config()), instrument(t, read(t, "hostile", "W52-every-third-call.wasm")))
		state := i.mutable(0)
		if state == nil || i.mutable(1) != nil {
			t.Fatal("want one global of state")
		}
		before := state.Get()
		for range 5 {
			if _, _, err := i.call(1000, "gw_rank", 0, 0); err != nil {
				t.Fatalf("with the state put back: %v", err)
			}
			if state.Get() == before {
				t.Fatal("the state does not change")
			}
			state.Set(before)
		}
		for range 2 {
			_, _, _ = i.call(1000, "gw_rank", 0, 0)
		}
		if _, _, err := i.call(1000, "gw_rank", 0, 0); err == nil {
			t.Error("the third call with kept state does not trap")
		}
	}
}
