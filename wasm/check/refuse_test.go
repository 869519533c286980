package check_test

import (
	"slices"
	"strings"
	"testing"

	"gatewright/wasm/check"
)

// refusal is a module that must be refused and words of one of the problems.
type refusal struct {
	name    string
	module  []byte
	section string
	what    string
}

func (c refusal) run(t *testing.T) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		got := problems(t, c.module, check.Small())
		if !slices.ContainsFunc(got, func(p check.Problem) bool { return p.Section == c.section && strings.Contains(p.What, c.what) }) {
			t.Errorf("got %v, want a problem of section %q that says %q", got, c.section, c.what)
		}
	})
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []refusal{
		{"nothing", nil, "module", "empty"},
		{"half a header", []byte("\x00asm\x01\x00"), "module", "ends within its header"},
		{"zstd", []byte("\x28\xb5\x2f\xfdxxxx"), "module", "zstd"},
		{"zip", []byte("PK\x03\x04xxxx"), "module", "zip"},
		{"program", []byte("\x7fELFxxxx"), "module", "program"},
		{"text with a comment", []byte("  ;; mine\n(module)"), "module", "text format"},
		{"text with a byte order mark", []byte("\ufeff(module)"), "module", "text format"},
		{"Rego", []byte("package gatewright.admission\n"), "module", "Rego"},
		{"module with more behind", append(policy(), 14), "module", "ends within the section"},
		{"section that goes on", append(policy(), custom, 200, 1, 'x'), "module", "ends within the section"},
		{"unknown section", assemble(section{14, cat(0)}), "module", "section number 14"},
		{"custom section without a name", policy(section{custom, []byte{}}), "custom", "ends in the middle"},
		{"size of five bytes and more", append([]byte("\x00asm\x01\x00\x00\x00\x01"), 0x80, 0x80, 0x80, 0x80, 0x10), "module", "ends within"},
	} {
		c.run(t)
	}
}

func TestRefusedOrder(t *testing.T) {
	for _, c := range []refusal{
		{"memory twice", assemble(section{memories, cat(1, 1, 1, 64)}, section{memories, cat(1, 1, 1, 64)}), "memory", "stands twice"},
		{"types behind memory", assemble(section{memories, cat(1, 1, 1, 64)}, section{types, list()}), "type", "behind one that it must precede"},
		{"data count behind code", assemble(section{code, list()}, section{dataCount, cat(0)}), "datacount", "behind one"},
		{"more functions than bodies", policy(section{functions, cat(5, 0, 1, 2, 3, 3)}), "module", "5 functions are declared and 4 have a body"},
		{"no bodies", policy(section{code, nil}), "module", "4 functions are declared and 0"},
		{"less data than announced", policy(section{dataCount, cat(2)}, section{data, list(cat(1, "x"))}), "module", "2 data segments are announced and 1"},
		{"bytes behind the last type", policy(section{types, cat(list(cat(0x60, 0, 0)), 7)}), "type", "goes on behind its last entry"},
	} {
		c.run(t)
	}
}

func TestRefusedDeclarations(t *testing.T) {
	for _, c := range []refusal{
		{"form of a type", policy(section{types, list(cat(0x61, 0, 0))}), "type", "0x61 is not the form"},
		{"recursive types", policy(section{types, list(cat(0x4e, 0, 0))}), "type", "garbage collection"},
		{"type of a value", policy(section{types, list(cat(0x60, 1, 0x40, 0))}), "type", "0x40 is not the type"},
		{"vector", policy(section{types, list(cat(0x60, 1, 0x7b, 0))}), "type", "SIMD"},
		{"exception reference", policy(section{types, list(cat(0x60, 1, 0x69, 0))}), "type", "exceptions"},
		{"typed reference", policy(section{types, list(cat(0x60, 1, 0x63, 0))}), "type", "garbage collection"},
		{"too many types", policy(section{types, list(slices.Repeat([][]byte{cat(0x60, 0, 0)}, 1001)...)}), "type", "1001 function types, the limit is 1000"},
		{"too many parameters", policy(section{types, list(cat(0x60, 33, repeat(33, 0x7f), 0))}), "type", "33 parameters"},
		{"too many results", policy(section{types, list(cat(0x60, 0, 17, repeat(17, 0x7f)))}), "type", "17 results"},
		{"types that are not there", policy(section{types, cat(100, 0x60, 0, 0)}), "type", "100 function types are announced"},
		{"function of no type", policy(section{functions, cat(4, 0, 1, 2, 9)}), "function", "type 9 does not exist"},
		{"too many functions", policy(section{functions, cat(u32(5000), repeat(5000, 0))}), "function", "5000 functions"},
		{"table of numbers", policy(section{tables, cat(1, 0x7f, 0, 1)}), "table", "0x7f is not the type of a table"},
		{"table with a start value", policy(section{tables, cat(1, 0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b)}), "table", "garbage collection"},
		{"table backwards", policy(section{tables, cat(1, 0x70, 1, 2, 1)}), "table", "the maximum 1 is below the minimum 2"},
		{"shared table", policy(section{tables, cat(1, 0x70, 3, 1, 1)}), "table", "threads"},
		{"memory backwards", policy(section{memories, cat(1, 1, 2, 1)}), "memory", "the maximum 1 is below"},
		{"memory too large", policy(section{memories, cat(1, 1, 1, 65)}), "memory", "may grow to 65 pages"},
		{"memory with unknown flags", policy(section{memories, cat(1, 8, 1, 64)}), "memory", "unknown flags 0x8"},
		{"no memory", policy(section{memories, nil}), "export", "memory 0 does not exist"},
		{"too many globals", policy(section{globals, list(slices.Repeat([][]byte{cat(0x7f, 0, 0x41, 0, 0x0b)}, 257)...)}), "global", "257 globals"},
		{"global of no kind", policy(section{globals, list(cat(0x7f, 2, 0x41, 0, 0x0b))}), "global", "0x2 does not say"},
		{"constant that calls", policy(section{globals, list(cat(0x7f, 0, 0x10, 0, 0x0b))}), "global", "0x10 is not a constant"},
		{"constant without end", policy(section{globals, list(cat(0x7f, 0, 0x41, 0, 0x1a))}), "global", "does not end"},
		{"constant of a later global", policy(section{globals, list(cat(0x7f, 0, 0x23, 0, 0x0b))}), "global", "global 0 does not exist"},
		{"tag", policy(section{tags, list(cat(0, 0))}), "tag", "exceptions"},
	} {
		c.run(t)
	}
}

func TestRefusedNames(t *testing.T) {
	exported := func(e ...[]byte) []byte {
		return policy(section{exports, list(append([][]byte{cat("memory", 2, 0), cat("gw_abi_version", 0, 0), cat("gw_alloc", 0, 1), cat("gw_rank", 0, 2)}, e...)...)})
	}
	for _, c := range []refusal{
		{"reserved export", exported(cat("gw_host_start", 0, 3)), "export", `the name "gw_host_start"`},
		{"reserved import", policy(section{imports, list(cat("gw", "gw_host_x", 3, 0x7f, 0))}), "import", `the name "gw_host_x"`},
		{"reserved module", policy(section{imports, list(cat("gw_host_env", "x", 0, 3))}), "import", `the name "gw_host_env"`},
		{"unknown export", exported(cat("main", 0, 3)), "export", `exports the function "main"`},
		{"export of another kind", policy(section{exports, list(cat("memory", 0, 0))}), "export", `"memory" is a function`},
		{"export of no kind", exported(cat("x", 5, 0)), "export", "0x5 is not the kind"},
		{"exported tag", exported(cat("x", 4, 0)), "export", "exceptions"},
		{"no such function", exported(cat("_initialize", 0, 4)), "export", "function 4 does not exist"},
		{"no such global", exported(cat("__data_end", 3, 1)), "export", "global 1 does not exist"},
		{"no such table", exported(cat("t", 1, 1)), "export", "table 1 does not exist"},
		{"global that can change", exported(cat("__data_end", 3, 0)), "export", "has the type mut i32"},
		{"not UTF-8", exported(cat(2, 0xff, 0xfe, 0, 3)), "export", "not UTF-8"},
		{"long name", exported(cat(strings.Repeat("x", 257), 0, 3)), "export", "a name of 257 bytes"},
		{"too many exports", policy(section{exports, list(slices.Repeat([][]byte{cat("x", 0, 0)}, 33)...)}), "export", "33 exports"},
		{"too many imports", policy(section{imports, list(slices.Repeat([][]byte{cat("gw", "log", 0, 3)}, 17)...)}), "import", "17 imports"},
		{"import of no kind", policy(section{imports, list(cat("gw", "log", 7, 0))}), "import", "0x7 is not the kind"},
		{"imported tag", policy(section{imports, list(cat("gw", "t", 4, 0, 0))}), "import", "exceptions"},
		{"two imported memories", policy(section{imports, list(cat("a", "m", 2, 1, 1, 1), cat("a", "n", 2, 1, 1, 1))}), "import", "more than one memory"},
		{"start with a result", policy(section{start, cat(0)}), "start", "has the type () -> i32"},
		{"start that does not exist", policy(section{start, cat(9)}), "start", "function 9 does not exist"},
		{"manifest twice", policy(section{custom, cat("gatewright.manifest", 1)}, section{custom, cat("gatewright.manifest", 2)}), "custom", "stands twice"},
		{"manifest too long", policy(section{custom, cat("gatewright.manifest", repeat(64<<10+1, ' '))}), "custom", "65537 bytes"},
		{"names twice", policy(section{custom, cat("name")}, section{custom, cat("name")}), "custom", "stands twice"},
		{"names of locals", policy(section{custom, cat("name", 2, sized(list(cat(0, u32(1<<28)))))}), "custom", "names of part 2 are damaged"},
		{"name of the module", policy(section{custom, cat("name", 0, sized(cat(5, 0x78)))}), "custom", "names of part 0 are damaged"},
	} {
		c.run(t)
	}
}

func TestRefusedSegments(t *testing.T) {
	for _, c := range []refusal{
		{"element flags", policy(section{elements, list(cat(8, 0))}), "element", "unknown flags 0x8"},
		{"element of no table", policy(section{tables, nil}, section{elements, list(cat(0, 0x41, 0, 0x0b, 0))}), "element", "a table that does not exist"},
		{"element of table 1", policy(section{elements, list(cat(2, 1, 0x41, 0, 0x0b, 0, 0))}), "element", "table 1 does not exist"},
		{"element of another kind", policy(section{elements, list(cat(1, 1, 0))}), "element", "0x1 is not the type"},
		{"element of a typed reference", policy(section{elements, list(cat(5, 0x63, 0x70, 0))}), "element", "garbage collection"},
		{"element of no function", policy(section{elements, list(cat(1, 0, 1, 9))}), "element", "function 9 does not exist"},
		{"element that is a number", policy(section{elements, list(cat(5, 0x70, 1, 0x10, 0, 0x0b))}), "element", "0x10 is not a constant"},
		{"data flags", policy(section{data, list(cat(3, "x"))}), "data", "unknown flags 0x3"},
		{"data of memory 1", policy(section{data, list(cat(2, 1, 0x41, 0, 0x0b, "x"))}), "data", "more than one memory"},
		{"data of no memory", policy(section{memories, nil}, section{data, list(cat(0, 0x41, 0, 0x0b, "x"))}), "data", "a memory that does not exist"},
		{"data beyond the memory", policy(section{data, list(cat(0, 0x41, []byte{0xff, 0xff, 0x03}, 0x0b, "xy"))}), "data", "2 bytes at 65535 does not fit into the 65536 bytes"},
		{"data at a negative address", policy(section{data, list(cat(0, 0x41, 0x7f, 0x0b, "x"))}), "data", "at 4294967295"},
		{"data cut off", policy(section{data, list(cat(1, 9, 0x78))}), "data", "ends in the middle"},
	} {
		c.run(t)
	}
}

func TestRefusedCode(t *testing.T) {
	for _, c := range []refusal{
		{"else without if", does(0x05), "code", "function 3: else without if"},
		{"else twice", does(0x41, 0, 0x04, 0x40, 0x05, 0x05, 0x0b), "code", "else without if"},
		{"else of a block", does(0x02, 0x40, 0x05, 0x0b), "code", "else without if"},
		{"block without end", does(0x02, 0x40), "code", "ends in the middle"},
		{"body that goes on", does(0x0b, 0x01), "code", "goes on behind its end"},
		{"no such label", does(0x0c, 1), "code", "label 1 does not exist"},
		{"no such label in a table", does(0x41, 0, 0x0e, 1, 0, 1), "code", "label 1 does not exist"},
		{"no such local", does(0x20, 0), "code", "local 0 does not exist"},
		{"no such global", does(0x23, 1), "code", "global 1 does not exist"},
		{"no such function", does(0x10, 4), "code", "function 4 does not exist"},
		{"no such type", does(0x41, 0, 0x11, 9, 0), "code", "type 9 does not exist"},
		{"no such table", does(0x41, 0, 0x11, 3, 1), "code", "table 1 does not exist"},
		{"no such block type", does(0x02, 4, 0x0b), "code", "type 4 does not exist"},
		{"block of a negative type", does(0x02, []byte{0xff, 0x7e}, 0x0b), "code", "does not exist"},
		{"vector as a block type", does(0x02, 0x7b, 0x0b), "code", "SIMD"},
		{"no such reference", does(0xd2, 9), "code", "function 9 does not exist"},
		{"select of two", does(0x1c, 2, 0x7f, 0x7f), "code", "more or less than one value"},
		{"alignment", does(0x41, 0, 0x28, 3, 0), "code", "alignment 2^3"},
		{"access to memory 1", does(0x41, 0, 0x28, 0x42, 1, 0), "code", "more than one memory"},
		{"size of memory 1", does(0x3f, 1), "code", "more than one memory"},
		{"data that is not announced", does(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 8, 0, 0), "code", "data segment 0 is not announced"},
		{"typed null", does(0xd0, 0), "code", "garbage collection"},
		{"no such instruction", does(0x27), "code", "instruction 0x27 does not exist"},
		{"no such prefixed instruction", does(0xfc, 18), "code", "0xfc 18 does not exist"},
		{"number too long", does(0x41, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), "code", "a number is too long"},
		{"number too large", does(0x41, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}), "code", "a number is too long"},
		{"index too large", does(0x10, []byte{0xff, 0xff, 0xff, 0xff, 0x1f}), "code", "does not fit into 32 bits"},
		{"call_ref", does(0x14, 0), "code", "garbage collection"},
		{"return_call_ref", does(0x15, 0), "code", "tail calls"},
		{"try_table", does(0x1f, 0x40, 0), "code", "exceptions"},
		{"stack switching", does(0xe0, 0), "code", "stack switching"},
		{"structures", does(0xfb, 0, 0), "code", "garbage collection"},
		{"table.grow", does(0xfc, 15, 0), "code", "changes a table"},
		{"table.fill", does(0xfc, 17, 0), "code", "changes a table"},
		{"table.copy", does(0xfc, 14, 0, 0), "code", "changes a table"},
		{"elem.drop", does(0xfc, 13, 0), "code", "drops a segment"},
		{"vector as a local", policy(section{code, bodies(cat(1, 1, 0x7b))}), "code", "SIMD"},
		{"many groups of locals", policy(section{code, bodies(cat(2, 200, 1, 0x7f, 100, 0x7f))}), "code", "locals, the limit is 256"},
		{"groups that are not there", policy(section{code, bodies(cat(u32(1<<28), 1, 0x7f))}), "code", "ends in the middle"},
		{"body that is not there", policy(section{code, cat(1, 200, 1, 0)}), "code", "ends in the middle"},
	} {
		c.run(t)
	}
}

// A fault in one function or section does not hide the others.
func TestAllProblemsAreFound(t *testing.T) {
	module := policy(
		section{types, list(cat(0x60, 0, 1, 0x7f), cat(0x60, 1, 0x7f, 1, 0x7f), cat(0x60, 2, 0x7f, 0x7f, 1, 0x7f), cat(0x60, 0, 0))},
		section{tables, cat(1, 0x7f, 0, 1)},
		section{globals, list(cat(0x7f, 3, 0x41, 0, 0x0b))},
		section{code, list(sized(cat(0, 0x27, 0x0b)), sized(cat(0, 0x41, 0, 0x05, 0x0b)), sized(cat(0, 0xfd, 0, 0x0b)), sized(cat(0, 0x23, 9, 0xfd, 0, 0x0b)))},
	)
	var got []string
	for _, p := range problems(t, module, check.Small()) {
		got = append(got, p.Section+": "+p.What)
	}
	want := []string{
		"table: 0x7f is not the type of a table",
		"global: 0x3 does not say whether a global can change",
		"code: function 0: instruction 0x27 does not exist",
		"code: function 1: else without if",
		"code: uses SIMD, which policies may not",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
