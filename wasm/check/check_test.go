package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/check"
)

func read(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"../../testdata/wasm"}, parts...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestInfo(t *testing.T) {
	want := &check.Info{
		Profile: "small", Kind: check.KindRanking, ABI: "1.0",
		Exports: []check.Extern{
			{Name: "memory", Kind: check.ExternMemory, Type: "1..64 pages"},
			{Name: "gw_abi_version", Type: "() -> i32"},
			{Name: "gw_alloc", Type: "(i32) -> i32"},
			{Name: "gw_rank", Type: "(i32, i32) -> i32"},
		},
		Imports:  []check.Extern{{Module: "gw", Name: "log", Type: "(i32, i32, i32)"}},
		Memory:   check.Pages{Min: 1, Max: 64, Bounded: true},
		Start:    true,
		Manifest: []byte(`{"name":"x"}`),
		Types:    5, Functions: 4, Globals: 2, MutableGlobals: 1, TableEntries: 2, ElementEntries: 1, DataSegments: 2,
		CodeBytes: 34, DataBytes: 5, CustomBytes: 38, LargestBody: 14, MostLocals: 5, DeepestNest: 1, LargestBranch: 2,
		CompileWalk: 17, CompilePairs: 39,
	}
	module := policy(
		section{types, list(cat(0x60, 0, 1, 0x7f), cat(0x60, 1, 0x7f, 1, 0x7f), cat(0x60, 2, 0x7f, 0x7f, 1, 0x7f), cat(0x60, 0, 0), cat(0x60, 3, 0x7f, 0x7f, 0x7f, 0))},
		section{imports, list(cat("gw", "log", 0, 4))},
		section{globals, list(cat(0x7f, 1, 0x41, 0, 0x0b), cat(0x7e, 0, 0x42, 0x7f, 0x0b))},
		section{exports, list(cat("memory", 2, 0), cat("gw_abi_version", 0, 1), cat("gw_alloc", 0, 2), cat("gw_rank", 0, 3))},
		section{start, cat(4)},
		section{elements, list(cat(0, 0x41, 0, 0x0b, 1, 3))},
		section{dataCount, cat(2)},
		section{code, bodies(cat(1, 5, 0x7e), 0x02, 0x40, 0x41, 0, 0x0e, 2, 0, 0, 1, 0x0b)},
		section{data, list(cat(0, 0x41, 16, 0x0b, "abc"), cat(1, "de"))},
		section{custom, cat("gatewright.manifest", []byte(`{"name":"x"}`))},
		section{custom, cat("other")},
	)
	want.Bytes = len(module)
	got, err := check.Check(module, check.Small())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAccepted(t *testing.T) {
	tests := []struct {
		name   string
		module []byte
	}{
		{"smallest", policy()},
		{"admission", policy(section{exports, list(cat("memory", 2, 0), cat("gw_abi_version", 0, 0), cat("gw_alloc", 0, 1), cat("gw_admit", 0, 2))})},
		{"everything optional", policy(section{exports, list(
			cat("memory", 2, 0), cat("gw_abi_version", 0, 0), cat("gw_alloc", 0, 1), cat("gw_rank", 0, 2), cat("gw_configure", 0, 2), cat("_initialize", 0, 3),
		)})},
		{"no table", policy(section{tables, nil})},
		{"padded numbers", does(0x41, []byte{0x80, 0x80, 0x80, 0x80, 0x00}, 0x1a, 0x41, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}, 0x1a)},
		{"smallest numbers", does(0x41, []byte{0x80, 0x80, 0x80, 0x80, 0x78}, 0x1a, 0x42, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, 0x1a)},
		{"bulk memory", does(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 10, 0, 0)},
		{"passive data", policy(section{dataCount, cat(1)}, section{data, list(cat(1, "x"))}, section{code, bodies(cat(0), 0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 8, 0, 0)})},
		{"saturating conversion", does(0x43, 0, 0, 0, 0, 0xfc, 0, 0x1a)},
		{"select with a type", does(0x41, 0, 0x41, 0, 0x41, 0, 0x1c, 1, 0x7f, 0x1a)},
		{"references", policy(section{elements, list(cat(3, 0, 1, 3))}, section{code, bodies(cat(0), 0xd2, 3, 0xd1, 0x1a, 0xd0, 0x70, 0x1a, 0x41, 0, 0x25, 0, 0x1a, 0xfc, 16, 0, 0x1a)})},
		{"if with else", does(0x41, 0, 0x04, 0x40, 0x05, 0x0b)},
		{"block with a signature", does(0x02, 0, 0x41, 0, 0x0b, 0x1a)},
		{"all kinds of element segments", policy(section{elements, list(
			cat(0, 0x41, 0, 0x0b, 1, 0), cat(1, 0, 1, 0), cat(2, 0, 0x41, 0, 0x0b, 0, 1, 0), cat(3, 0, 1, 0),
			cat(4, 0x41, 0, 0x0b, 1, 0xd2, 0, 0x0b), cat(5, 0x70, 1, 0xd0, 0x70, 0x0b), cat(6, 0, 0x41, 0, 0x0b, 0x70, 1, 0xd2, 0, 0x0b), cat(7, 0x70, 1, 0xd2, 0, 0x0b),
		)})},
		{"names", policy(section{custom, cat("name", 0, sized(cat("m")), 1, sized(list(cat(0, "f"))), 2, sized(list(cat(0, list(cat(0, "l"))))), 9, sized(cat(1, 2, 3)))})},
		{"deepest nesting", does(repeat(64, 0x02, 0x40), repeat(64, 0x0b))},
		{"most locals", policy(section{code, bodies(cat(1, u32(256), 0x7f))})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := check.Check(tt.module, check.Small()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGuests(t *testing.T) {
	for name, p := range map[string]check.Profile{
		"rank.wasm": check.Small(), "admit.wasm": check.Small(), "opa-rank.wasm": check.OPA(),
	} {
		info, err := check.Check(read(t, "guests", name), p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kind := check.Recognize(read(t, "guests", name)); kind != info.Kind || kind == check.KindUnknown {
			t.Errorf("%s: recognized as %q and checked as %q", name, kind, info.Kind)
		}
	}
}

func TestOPA(t *testing.T) {
	info, err := check.Check(read(t, "guests", "opa-rank.wasm"), check.OPA())
	if err != nil {
		t.Fatal(err)
	}
	if info.Kind != check.KindOPA || info.ABI != "1.3" || !info.Memory.Imported || !info.Start {
		t.Errorf("kind %q, ABI %q, memory %+v, start %v", info.Kind, info.ABI, info.Memory, info.Start)
	}
}

func TestRecognize(t *testing.T) {
	export := func(names ...string) []byte {
		var entries [][]byte
		for _, n := range names {
			entries = append(entries, cat(n, 0, 0))
		}
		return assemble(section{types, list(cat(0x60, 0, 0))}, section{exports, list(entries...)})
	}
	tests := []struct {
		name   string
		module []byte
		want   check.Kind
	}{
		{"admission", export("memory", "gw_admit"), check.KindAdmission},
		{"ranking", export("gw_rank"), check.KindRanking},
		{"both", export("gw_rank", "gw_admit"), check.KindUnknown},
		{"OPA", export("opa_eval", "memory"), check.KindOPA},
		{"OPA and ours", export("opa_eval", "gw_rank"), check.KindUnknown},
		{"neither", export("main"), check.KindUnknown},
		{"no exports", assemble(), check.KindUnknown},
		{"cut off", export("memory", "gw_admit")[:20], check.KindUnknown},
		{"text", []byte("(module)"), check.KindUnknown},
		{"nothing", nil, check.KindUnknown},
	}
	for _, tt := range tests {
		if got := check.Recognize(tt.module); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWrongProfile(t *testing.T) {
	got := problems(t, read(t, "guests", "opa-rank.wasm"), check.Small())
	if len(got) != 1 || !strings.Contains(got[0].Fix, "OPA") {
		t.Errorf("got %v, want one problem that names the right profile", got)
	}
	got = problems(t, policy(), check.OPA())
	if len(got) != 1 || !strings.Contains(got[0].Fix, "gw_rank") {
		t.Errorf("got %v, want one problem that names the right profile", got)
	}
}

// Offsets, all problems of one module, and how they read.
func TestError(t *testing.T) {
	module := policy(
		section{imports, list(cat("env", "abort", 0, 1))},
		section{memories, cat(1, 0, 100)},
		section{exports, list(cat("memory", 2, 0), cat("gw_abi_version", 0, 1), cat("gw_alloc", 0, 2), cat("run", 0, 3), cat("gw_host_budget", 3, 0))},
		section{code, bodies(cat(1, u32(300), 0x7f))},
	)
	_, err := check.Check(module, check.Small())
	want := `module refused by profile "small": import, offset 0x20: imports the function "abort" of "env", which the host does not offer; in AssemblyScript build with --use abort=
memory, offset 0x3d: the memory begins with 100 pages of 64 KiB, the limit is 64; declare less memory: -Wl,--initial-memory=, -Wl,--max-memory=
memory, offset 0x3d: the memory has no maximum; declare one of at most 64 pages: -Wl,--max-memory=4194304
export, offset 0x6f: exports the function "run"; do not export it; the host calls only the functions of its contract
export, offset 0x75: the name "gw_host_budget"; rename it; names that begin with gw_host_ belong to the host
code, offset 0x9c: function 4 has 300 locals, the limit is 256; split the function
export, offset 0x0: neither of gw_admit and gw_rank is exported; export one of them, of type (i32, i32) -> i32`
	if err == nil {
		t.Fatal("accepted")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrorIsBounded(t *testing.T) {
	var many [][]byte
	for range 16 {
		many = append(many, cat("env", "f", 0, 0))
	}
	var exported [][]byte
	for i := range 32 {
		exported = append(exported, cat(strings.Repeat("f", i+1), 0, 0))
	}
	_, err := check.Check(policy(section{imports, list(many...)}, section{exports, list(exported...)}), check.Small())
	refused, ok := errors.AsType[*check.Error](err)
	if !ok || len(refused.Problems) != 20 || refused.Omitted != 16+32+4-20 {
		t.Fatalf("got %v", err)
	}
	if !strings.HasSuffix(err.Error(), "\nand 32 more") {
		t.Errorf("the error does not say how many more: %q", err.Error()[len(err.Error())-60:])
	}
}
