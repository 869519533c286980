package wasm

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"

	"gatewright/wasm/check"
)

// Whatever a memory held and whatever a guest did to it, it is put back.
func TestSnapshot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, grain - 1, grain, grain + 1, 64 << 10, 64<<10 + 77} {
		for range 30 {
			memory := make([]byte, size)
			for range r.IntN(5) { // islands in zeros
				at := r.IntN(size + 1)
				for k := at; k < min(size, at+r.IntN(3*grain)); k++ {
					memory[k] = byte(r.Uint32())
				}
			}
			before := bytes.Clone(memory)
			until := r.IntN(size + 1)
			var s snapshot
			s.take(memory, uint32(until), nil)
			for range r.IntN(100) {
				if size > 0 {
					memory[r.IntN(size)] = byte(r.Uint32())
				}
			}
			after := bytes.Clone(memory)
			s.restore(memory, nil)
			if !bytes.Equal(memory[:until], before[:until]) {
				t.Fatalf("%d bytes, until %d: not put back", size, until)
			}
			if !bytes.Equal(memory[until:], after[until:]) {
				t.Fatalf("%d bytes, until %d: more was put back", size, until)
			}
			kept := 0
			for _, r := range s.runs {
				kept += len(r.data)
			}
			if kept > until {
				t.Errorf("%d bytes are kept of %d", kept, until)
			}
		}
	}
}

// Memory is counted while it is there, refused beyond the bound, and freed once.
func TestLinear(t *testing.T) {
	a := &account{limit: 300 << 10}
	l := &linear{account: a, limit: 1 << 20}
	if l.Reallocate(1) != nil {
		t.Error("memory before there are addresses")
	}
	l.Allocate(0, 256<<10)
	b := l.Reallocate(64 << 10)
	if len(b) != 64<<10 || a.used.Load() != 64<<10 || l.inUse() != 64<<10 {
		t.Fatalf("%d bytes, %d in use", len(b), a.used.Load())
	}
	b[5] = 9
	if c := l.Reallocate(128 << 10); len(c) != 128<<10 || &c[0] != &b[0] || c[5] != 9 || c[100_000] != 0 {
		t.Error("growing moved or lost the memory")
	}
	if l.Reallocate(257<<10) != nil {
		t.Error("more than the maximum")
	}
	other := &linear{account: a, limit: 1 << 20}
	other.Allocate(0, 1<<30)
	if other.Reallocate(200<<10) != nil || a.used.Load() != 128<<10 {
		t.Error("more than the account has")
	}
	if other.Reallocate(100<<10) == nil {
		t.Error("what the account has left")
	}
	for range 2 {
		l.Free()
		other.Free()
	}
	if a.used.Load() != 0 || l.inUse() != 0 {
		t.Errorf("%d bytes are left", a.used.Load())
	}
}

func TestAccountHammer(t *testing.T) {
	a := &account{limit: 100}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if a.take(30) {
					if n := a.used.Load(); n > 100+8*30 {
						t.Errorf("%d of 100", n)
					}
					a.used.Add(-30)
				}
			}
		})
	}
	wg.Wait()
	if a.used.Load() != 0 {
		t.Errorf("%d left", a.used.Load())
	}
}

func TestPace(t *testing.T) {
	var p pace
	now := time.Unix(1000, 0)
	allowed := 0
	for range 3 * maxPerSec {
		if p.allows(now) {
			allowed++
		}
	}
	if allowed != maxPerSec || !p.allows(now.Add(time.Second)) {
		t.Errorf("%d lines in a second", allowed)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for range 1000 {
				p.allows(now.Add(time.Duration(g) * time.Second))
			}
		})
	}
	wg.Wait()
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"plain é":                    "plain é",
		"a\nb\tc\r\n":                "a; b; c",
		"bell\x07 escape\x1b[31m":    "bell? escape?[31m",
		"broken \xff\xfe":            "broken ??",
		strings.Repeat("é", 400):     strings.Repeat("é", 256),
		strings.Repeat("x", 100_000): strings.Repeat("x", 512),
	} {
		if got := oneLine(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%.20q became %.60q", in, got)
		}
	}
}

func TestEngineFault(t *testing.T) {
	for _, tt := range []struct {
		err  error
		left int64
		kind FaultKind
	}{
		{errors.New("wasm error: unreachable"), 5, FaultTrap},
		{errors.New("wasm error: unreachable"), -5, FaultBudget},
		{errors.New("wasm error: stack overflow"), 5, FaultStack},
		{&hostError{FaultHost, "no"}, 5, FaultHost},
		{&hostError{FaultTrap, "no"}, -1, FaultBudget},
	} {
		if f := engineFault(tt.err, tt.left); f.Kind != tt.kind || f.Detail == "" {
			t.Errorf("%v with %d left: %v", tt.err, tt.left, f)
		}
	}
}

// Every kind of fault has a name of its own.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := FaultTrap; k <= FaultClosed; k++ {
		if s := k.String(); seen[s] || strings.Contains(s, "(") {
			t.Errorf("kind %d is called %q", k, s)
		} else {
			seen[s] = true
		}
	}
	if FaultKind(0).String() != "FaultKind(0)" || FaultKind(99).String() != "FaultKind(99)" {
		t.Error("what is no kind has a name")
	}
}

// The module between is one that the engine takes, for any size of memory.
func TestEnvBytes(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = r.Close(ctx) })
	for _, pages := range [][2]uint32{{0, 1}, {1, 256}, {2, 16}, {200, 65536}} {
		c, err := r.CompileModule(ctx, envBytes(pages[0], pages[1]))
		if err != nil {
			t.Fatal(err)
		}
		m := c.ExportedMemories()["memory"]
		if limit, _ := m.Max(); m.Min() != pages[0] || limit != pages[1] {
			t.Errorf("%v pages became %d to %d", pages, m.Min(), limit)
		}
		functions := c.ExportedFunctions()
		for _, e := range check.OPA().Imports {
			if e.Kind == check.ExternFunc && functions[e.Name] == nil {
				t.Errorf("%s is not exported", e.Name)
			}
		}
	}
}

// Modules of the same bytes share their code, and the last one frees it.
func TestSharedCode(t *testing.T) {
	r, err := NewRuntime(Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	// An admission that admits everybody.
	module := assembleAdmission()
	a, err := r.Load(ctx, Source{Name: "a", Bytes: module})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Load(ctx, Source{Name: "b", Bytes: module})
	if err != nil {
		t.Fatal(err)
	}
	if a.code != b.code || a.code.users != 2 || len(r.codes) != 1 {
		t.Errorf("%d codes, %d users", len(r.codes), a.code.users)
	}
	if err := a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if b.code.users != 1 || len(r.codes) != 1 {
		t.Error("the code is gone too early")
	}
	if err := b.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if len(r.codes) != 0 || len(r.modules) != 0 {
		t.Errorf("%d codes and %d modules are left", len(r.codes), len(r.modules))
	}
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// assembleAdmission is the smallest admission there is.
func assembleAdmission() []byte {
	i32 := byte(0x7f)
	body := func(code ...byte) []byte { return vector(append([]byte{0}, append(code, 0x0b)...)) }
	export := func(name string, kind, index byte) []byte { return append(vector([]byte(name)), kind, index) }
	return concat(
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, list([][]byte{{0x60, 0, 1, i32}, {0x60, 1, i32, 1, i32}, {0x60, 2, i32, i32, 1, i32}})),
		section(3, []byte{3, 0, 1, 2}),
		section(5, []byte{1, 1, 1, 2}),
		section(7, list([][]byte{export("memory", 2, 0), export("gw_abi_version", 0, 0), export("gw_alloc", 0, 1), export("gw_admit", 0, 2)})),
		section(10, list([][]byte{body(0x41, 0x80, 0x80, 0x04), body(0x41, 0x80, 0x08), body(0x41, 0)})),
	)
}

// A call that times out just as an instance comes back takes it, and none is
// lost.
func TestPoolHandsOver(t *testing.T) {
	r, err := NewRuntime(Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Load(t.Context(), Source{Name: "a", Bytes: assembleAdmission(), Instances: 2})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				i, err := m.pool.get(t.Context())
				if err != nil {
					if f, ok := errors.AsType[*Fault](err); !ok || f.Kind != FaultBusy {
						t.Error(err)
					}
					continue
				}
				m.pool.put(i, false)
			}
		})
	}
	wg.Wait()
	m.pool.mu.Lock()
	if len(m.pool.idle) != 2 || m.pool.inUse != 0 || m.pool.waiting != 0 || len(m.pool.handoff) != 0 {
		t.Errorf("%d idle, %d in use, %d waiting, %d handed over", len(m.pool.idle), m.pool.inUse, m.pool.waiting, len(m.pool.handoff))
	}
	m.pool.mu.Unlock()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
