package meter_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gatewright/wasm/meter"
)

func TestRefused(t *testing.T) {
	exported := func(e []byte) []byte { return assemble(section{7, list(e)}) }
	tests := []struct {
		name   string
		module []byte
		what   string
	}{
		{"nothing", nil, "not a Wasm module of version 1"},
		{"another version", []byte("\x00asm\x02\x00\x00\x00"), "not a Wasm module of version 1"},
		{"cut off", program()[:40], "ends too early"},
		{"an instrumented module", instrument(t, program()), "begins with gw_host_"},
		{"reserved name", exported(cat("gw_host_x", 2, 0)), "begins with gw_host_"},
		{"the budget by its index", exported(cat("x", 3, 0)), "a global that does not exist"},
		{"reading the budget", program(0x23, 0, 0x1a), "a global that does not exist"},
		{"setting the budget", program(0x42, 9, 0x24, 0), "a global that does not exist"},
		{"the local of a length", program(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0, 0x20, 4, 0x1a), "a local that does not exist"},
		{"else without if", program(0x05), "else without if"},
		{"block without end", program(0x02, 0x40), "does not end where it says"},
		{"code behind the end", program(0x0b, 0x01), "does not end where it says"},
		{"SIMD", program(0xfd, 12), "does not cover"},
		{"threads", program(0xfe, 0x10), "does not cover"},
		{"unknown bulk instruction", program(0xfc, 18), "does not cover"},
		{"long number", program(0x41, repeat(6, 0x80)), "too long"},
		{"long index", program(0x10, repeat(6, 0x80)), "longer than 5 bytes"},
		{"more functions than bodies", assemble(section{1, list(cat(0x60, 0, 0))}, section{3, cat(2, 0, 0)}, section{10, list(sized(cat(0, 0x0b)))}), "is not the number of functions"},
		{"function of no type", assemble(section{1, list()}, section{3, cat(1, 0)}, section{10, list(sized(cat(0, 0x0b)))}), "a type that does not exist"},
		{"bytes behind the bodies", assemble(section{1, list(cat(0x60, 0, 0))}, section{3, cat(1, 0)}, section{10, cat(list(sized(cat(0, 0x0b))), 1)}), "bytes behind the last body"},
		{"bytes behind the exports", assemble(section{7, cat(0, 1, 2, 3)}), "bytes behind the last entry"},
		{"bytes behind the globals", assemble(section{6, cat(0, 0x7f, 1, 0x41, 0, 0x0b)}), "bytes behind the last entry"},
		{"too many locals", assemble(section{1, list(cat(0x60, 0, 0))}, section{3, cat(1, 0)}, section{10, list(sized(cat(1, u32(1<<32-1), 0x7f, 0x0b)))}), "too many locals"},
		{"structure type", assemble(section{1, list(cat(0x5f, 0, 0))}), "not a function type"},
		{"imported tag", assemble(section{2, list(cat("a", "b", 4, 0, 0))}), "unknown kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := meter.Instrument(tt.module, meter.Options{})
			refused, ok := errors.AsType[*meter.Error](err)
			if !ok || got != nil {
				t.Fatalf("got %d bytes and the error %v", len(got), err)
			}
			if !strings.Contains(refused.What, tt.what) || refused.Offset < 0 || refused.Offset > len(tt.module) {
				t.Errorf("got %q at %d, want %q", refused.What, refused.Offset, tt.what)
			}
			if !strings.HasPrefix(err.Error(), "instrument module: offset 0x") {
				t.Errorf("got %q", err)
			}
		})
	}
}

// No prefix of a module makes it panic, and none that is not whole passes.
func TestCutOff(t *testing.T) {
	for _, module := range [][]byte{program(0x03, 0x40, 0x0b), read(t, "guests", "rank.wasm"), read(t, "guests", "admit.wasm")} {
		whole := map[int]bool{8: true}
		for at := 8; at < len(module); {
			size, n := 0, 1
			for shift := 0; ; shift += 7 {
				c := module[at+n]
				size |= int(c&0x7f) << shift
				if n++; c < 0x80 {
					break
				}
			}
			at += n + size
			whole[at] = true
		}
		for n := range module {
			if _, err := meter.Instrument(module[:n:n], meter.Options{}); (err == nil) != whole[n] {
				t.Errorf("the first %d of %d bytes: %v", n, len(module), err)
			}
		}
	}
}

// What is added to a module and where, and what is left out.
func TestWhatIsAdded(t *testing.T) {
	void := section{1, list(cat(0x60, 0, 0))}
	tests := []struct {
		name   string
		module []byte
		want   []string
	}{
		{"neither globals nor exports", assemble(void, section{3, cat(1, 0)}, section{10, list(sized(cat(0, 0x0b)))}), []string{"gw_host_budget global i64"}},
		{"nothing at all", assemble(), []string{"gw_host_budget global i64"}},
		{"only a memory", assemble(section{5, cat(1, 1, 1, 1)}), []string{"gw_host_budget global i64"}},
		{"only data", assemble(section{5, cat(1, 1, 1, 1)}, section{12, cat(1)}, section{11, list(cat(1, "x"))}), []string{"gw_host_budget global i64"}},
		{"start", assemble(void, section{3, cat(1, 0)}, section{8, cat(0)}, section{10, list(sized(cat(0, 0x0b)))}), []string{"gw_host_budget global i64", "gw_host_start"}},
		{"globals", assemble(section{6, list(
			cat(0x7f, 1, 0x41, 0, 0x0b), cat(0x7f, 0, 0x41, 0, 0x0b), cat(0x70, 1, 0xd0, 0x70, 0x0b), cat(0x7e, 1, 0x42, 0, 0x0b), cat(0x7c, 1, 0x44, repeat(8, 0), 0x0b),
		)}, section{7, list(cat("g", 3, 1))}), []string{"g", "gw_host_budget global i64", "gw_host_state_0 global i32", "gw_host_state_1 global i64", "gw_host_state_2 global f64"}},
		{"everything", program(), []string{"gw_host_budget global i64", "memory", "run"}},
	}
	engine := newEngine(t, engines[1].config())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.module)
			module := instrument(t, tt.module)
			if !bytes.Equal(before, tt.module) {
				t.Error("the argument was changed")
			}
			if again := instrument(t, tt.module); !bytes.Equal(again, module) {
				t.Error("a second time gives other bytes")
			}
			if diff := cmp.Diff(tt.want, exportsOf(t, instantiate(t, engine, module))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The budget is the last global, also when others are imported, and no index
// changes.
func TestImportsOfAllKinds(t *testing.T) {
	ctx := t.Context()
	engine := newEngine(t, engines[1].config())
	host := assemble(
		section{4, cat(1, 0x70, 1, 2, 2)}, section{5, cat(1, 1, 1, 2)},
		section{6, list(cat(0x7e, 0, 0x42, 5, 0x0b))},
		section{7, list(cat("table", 1, 0), cat("memory", 2, 0), cat("five", 3, 0))},
	)
	if _, err := engine.InstantiateWithConfig(ctx, host, wazero.NewModuleConfig().WithName("host")); err != nil {
		t.Fatal(err)
	}
	module := assemble(
		section{1, list(cat(0x60, 0, 1, 0x7e))},
		section{2, list(cat("host", "five", 3, 0x7e, 0), cat("host", "table", 1, 0x70, 1, 2, 2), cat("host", "memory", 2, 1, 1, 2))},
		section{3, cat(1, 0)},
		section{6, list(cat(0x7e, 1, 0x42, 7, 0x0b), cat(0x70, 0, 0xd2, 0, 0x0b))},
		section{7, list(cat("product", 0, 0))},
		section{9, list(cat(6, 0, 0x41, 0, 0x0b, 0x70, 1, 0xd2, 0, 0x0b))},
		section{10, list(sized(cat(0, 0x23, 0, 0x23, 1, 0x7e, 0x0b)))},
	)
	i := instantiate(t, engine, instrument(t, module))
	if got, _, err := i.call(100, "product"); err != nil || got[0] != 35 {
		t.Errorf("got %v, %v, want 35", got, err)
	}
}

// A function with several results is charged and stopped like any other.
func TestSeveralResults(t *testing.T) {
	module := assemble(
		section{1, list(cat(0x60, 1, 0x7f, 2, 0x7f, 0x7e))},
		section{3, cat(1, 0)},
		section{7, list(cat("pair", 0, 0))},
		section{10, list(sized(cat(0, 0x03, 0x40, 0x20, 0, 0x0d, 0, 0x0b, 0x20, 0, 0x42, 9, 0x0b)))},
	)
	for _, e := range engines {
		i := instantiate(t, newEngine(t, e.config()), instrument(t, module))
		got, used, err := i.call(1000, "pair", 0)
		if err != nil || got[0] != 0 || got[1] != 9 || used != 32+1+2*2+4+3 {
			t.Errorf("got %v with %d units, %v", got, used, err)
		}
		if _, _, err := i.call(1000, "pair", 3); err == nil || int64(i.budget.Get()) >= 0 {
			t.Errorf("an endless loop: %v with %d units left", err, int64(i.budget.Get()))
		}
	}
}

func exportsOf(t *testing.T, i *instance) (names []string) {
	t.Helper()
	for n := range i.ExportedFunctionDefinitions() {
		names = append(names, n)
	}
	for n := range i.ExportedMemoryDefinitions() {
		names = append(names, n)
	}
	for _, n := range []string{"g", meter.Budget, meter.State(0), meter.State(1), meter.State(2), meter.State(3)} {
		if g, ok := i.ExportedGlobal(n).(api.MutableGlobal); ok {
			names = append(names, n+" global "+api.ValueTypeName(g.Type()))
		} else if i.ExportedGlobal(n) != nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

func TestStartRunsWhenItIsCalled(t *testing.T) {
	module := assemble(
		section{1, list(cat(0x60, 0, 0), cat(0x60, 0, 1, 0x7f))},
		section{3, cat(2, 0, 1)},
		section{6, list(cat(0x7f, 1, 0x41, 0, 0x0b))},
		section{7, list(cat("get", 0, 1))},
		section{8, cat(0)},
		section{10, list(sized(cat(0, 0x41, 42, 0x24, 0, 0x0b)), sized(cat(0, 0x23, 0, 0x0b)))},
	)
	for _, e := range engines {
		i := instantiate(t, newEngine(t, e.config()), instrument(t, module))
		if got, _, err := i.call(100, "get"); err != nil || got[0] != 0 {
			t.Errorf("before the start function: %v, %v", got, err)
		}
		if _, used, err := i.call(100, meter.Start); err != nil || used == 0 {
			t.Errorf("the start function: %d units, %v", used, err)
		}
		if got, _, err := i.call(100, "get"); err != nil || got[0] != 42 {
			t.Errorf("after it: %v, %v", got, err)
		}
	}
}

func TestCustomSections(t *testing.T) {
	names := cat("name", 0, sized(cat("m")))
	manifest := cat("gatewright.manifest", []byte(`{"name":"x"}`))
	module := instrument(t, assemble(
		section{0, cat(".debug_info", repeat(100, 1))},
		section{0, manifest},
		section{5, cat(1, 1, 1, 1)},
		section{0, cat("producers", 1, 2, 3)},
		section{0, names},
	))
	for _, kept := range [][]byte{manifest, names} {
		if !bytes.Contains(module, append([]byte{0}, sized(kept)...)) {
			t.Errorf("the section %q is lost", kept)
		}
	}
	for _, gone := range []string{".debug_info", "producers"} {
		if bytes.Contains(module, []byte(gone)) {
			t.Errorf("the section %q is still there", gone)
		}
	}
	instantiate(t, newEngine(t, engines[0].config()), module)
}

// Empty loops are what grows most.
func TestGrowthIsBounded(t *testing.T) {
	for name, code := range map[string][]byte{
		"loops":       repeat(5000, 0x03, 0x40, 0x0b),
		"branches":    cat(0x02, 0x40, repeat(5000, 0x20, 0, 0x0d, 0), 0x0b),
		"ifs":         repeat(5000, 0x20, 0, 0x04, 0x40, 0x01, 0x0b),
		"dead code":   repeat(5000, 0x00),
		"grow":        repeat(5000, 0x41, 0, 0x40, 0, 0x1a),
		"fills":       repeat(5000, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0),
		"long blocks": cat(repeat(5000, 0x02, 0x40), repeat(5000, 0x0b)),
	} {
		module := program(code)
		if got := len(instrument(t, module)); got > 8*len(module) {
			t.Errorf("%s: %d bytes become %d", name, len(module), got)
		}
	}
}

// What a module claims does not decide what is allocated for it.
func TestAllocation(t *testing.T) {
	huge := u32(1<<32 - 1)
	for name, module := range map[string][]byte{
		"types":     assemble(section{1, huge}),
		"imports":   assemble(section{2, huge}),
		"functions": assemble(section{3, huge}),
		"globals":   assemble(section{6, huge}),
		"exports":   assemble(section{7, huge}),
		"elements":  assemble(section{9, cat(1, 1, 0, huge)}),
		"code":      assemble(section{10, huge}),
		"body":      assemble(section{1, list(cat(0x60, 0, 0))}, section{3, cat(1, 0)}, section{10, cat(1, huge)}),
		"locals":    assemble(section{1, list(cat(0x60, 0, 0))}, section{3, cat(1, 0)}, section{10, list(sized(cat(huge, 0x0b)))}),
		"br_table":  program(0x41, 0, 0x0e, huge),
		"section":   cat(assemble(), 1, huge),
		"custom":    assemble(section{0, huge}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := meter.Instrument(module, meter.Options{})
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 32<<10 {
			t.Errorf("%s: allocates %d bytes for a module of %d", name, bytes, len(module))
		}
		if err == nil && name != "custom" {
			t.Errorf("%s: no error", name)
		}
	}
}
