package check_test

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"gatewright/wasm/check"
)

// made are the modules of the table of testdata/wasm/hostile that no file
// holds, by their number and what they do.
var made = map[string]func() []byte{
	"W12 20,000 fills in a straight line": func() []byte {
		return does(slices.Repeat([]byte{0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0}, 20_000))
	},
	"W33 gw_abi_version twice": func() []byte {
		return policy(section{exports, list(cat("memory", 2, 0), cat("gw_abi_version", 0, 0), cat("gw_alloc", 0, 1), cat("gw_rank", 0, 2), cat("gw_abi_version", 0, 0))})
	},
	"W37 a structure type of garbage collection": func() []byte { return policy(section{types, list(cat(0x5f, 0))}) },
	"W37 a constant that is computed": func() []byte {
		return policy(section{globals, list(cat(0x7f, 0, 0x41, 1, 0x41, 2, 0x6a, 0x0b))})
	},
	"W38 100 MB":                 func() []byte { return append(policy(), make([]byte, 100<<20-len(policy()))...) },
	"W40 another magic number":   func() []byte { return bytes.Replace(policy(), []byte("asm"), []byte("asn"), 1) },
	"W40 another version":        func() []byte { return bytes.Replace(policy(), []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, 1) },
	"W41 one function of 4 MB":   func() []byte { return does(repeat(4<<20, 0x01)) },
	"W41 one function of 200 KB": func() []byte { return does(repeat(200<<10, 0x01)) },
	"W42 200,000 functions":      func() []byte { return policy(section{functions, cat(u32(200_000), repeat(200_000, 3))}) },
	"W43 4,000 nested blocks":    func() []byte { return does(repeat(2000, 0x02, 0x40), repeat(2000, 0x0b)) },
	"W44 100,000 locals":         func() []byte { return policy(section{code, bodies(cat(1, u32(100_000), 0x7f))}) },
	"W44 4 billion locals in six bytes": func() []byte {
		return policy(section{code, bodies(cat(1, u32(1<<32-1), 0x7f))})
	},
	"W45 a br_table of 5,000 labels": func() []byte { return does(0x41, 0, 0x0e, u32(5000), repeat(5001, 0)) },
	"W46 2,000 data segments": func() []byte {
		return policy(section{data, list(slices.Repeat([][]byte{cat(1, 0)}, 2000)...)})
	},
	"W46 2,000 element segments": func() []byte {
		return policy(section{elements, list(slices.Repeat([][]byte{cat(1, 0, 0)}, 2000)...)})
	},
	"W46 an element segment of 5,000 entries": func() []byte {
		return policy(section{elements, list(cat(1, 0, u32(5000), repeat(5000, 0)))})
	},
	"W47 custom sections of 50 MB": func() []byte { return policy(section{custom, cat("x", make([]byte, 50<<20))}) },
	"W47 100 custom sections": func() []byte {
		return policy(slices.Repeat([]section{{custom, cat("x")}}, 100)...)
	},
	"W47 a name section that claims 2^28 names": func() []byte {
		return policy(section{custom, cat("name", 1, sized(cat(u32(1<<28), 0, "f")))})
	},
	"W48 compressed with gzip": func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(policy())
		_ = z.Close()
		return b.Bytes()
	},
	"W49 a component":     func() []byte { return []byte("\x00asm\x0d\x00\x01\x00\x00\x00") },
	"W50 the text format": func() []byte { return []byte("(module\n  (memory 1))") },
}

// hostile is one row of the table.
type hostile struct{ number, file, what, fate, words string }

func hostiles(t *testing.T) []hostile {
	t.Helper()
	var rows []hostile
	for line := range strings.Lines(string(read(t, "hostile", "README.md"))) {
		if f := strings.Split(line, "|"); len(f) == 7 && strings.HasPrefix(f[1], " W") {
			for i := range f {
				f[i] = strings.TrimSpace(f[i])
			}
			rows = append(rows, hostile{f[1], f[2], f[3], f[4], f[5]})
		}
	}
	if len(rows) < 70 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	return rows
}

func TestHostile(t *testing.T) {
	for _, h := range hostiles(t) {
		t.Run(h.number+" "+h.what, func(t *testing.T) {
			var module []byte
			switch build, ok := made[h.number+" "+h.what]; {
			case h.number == "W39":
				t.Skip("see TestTruncated")
			case ok && h.file == "test":
				module = build()
			default:
				module = read(t, "hostile", h.file+".wasm")
			}
			if h.fate != "refused" {
				if _, err := check.Check(module, check.Small()); err != nil {
					t.Errorf("must be accepted: %v", err)
				}
				return
			}
			got := problems(t, module, check.Small())
			if h.words == "" || !slices.ContainsFunc(got, func(p check.Problem) bool { return strings.Contains(p.What, h.words) }) {
				t.Errorf("got %v, want %q", got, h.words)
			}
		})
	}
}

// Every prefix of a module is refused, but for one that lacks nothing except
// the data behind the code: nobody can tell that from a module without data.
func TestTruncated(t *testing.T) {
	for _, tt := range []struct {
		name   string
		module []byte
		passes []int
	}{
		{"policy", policy(), nil},
		{"with announced data", policy(section{dataCount, cat(1)}, section{data, list(cat(1, "x"))}), nil},
		{"with data", policy(section{data, list(cat(1, "x"))}), []int{len(policy())}},
		{"rank", read(t, "guests", "rank.wasm"), []int{2212}},
		{"admit", read(t, "guests", "admit.wasm"), nil},
	} {
		for n := range tt.module {
			info, err := check.Check(tt.module[:n:n], check.Small())
			if accepted := err == nil; accepted != slices.Contains(tt.passes, n) || accepted != (info != nil) {
				t.Fatalf("%s: the first %d of %d bytes: %v", tt.name, n, len(tt.module), err)
			}
		}
	}
}

func TestNewerVersionIsTold(t *testing.T) {
	info, err := check.Check(read(t, "hostile", "W33-newer-version.wasm"), check.Small())
	if err != nil || info.ABI != "2.0" {
		t.Errorf("got %+v and %v, want the version 2.0", info, err)
	}
}
