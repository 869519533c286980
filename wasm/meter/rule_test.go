package meter_test

import (
	"testing"

	"gatewright/wasm/meter"
)

// What is charged, by hand. Entering "run" costs 32 for the frame and 4 for
// its parameter and locals; its end costs 1.
func TestRule(t *testing.T) {
	const entry = 32 + 4 + 1
	small := repeat(10, 0x01)  // 10 units that do nothing
	large := repeat(300, 0x01) // more than a point may charge for on suspicion
	tests := []struct {
		name string
		run  []byte
		arg  uint64
		want int64
	}{
		{"nothing", nil, 0, entry},
		{"straight line", small, 0, entry + 10},
		{"block", cat(0x02, 0x40, small, 0x0b), 0, entry + 12},
		{"division", cat(0x41, 9, 0x41, 3, 0x6d, 0x1a), 0, entry + 2 + 8 + 1},
		{"remainder", cat(0x42, 9, 0x42, 3, 0x82, 0x1a), 0, entry + 2 + 8 + 1},
		{"square root", cat(0x44, repeat(8, 0), 0x9f, 0x1a), 0, entry + 1 + 8 + 1},
		{"load", cat(0x41, 0, 0x28, 2, 0, 0x1a), 0, entry + 1 + 4 + 1},
		{"store", cat(0x41, 0, 0x41, 0, 0x36, 2, 0), 0, entry + 3},
		{"conversion", cat(0x43, repeat(4, 0), 0xa8, 0x1a), 0, entry + 1 + 2 + 1},
		{"saturating conversion", cat(0x43, repeat(4, 0), 0xfc, 0, 0x1a), 0, entry + 1 + 2 + 1},
		{"reference to a function", cat(0xd2, 2, 0x1a), 0, entry + 256 + 1},

		{"call", cat(0x10, 2), 0, entry + 1 + 32 + 1},
		{"call with a parameter and a result", cat(0x41, 0, 0x10, 3, 0x1a), 0, entry + 3 + 32 + 1 + 2 + 4},
		{"call through a table", cat(0x41, 0, 0x11, 1, 0), 0, entry + 1 + 8 + 32 + 1},
		{"call of the host", cat(0x41, 0, 0x41, 0, 0x41, 0, 0x10, 0), 0, entry + 3 + 128},

		{"fill", cat(0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 11, 0), 1000, entry + 3 + 16 + 1000/8},
		{"short fill", cat(0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 11, 0), 7, entry + 3 + 16},
		{"copy", cat(0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 10, 0, 0), 65536, entry + 3 + 16 + 8192},
		{"init", cat(0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 8, 0, 0), 32, entry + 3 + 16 + 4},
		{"grow", cat(0x20, 0, 0x40, 0, 0x1a), 2, entry + 1 + 512 + 2*1024 + 1},
		{"grow too far", cat(0x20, 0, 0x40, 0, 0x1a), 100, entry + 1 + 512 + 100*1024 + 1},
		{"table.copy", cat(0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 14, 0, 0), 2, entry + 3 + 16 + 2},
		{"table.grow", cat(0xd0, 0x70, 0x20, 0, 0xfc, 15, 0, 0x1a), 0, entry + 2 + 256 + 1},

		// 3 turns of a loop with 8 instructions, and its opcode outside.
		{"loop", cat(0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b), 3, entry + 1 + 3*6},
		{"loop inside a loop", cat(
			0x03, 0x40, 0x41, 2, 0x21, 1,
			0x03, 0x40, 0x20, 1, 0x41, 1, 0x6b, 0x22, 1, 0x0d, 0, 0x0b,
			0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,
		), 5, entry + 1 + 5*(3+6) + 10*6},

		{"small arm taken", cat(0x20, 0, 0x04, 0x40, small, 0x0b), 1, entry + 2 + 11},
		{"small arm not taken", cat(0x20, 0, 0x04, 0x40, small, 0x0b), 0, entry + 2 + 11},
		{"large arm taken", cat(0x20, 0, 0x04, 0x40, large, 0x0b), 1, entry + 2 + 301},
		{"large arm not taken", cat(0x20, 0, 0x04, 0x40, large, 0x0b), 0, entry + 2},
		{"two arms, the first", cat(0x20, 0, 0x04, 0x40, large, 0x05, small, 0x0b), 1, entry + 2 + 301 + 11},
		{"two arms, the second", cat(0x20, 0, 0x04, 0x40, large, 0x05, small, 0x0b), 0, entry + 2 + 11},
		{"many small arms", repeat(30, 0x20, 0, 0x04, 0x40, small, 0x0b), 0, entry + 30*2 + 253},

		{"leaving before much", cat(0x02, 0x40, 0x20, 0, 0x0d, 0, large, 0x0b), 1, entry + 3},
		{"staying for much", cat(0x02, 0x40, 0x20, 0, 0x0d, 0, large, 0x0b), 0, entry + 3 + 301},
		{"leaving before little", cat(0x02, 0x40, 0x20, 0, 0x0d, 0, small, 0x0b), 1, entry + 3 + 11},
		{"leaving two blocks", cat(0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0d, 1, 0x0b, large, 0x0b), 1, entry + 4 + 1},
		{"leaving one of two blocks", cat(0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0d, 0, 0x0b, large, 0x0b), 1, entry + 4 + 1 + 301},
		{"returning early", cat(0x20, 0, 0x04, 0x40, 0x0f, 0x0b, large), 1, entry - 1 + 2 + 1},
		{"not returning early", cat(0x20, 0, 0x04, 0x40, 0x0f, 0x0b, large), 0, entry + 2 + 1 + 300},
		{"behind a branch nothing runs", cat(0x02, 0x40, 0x0c, 0, large, 0x03, 0x40, 0x0b, 0x0b), 0, entry + 2},
		{"behind a return nothing runs", cat(0x0f, large), 0, entry},
		{"table of branches", cat(0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 1, 0x0b, large, 0x0b), 1, entry + 4},
	}
	for _, e := range engines {
		r := newEngine(t, e.config())
		for _, tt := range tests {
			t.Run(tt.name+" "+e.name, func(t *testing.T) {
				i := instantiate(t, r, instrument(t, program(tt.run)))
				_, used, err := i.call(enough, "run", tt.arg)
				if err != nil {
					t.Fatal(err)
				}
				if used != tt.want {
					t.Errorf("used %d units, want %d", used, tt.want)
				}
			})
		}
	}
}

// A bulk instruction is charged before it runs, not after.
func TestBulkIsChargedFirst(t *testing.T) {
	run := cat(0x41, 0, 0x41, 1, 0x41, s32(65536), 0xfc, 11, 0)
	for _, e := range engines {
		i := instantiate(t, newEngine(t, e.config()), instrument(t, program(run)))
		if _, _, err := i.call(1000, "run", 0); err == nil || int64(i.budget.Get()) >= 0 {
			t.Errorf("%s: %v", e.name, err)
		}
		if b, _ := i.Memory().ReadByte(0); b != 0 {
			t.Errorf("%s: the memory was filled without a budget for it", e.name)
		}
	}
}

// A host function that can be reached through a table makes each call through
// a table as dear as a call of the host.
func TestHostBehindTable(t *testing.T) {
	module := assemble(
		section{1, list(cat(0x60, 0, 0), cat(0x60, 3, 0x7f, 0x7f, 0x7f, 0))},
		section{2, list(cat("gw", "log", 0, 1))},
		section{3, cat(1, 0)},
		section{4, cat(1, 0x70, 1, 1, 1)},
		section{7, list(cat("run", 0, 1))},
		section{9, list(cat(0, 0x41, 0, 0x0b, list(u32(0))))},
		section{10, list(sized(cat(0, 0x41, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0x11, 1, 0, 0x0b)))},
	)
	i := instantiate(t, newEngine(t, engines[0].config()), instrument(t, module))
	if _, used, err := i.call(enough, "run"); err != nil || used != 32+4+128+1 {
		t.Errorf("used %d units, %v", used, err)
	}
}

func TestInitialBudget(t *testing.T) {
	for _, initial := range []int64{0, 1000, -5, 1<<63 - 1} {
		module, err := meter.Instrument(program(), meter.Options{Initial: initial})
		if err != nil {
			t.Fatal(err)
		}
		i := instantiate(t, newEngine(t, engines[0].config()), module)
		if got := int64(i.budget.Get()); got != initial {
			t.Errorf("an instance is born with %d units, want %d", got, initial)
		}
		if _, err := i.ExportedFunction("run").Call(t.Context(), 0); (err == nil) != (initial >= 100) {
			t.Errorf("with %d units: %v", initial, err)
		}
	}
}
