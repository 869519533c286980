package wasm_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// scoreOf is what testdata/wasm/guests/rank.c scores a candidate with, in Go.
func scoreOf(in *abi.Input, i int) float64 {
	c := &in.Records[i]
	cost := float64(c.PriceIn)*float64(in.InputTokens) + float64(c.PriceOut)*float64(in.MaxOutputTokens)
	slow := float64(c.LatencyP50+c.LatencyP95) * (1 + float64(c.InFlight))
	quota := float64(c.QuotaLeft) / 1000000
	z := in.Seed + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	s := float64(cost/1e6) + float64(slow*3) + float64((1-quota)*500) + float64(float64(z>>11)/9007199254740992*20)
	if c.Circuit == abi.CircuitOpen {
		s *= 8
	}
	return s
}

// ranked is a native ranking: the order of the guest rank.c.
func ranked(in *abi.Input, scores []float64, order []uint32) []uint32 {
	order = order[:0]
	for i := range in.Records {
		scores[i] = scoreOf(in, i)
		order = append(order, uint32(i))
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if c := cmp.Compare(scores[a], scores[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}

// The guest in C orders as the same rule in Go does, for any number of
// candidates that it has room for.
func TestRankGuest(t *testing.T) {
	m := load(t, newRuntime(t, wasm.Config{}), wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
	var out abi.Result
	for _, n := range []int{0, 1, 2, 3, 20, 70, 150} {
		in := request(n, 1)
		for seed := range uint64(20) {
			in.Seed = seed * 0x123456789
			if err := m.Rank(t.Context(), in, &out); err != nil {
				t.Fatalf("%d candidates: %v", n, err)
			}
			if want := ranked(in, make([]float64, n), nil); !slices.Equal(out.Order, want) {
				t.Fatalf("%d candidates, seed %d: got %v, want %v", n, seed, out.Order, want)
			}
		}
	}
	if f := faultOf(t, m.Rank(t.Context(), request(400, 1), &out)); f.Kind != wasm.FaultMemory {
		t.Errorf("more than it has room for: %v", f)
	}
}

// The guest in C admits as its rule says.
func TestAdmitGuest(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	s := wasm.Source{Bytes: withManifest(read(t, "guests", "admit.wasm"), `{"name":"eu","version":"1","kind":"admission","abi":"1.0","reasons":["eu_only","too_dear"]}`)}
	m := load(t, r, s)
	var out abi.Result
	for _, n := range []int{0, 1, 20, 150} {
		in := request(n, 1)
		if err := m.Admit(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		for i, c := range in.Records {
			want := uint32(0)
			switch {
			case !strings.HasPrefix(c.Region, "eu-"):
				want = 1
			case c.EstCost > in.BudgetLeft:
				want = 2
			}
			if got := out.Verdicts[i]; got.Reason != want || got.Until != abi.Unknown {
				t.Errorf("candidate %d: got %+v, want %d", i, got, want)
			}
		}
	}
	// Without a manifest there is one reason, and the second is a fault.
	m = load(t, r, wasm.Source{Bytes: read(t, "guests", "admit.wasm")})
	if f := faultOf(t, m.Admit(t.Context(), request(150, 1), &out)); f.Kind != wasm.FaultContract {
		t.Errorf("got %v", f)
	}
}

// buildGo builds the guest in Go.
func buildGo(tb testing.TB) []byte {
	tb.Helper()
	if testing.Short() {
		tb.Skip("builds a guest and compiles 3 MB")
	}
	out := filepath.Join(tb.TempDir(), "guest.wasm")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "main.go")
	build.Dir = "../testdata/wasm/guests/go"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build the guest: %v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// A guest with Go's runtime ranks, the same in every call and every instance:
// its collector, its maps and its clock are put back too.
func TestGoGuest(t *testing.T) {
	module := buildGo(t)
	r := newRuntime(t, wasm.Config{})
	m := load(t, r, wasm.Source{Bytes: module, Profile: wasm.ProfileGo, Instances: 2})
	if i := m.Info(); i.Budget != wasm.BudgetGo || i.Kind != check.KindRanking {
		t.Errorf("got %+v", i)
	}
	in := request(20, 1)
	want := make([]uint32, len(in.Records))
	for i := range want {
		want[i] = uint32(i)
	}
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(in.Records[a].PriceIn, in.Records[b].PriceIn) })
	var out abi.Result
	units := uint64(0)
	for n := range 50 {
		before := m.Stats().Units
		if err := m.Rank(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Order, want) {
			t.Fatalf("got %v, want %v", out.Order, want)
		}
		used := m.Stats().Units - before
		if n > 0 && used != units {
			t.Errorf("call %d used %d units, the one before %d", n, used, units)
		}
		units = used
	}
	t.Logf("%d units a call, %d KiB of memory", units, m.Stats().Memory/2>>10)
	if _, err := r.Load(t.Context(), wasm.Source{Name: "go", Bytes: module}); err == nil {
		t.Error("the small profile takes it too")
	}
}

// withManifest puts a manifest at the end of a module.
func withManifest(module []byte, manifest string) []byte {
	const name = "gatewright.manifest"
	body := append(append(leb(len(name)), name...), manifest...)
	return slices.Concat(module, []byte{0}, leb(len(body)), body)
}

func leb(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
