package sdk_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"gatewright/wasm/abi"
)

// machine is a module on a bare engine, for what the sandbox does not show: what
// its exports return to whatever they are given.
type machine struct {
	engine   wazero.Runtime
	compiled wazero.CompiledModule
	lines    *[]string // of the log of the instance that was made last
}

func newMachine(t *testing.T, language, policy string) *machine {
	t.Helper()
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(scratch, "bare"))
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{engine: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))}
	t.Cleanup(func() {
		if err := errors.Join(m.engine.Close(ctx), cache.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	log := func(_ context.Context, from api.Module, level, at, n uint32) {
		text, _ := from.Memory().Read(at, n)
		*m.lines = append(*m.lines, fmt.Sprintf("%d %s", level, text))
	}
	if _, err := m.engine.NewHostModuleBuilder("gw").NewFunctionBuilder().WithFunc(log).Export("log").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	wasi_snapshot_preview1.MustInstantiate(ctx, m.engine)
	if m.compiled, err = m.engine.CompileModule(ctx, module(t, language, policy)); err != nil {
		t.Fatal(err)
	}
	return m
}

// guest is an instance.
type guest struct {
	api.Module
	lines []string
}

// guest makes a new instance.
func (m *machine) guest(t *testing.T) *guest {
	t.Helper()
	g := &guest{}
	m.lines = &g.lines
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysNanotime()
	var err error
	if g.Module, err = m.engine.InstantiateModule(context.Background(), m.compiled, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// call calls an export.
func (g *guest) call(t *testing.T, name string, args ...uint32) uint32 {
	t.Helper()
	stack := make([]uint64, max(1, len(args)))
	for i, a := range args {
		stack[i] = uint64(a)
	}
	if err := g.ExportedFunction(name).CallWithStack(context.Background(), stack); err != nil {
		t.Fatalf("%s%v: %v", name, args, err)
	}
	return uint32(stack[0])
}

// put writes b into a buffer of the guest's.
func (g *guest) put(t *testing.T, b []byte) uint32 {
	t.Helper()
	at := g.call(t, "gw_alloc", uint32(len(b)))
	if at == 0 || !g.Memory().Write(at, b) {
		t.Fatalf("gw_alloc(%d) gave %d", len(b), at)
	}
	return at
}

// configure gives the guest parameters, and returns the code and the log.
func (g *guest) configure(t *testing.T, params string) (int32, string) {
	t.Helper()
	at := g.put(t, []byte(params))
	return int32(g.call(t, "gw_configure", at, uint32(len(params)))), strings.Join(g.lines, "\n")
}

// Wrong parameters are refused in the same words in all languages.
func TestParameters(t *testing.T) {
	many := strings.Repeat(`"x",`, 64)
	cases := []struct {
		name, params, want string // "" = accepted
	}{
		{"none", `{}`, ""},
		{"all, with blanks", " {\n\t\"flag\" : false ,\r\n\"word\":\"\", \"words\" : [ ] , \"number\" : 10 } ", ""},
		{"one text is a list of one", `{"words":"a"}`, ""},
		{"null is as if it were not there", `{"word":null,"words":["a"],"number":null}`, ""},
		{"escapes in a name", `{"w\u006frd":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude80\ud83dx\ude80"}`, ""},
		{"another object", `{"colour":1}`, "colour is not a parameter of this policy"},
		{"a name of many bytes", `{"größe":1}`, "größe is not a parameter of this policy"},
		{"not an object", `[1]`, "parameters must be an object"},
		{"a number for a text", `{"word":1}`, "word is not a text"},
		{"a list for a text", `{"word":["a"]}`, "word is not a text"},
		{"a text for a number", `{"number":"1"}`, "number is not a whole number"},
		{"a number in a list", `{"words":["a",1]}`, "words is not a list of texts"},
		{"a text for a switch", `{"flag":"true"}`, "flag is neither true nor false"},
		{"a fraction", `{"number":1.5}`, "number is not a whole number"},
		{"an exponent", `{"number":1e3}`, "number is not a whole number"},
		{"too small", `{"number":-11}`, "number is too small"},
		{"too large", `{"number":11}`, "number is too large"},
		{"beyond 64 bits", `{"number":9223372036854775808}`, "number is too large"},
		{"an object", `{"number":{"a":1}}`, "number is neither a number, a text, true, false nor a list of them"},
		{"a list in a list", `{"words":[["a"]]}`, "words is neither a number, a text, true, false nor a list of them"},
		{"twice", `{"number":1,"number":2}`, "number stands twice"},
		{"the first that is wrong", `{"number":11,"word":1}`, "word is not a text"}, // as the policy reads them
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			m := newMachine(t, language, "features")
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					code, log := m.guest(t).configure(t, c.params)
					wantCode, wantLog := int32(0), ""
					if c.want != "" {
						wantCode, wantLog = abi.CodeInput, "3 "+c.want
					}
					if code != wantCode || log != wantLog {
						t.Errorf("got %d and %q, want %d and %q", code, log, wantCode, wantLog)
					}
				})
			}
			t.Run("the policy's own no", func(t *testing.T) {
				if code, _ := m.guest(t).configure(t, `{"number":7}`); code != abi.CodeOwn {
					t.Errorf("got %d", code)
				}
			})
			// C and Rust have room for so much; the others take what they are given.
			t.Run("too many", func(t *testing.T) {
				code, log := m.guest(t).configure(t, `{"words":[`+many+`"x"]}`)
				if fixed := language == "c" || language == "rust"; fixed != (code < 0) || fixed != (log == "3 words is one value too many") {
					t.Errorf("got %d and %q", code, log)
				}
			})
			t.Run("too long", func(t *testing.T) {
				code, log := m.guest(t).configure(t, `{"word":"`+strings.Repeat("x", 3000)+`"}`)
				if fixed := language == "c" || language == "rust"; fixed != (code < 0) || fixed != (log == "3 the parameters are too long for this policy") {
					t.Errorf("got %d and %q", code, log)
				}
			})
		})
	}
}

// Whatever the parameters are, a policy comes to an end and touches nothing that is
// not its own: JSON that is cut off, or none at all.
func TestBrokenParameters(t *testing.T) {
	const whole = `{"words":["\u00e9\ud83d\ude80",""],"flag":true,"number":-3,"word":null}`
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			m := newMachine(t, language, "features")
			for n := range len(whole) {
				m.guest(t).configure(t, whole[:n])
			}
			for _, odd := range []string{"", "{", `{"`, `{"a"`, `{"a":`, `{"a":[`, `{"a":["`, `{"a":["\`, `{"a":["\u`, `{"a":["\ud83d\u`, `{"words":[}`, `{"a":-`, "\x00", "{\x00}"} {
				m.guest(t).configure(t, odd)
			}
		})
	}
}

// gw_alloc gives aligned addresses within the memory, the same one while the
// buffer is large enough, and 0 where there is no room.
func TestAlloc(t *testing.T) {
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			g := newMachine(t, language, "admission").guest(t)
			if v := g.call(t, "gw_abi_version"); v != abi.Version {
				t.Errorf("the version is %#x", v)
			}
			first := g.call(t, "gw_alloc", 16<<10)
			for _, n := range []uint32{0, 1, 100, 16 << 10} {
				if at := g.call(t, "gw_alloc", n); at != first {
					t.Errorf("gw_alloc(%d) gave %#x, the buffer is at %#x", n, at, first)
				}
			}
			for _, n := range []uint32{16 << 10, 17 << 10, 100_000, 300_000, 1_000_000} {
				at := g.call(t, "gw_alloc", n)
				if at == 0 || at%16 != 0 || uint64(at)+uint64(n) > uint64(g.Memory().Size()) {
					t.Errorf("gw_alloc(%d) gave %#x of %#x bytes", n, at, g.Memory().Size())
				}
				if again := g.call(t, "gw_alloc", n); again != at {
					t.Errorf("gw_alloc(%d) gave %#x and then %#x", n, at, again)
				}
			}
			for _, n := range []uint32{32 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 16, 1<<32 - 1} {
				if at := g.call(t, "gw_alloc", n); at != 0 {
					t.Errorf("gw_alloc(%d) gave %#x", n, at)
				}
			}
		})
	}
}

// A buffer that is not of this contract is refused, and nothing is written.
func TestForeignBuffers(t *testing.T) {
	write := func(at int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	cases := []struct {
		name   string
		change func([]byte)
		length int
		want   int32
	}{
		{"as it is", func([]byte) {}, 0, 1},
		{"magic", write(abi.HeaderMagic, 0x31505748), 0, abi.CodeInput},
		{"the next major version", write(abi.HeaderAbi, 2<<16), 0, abi.CodeVersion},
		{"a newer minor version", write(abi.HeaderAbi, 1<<16|7), 0, 1},
		{"too short", func([]byte) {}, abi.HeaderSize - 1, abi.CodeInput},
		{"short records", write(abi.HeaderRecordSize, 8), 0, abi.CodeInput},
		{"huge records", write(abi.HeaderRecordSize, 1<<31), 0, abi.CodeInput},
		{"too many records", write(abi.HeaderCount, abi.MaxRecords+1), 0, abi.CodeInput},
		{"records beyond the end", write(abi.HeaderCount, 100), 0, abi.CodeInput},
		{"records far away", write(abi.HeaderRecordsOff, 1<<31), 0, abi.CodeInput},
	}
	buffer := make([]byte, 4096)
	n, err := abi.Encode(buffer, asked(1, "eu", in("us"), in("eu")), abi.Admission)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			g := newMachine(t, language, "admission").guest(t)
			g.configure(t, "{}")
			for _, c := range cases {
				b := append([]byte(nil), buffer[:n]...)
				c.change(b)
				at, length := g.put(t, b), c.length
				if length == 0 {
					length = n
				}
				if got := int32(g.call(t, "gw_admit", at, uint32(length))); got != c.want {
					t.Errorf("%s: returned %d, want %d", c.name, got, c.want)
				}
				if after, _ := g.Memory().Read(at, uint32(n)); c.want < 0 && string(after) != string(b) {
					t.Errorf("%s: it wrote into the buffer", c.name)
				}
			}
		})
	}
}

// Records may become longer in a later minor version, behind a longer header: a
// policy steps as the header says.
func TestLongerRecords(t *testing.T) {
	const more, count = 24, 3
	short := make([]byte, 4096)
	n, err := abi.Encode(short, asked(1, "eu", in("us"), in("eu"), in("eu-west")), abi.Admission)
	if err != nil {
		t.Fatal(err)
	}
	// The same with 24 bytes behind each record, and texts that have moved as much.
	long := append([]byte(nil), short[:abi.HeaderSize]...)
	for i := range count {
		long = append(long, short[abi.HeaderSize+i*abi.RecordSize:][:abi.RecordSize]...)
		long = append(long, make([]byte, more)...)
	}
	long = append(long, short[abi.HeaderSize+count*abi.RecordSize:n]...)
	move := func(at int) {
		if v := binary.LittleEndian.Uint32(long[at:]); v > abi.HeaderSize {
			binary.LittleEndian.PutUint32(long[at:], v+count*more)
		}
	}
	for _, at := range []int{abi.HeaderStringsOff, abi.HeaderOrderOff, abi.HeaderErrorOff, abi.HeaderAttrsOff} {
		move(at)
	}
	attrs := int(binary.LittleEndian.Uint32(long[abi.HeaderAttrsOff:]))
	move(attrs + 4)
	move(attrs + 12)
	binary.LittleEndian.PutUint32(long[abi.HeaderRecordSize:], abi.RecordSize+more)
	for i := range count {
		move(abi.HeaderSize + i*(abi.RecordSize+more) + abi.RecordRegion)
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			g := newMachine(t, language, "admission").guest(t)
			g.configure(t, "{}")
			at := g.put(t, long)
			if got := int32(g.call(t, "gw_admit", at, uint32(len(long)))); got != 1 {
				t.Errorf("removed %d", got)
			}
			for i, want := range []uint32{outOfRegion, 0, 0} {
				got, _ := g.Memory().ReadUint32Le(at + abi.HeaderSize + uint32(i)*(abi.RecordSize+more) + abi.RecordVerdict)
				if got != want {
					t.Errorf("candidate %d: got %d, want %d", i, got, want)
				}
			}
		})
	}
}
