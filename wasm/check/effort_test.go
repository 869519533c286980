package check_test

import (
	"slices"
	"strings"
	"testing"

	"gatewright/wasm/check"
)

// Shapes of code that engines compile in time that grows with the square of
// its size. Each stays within all other limits.
func TestSlowToCompile(t *testing.T) {
	const locals = 64
	get := func(i int) []byte { return cat(0x20, u32(uint32(i%locals)), 0x1a) }
	set := func(i int) []byte { return cat(0x42, 1, 0x21, u32(uint32(i%locals))) }
	leave := []byte{0x41, 0, 0x0d, 0} // br_if 0
	each := func(n int, f func(int) []byte) []byte {
		var b []byte
		for i := range n {
			b = append(b, f(i)...)
		}
		return b
	}
	shapes := map[string][]byte{
		"many loops":             repeat(2600, 0x03, 0x40, 0x0b),
		"many fills":             repeat(900, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0),
		"many questions to grow": repeat(1500, 0x41, 0, 0x40, 0, 0x1a),
		"ifs that set": each(850, func(i int) []byte {
			return cat(0x41, 0, 0x04, 0x40, set(i), 0x0b)
		}),
		"many ways into one block": cat(0x02, 0x40, slices.Repeat(leave, 1500), 0x0b, each(locals, get), repeat(0)),
		"locals through many blocks": cat(each(10, func(int) []byte {
			return cat(0x02, 0x40, slices.Repeat(leave, 100), 0x0b, each(locals, get))
		})),
		"loops inside loops":          cat(repeat(60, 0x03, 0x40), each(2000, get), repeat(60, 0x0b)),
		"loop that uses locals early": cat(0x03, 0x40, each(locals, get), 0x02, 0x40, slices.Repeat(leave, 1000), 0x0b, leave, 0x0b),
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			body := sized(cat(1, locals, 0x7e, shape, 0x0b))
			n := 250_000 / len(body)
			all := make([][]byte, 0, n)
			for range n {
				all = append(all, body)
			}
			module := policy(
				section{functions, cat(u32(uint32(n)), 0, 1, 2, repeat(n-3, 3))},
				section{code, list(all...)},
			)
			got := problems(t, module, check.Small())
			if len(got) > 2 || !strings.Contains(got[0].What, "compiling the module may take") {
				t.Errorf("got %v, want only that it is slow to compile", got)
			}
		})
	}
}

// What an ordinary compiler writes stays far below the limits.
func TestOrdinaryCodeIsFastToCompile(t *testing.T) {
	for _, tt := range []struct {
		file    string
		profile check.Profile
	}{{"rank.wasm", check.Small()}, {"admit.wasm", check.Small()}, {"opa-rank.wasm", check.OPA()}} {
		info, err := check.Check(read(t, "guests", tt.file), tt.profile)
		if err != nil {
			t.Fatal(err)
		}
		share := info.CompileWalk * int64(tt.profile.Limits.Bytes) / int64(info.Bytes)
		if share > 6*tt.profile.Limits.CompileWalk || info.CompilePairs > tt.profile.Limits.CompilePairs/20 {
			t.Errorf("%s: %d steps and %d pairs for %d bytes", tt.file, info.CompileWalk, info.CompilePairs, info.Bytes)
		}
	}
}
