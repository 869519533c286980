package meter_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"gatewright/wasm/check"
)

// buildGo builds the guest in Go.
func buildGo(t *testing.T) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a guest and compiles 3 MB")
	}
	out := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "main.go")
	build.Dir = "../../testdata/wasm/guests/go"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest: %v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A guest with Go's whole runtime passes the check, starts and decides within
// the budget that it is meant to have, and decides as it does without one in
// the other engine.
func TestGoGuest(t *testing.T) {
	const budget = 20_000_000
	plain := buildGo(t)
	if _, err := check.Check(plain, check.Go()); err != nil {
		t.Fatal(err)
	}
	in := request(rand.New(rand.NewPCG(5, 6)), 20)
	var orders [][]byte
	for n, module := range [][]byte{plain, instrument(t, plain)} {
		ctx := context.WithoutCancel(t.Context())
		r := wazero.NewRuntimeWithConfig(ctx, engines[1-n].config())
		t.Cleanup(func() { _ = r.Close(ctx) })
		wasi_snapshot_preview1.MustInstantiate(ctx, r)
		i := instantiate(t, r, module)
		_, starting, err := i.call(budget, "_initialize")
		if err != nil {
			t.Fatalf("start: %v", err)
		}
		at, _, err := i.call(budget, "gw_alloc", uint64(len(in)))
		if err != nil || !i.Memory().Write(uint32(at[0]), in) {
			t.Fatalf("room for the request at %v: %v", at, err)
		}
		result, ranking, err := i.call(budget, "gw_rank", at[0], uint64(len(in)))
		if err != nil || result[0] != 20 {
			t.Fatalf("rank: %v, %v", result, err)
		}
		order, _ := i.Memory().Read(uint32(at[0])+binary.LittleEndian.Uint32(in[104:]), 80)
		orders = append(orders, append([]byte(nil), order...))
		t.Logf("%d units to start, %d to rank", starting, ranking)
	}
	if string(orders[0]) != string(orders[1]) {
		t.Errorf("orders %x and %x", orders[0], orders[1])
	}
}
