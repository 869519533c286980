package wasm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// gate is a host function that tells when it is entered and waits until it is
// let go.
type gate struct{ entered, leave chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}, 100), make(chan struct{})} }

func (g *gate) pass(args []byte) ([]byte, error) {
	g.entered <- struct{}{}
	<-g.leave
	return args, nil
}

// held is a source of a module whose calls of "b1" wait in the gate.
func held(t *testing.T, g *gate, instances int) wasm.Source {
	t.Helper()
	host := served()
	host["test.echo"] = g.pass
	return wasm.Source{Name: "held", Bytes: read(t, "answers", "opa.wasm"), Entrypoint: "answer", Host: host, Instances: instances}
}

// An empty pool makes a call wait a moment, and then it is a fault; who waits
// gets the instance that comes back.
func TestBusy(t *testing.T) {
	g := newGate()
	m := load(t, newRuntime(t, wasm.Config{}), held(t, g, 1))
	var wg sync.WaitGroup
	wg.Go(func() {
		if got, err := m.Eval(t.Context(), []byte("b1"), nil); err != nil || string(got) != "[1]" {
			t.Errorf("the call in flight: %s and %v", got, err)
		}
	})
	<-g.entered
	if f := faultOf(t, lastError(m.Eval(t.Context(), []byte("e"), nil))); f.Kind != wasm.FaultBusy {
		t.Errorf("got %v", f)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lastError(m.Eval(done, []byte("e"), nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	close(g.leave)
	wg.Wait()
	if _, err := m.Eval(t.Context(), []byte("e"), nil); err != nil {
		t.Errorf("when it is free again: %v", err)
	}
	if s := m.Stats(); s.Faults[wasm.FaultBusy] != 1 || s.InUse != 0 || s.Instances != 1 || s.Made != 1 {
		t.Errorf("got %+v", s)
	}
}

// Closing lets calls in flight end, and lets no more begin. The code stays as
// long as another module uses it.
func TestCloseWaits(t *testing.T) {
	g := newGate()
	r := newRuntime(t, wasm.Config{})
	old := load(t, r, held(t, g, 3))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if got, err := old.Eval(t.Context(), []byte("b1"), nil); err != nil || string(got) != "[1]" {
				t.Errorf("a call in flight: %s and %v", got, err)
			}
		})
		<-g.entered
	}
	renewed := load(t, r, held(t, newGate(), 2))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := old.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("closing without time: %v", err)
	}
	if f := faultOf(t, lastError(old.Eval(t.Context(), []byte("e"), nil))); f.Kind != wasm.FaultClosed {
		t.Errorf("a call afterwards: %v", f)
	}
	close(g.leave)
	wg.Wait()
	for range 2 {
		if err := old.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if s := old.Stats(); s.Instances != 0 || s.Memory != 0 || s.Calls != 2 {
		t.Errorf("got %+v", s)
	}
	if got, err := renewed.Eval(t.Context(), []byte("e1"), nil); err != nil || string(got) != "e1" {
		t.Errorf("the other module: %s and %v", got, err)
	}
}

// A runtime closes everything that it has loaded, and waits for it.
func TestCloseRuntime(t *testing.T) {
	g := newGate()
	r, err := wasm.NewRuntime(wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, r, held(t, g, 2))
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := m.Eval(t.Context(), []byte("b1"), nil); err != nil {
			t.Errorf("the call in flight: %v", err)
		}
	})
	<-g.entered
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("closing without time: %v", err)
	}
	if _, err := r.Load(t.Context(), held(t, g, 1)); !errors.Is(err, wasm.ErrClosed) {
		t.Errorf("a load afterwards: %v", err)
	}
	close(g.leave)
	wg.Wait()
	for range 2 {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if r.Memory() != 0 {
		t.Errorf("%d bytes are left", r.Memory())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Loads wait in a queue that has an end; one that nobody waits for any more is
// thrown away.
func TestQueue(t *testing.T) {
	g := newGate()
	r := newRuntime(t, wasm.Config{Queue: 1})
	s := held(t, g, 1)
	s.Probes = [][]byte{[]byte("b1")} // holds the worker
	first, abandon := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.Load(first, s); !errors.Is(err, context.Canceled) {
			t.Errorf("the abandoned load: %v", err)
		}
	})
	<-g.entered
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Load(over, held(t, g, 1)); !errors.Is(err, context.Canceled) { // takes the only place
		t.Errorf("a load that waits: %v", err)
	}
	if _, err := r.Load(t.Context(), held(t, g, 1)); !errors.Is(err, wasm.ErrQueueFull) {
		t.Errorf("a load without a place: %v", err)
	}
	abandon()
	wg.Wait()
	close(g.leave)
	waitFor(t, func() bool {
		m, err := r.Load(t.Context(), held(t, g, 1))
		if errors.Is(err, wasm.ErrQueueFull) {
			return false
		}
		if err == nil {
			_, err = m.Eval(t.Context(), []byte("e"), nil)
		}
		if err != nil {
			t.Errorf("a load afterwards: %v", err)
		}
		return true
	})
}

// What is compiled once is found again, by another runtime too.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		r := newRuntime(t, wasm.Config{CacheDir: dir})
		m := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
		var out abi.Result
		if err := m.Rank(t.Context(), request(20, 1), &out); err != nil {
			t.Error(err)
		}
	}
	cached(t, dir)
	// A damaged file, or a folder that nothing can be written to, costs time alone.
	for _, damage := range []func(file string) error{
		func(file string) error { return os.Truncate(file, 40) },
		func(file string) error { return os.WriteFile(file, []byte("nonsense"), 0o600) },
		func(file string) error { // the last: no runtime can use the folder afterwards
			folder := filepath.Dir(file)
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		},
	} {
		load(t, newRuntime(t, wasm.Config{CacheDir: dir}), wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
		r := newRuntime(t, wasm.Config{CacheDir: dir})
		if err := damage(cached(t, dir)); err != nil {
			t.Fatal(err)
		}
		m := load(t, r, wasm.Source{Bytes: read(t, "guests", "rank.wasm")})
		var out abi.Result
		if err := m.Rank(t.Context(), request(20, 1), &out); err != nil {
			t.Error(err)
		}
	}
	if _, err := wasm.NewRuntime(wasm.Config{CacheDir: dir}); err == nil || !strings.Contains(err.Error(), "cache of compiled policies") {
		t.Errorf("a file for a folder: %v", err)
	}
}

// cached is the only file of a cache.
func cached(t *testing.T, dir string) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache has %v, %v", files, err)
	}
	return files[0]
}

// The memory of all instances together has a bound.
func TestMemoryLimit(t *testing.T) {
	r := newRuntime(t, wasm.Config{MaxMemory: 5 * 128 << 10})
	s := wasm.Source{Name: "rank", Bytes: read(t, "answers", "rank.wasm"), Instances: 3}
	m := load(t, r, s)
	if got := r.Memory(); got != 3*128<<10 {
		t.Errorf("%d bytes", got)
	}
	if refused, ok := errors.AsType[*wasm.LoadError](lastError(r.Load(t.Context(), s))); !ok || refused.Step != wasm.StepInstance {
		t.Errorf("more than there is: %v", refused)
	}
	waitFor(t, func() bool { return r.Memory() == 3*128<<10 })
	// A guest that asks for more than there is sees that there is no more.
	var out abi.Result
	if f := faultOf(t, m.Rank(t.Context(), request(3, 120), &out)); f.Kind != wasm.FaultTrap {
		t.Errorf("got %v", f)
	}
	waitFor(t, func() bool { return m.Stats().Instances == 3 })
	if err := m.Rank(t.Context(), request(3, 1), &out); err != nil {
		t.Error(err)
	}
}

// An instance that cannot be made is tried again, until it can.
func TestInstanceIsTriedAgain(t *testing.T) {
	r := newRuntime(t, wasm.Config{MaxMemory: 3 * 128 << 10})
	s := wasm.Source{Name: "rank", Bytes: read(t, "answers", "rank.wasm"), Instances: 1}
	m := load(t, r, s)
	var out abi.Result
	// One that has grown by a page and is being replaced leaves too little for the
	// other two and for the one that comes.
	taken := load(t, r, wasm.Source{Name: "taken", Bytes: s.Bytes, Instances: 2})
	_ = m.Rank(t.Context(), request(3, 117), &out)
	waitFor(t, func() bool { return m.Stats().Instances == 1 })
	if f := faultOf(t, taken.Rank(t.Context(), request(3, 120), &out)); f.Kind != wasm.FaultTrap {
		t.Errorf("got %v", f)
	}
	waitFor(t, func() bool { return taken.Stats().Instances == 2 })
	if err := rankPatiently(m, request(3, 1), &out); err != nil {
		t.Error(err)
	}
}

// Settings that cannot be are refused all at once, before the bytes are looked at.
func TestSettings(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	s := wasm.Source{Budget: wasm.MaxBudget + 1, Instances: -1, Params: []byte("{"), Data: make([]byte, 5<<20)}
	_, err := r.Load(t.Context(), s)
	refused, ok := errors.AsType[*wasm.LoadError](err)
	if !ok || refused.Step != wasm.StepSource {
		t.Fatalf("got %v", err)
	}
	for _, word := range []string{"name: empty", "budget: 50000001 units", "instances: -1", "params: not JSON", "data: 5242880 bytes"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %v", word, err)
		}
	}
	if _, err := r.Load(t.Context(), wasm.Source{Name: "x", Profile: "huge"}); err == nil || !strings.Contains(err.Error(), `no profile "huge"; write small, opa or go`) {
		t.Errorf("an unknown profile: %v", err)
	}
	if _, err := r.Load(t.Context(), wasm.Source{Name: "x"}); err == nil || !strings.Contains(err.Error(), `load policy "x": check: `) {
		t.Errorf("no bytes: %v", err)
	}
}
