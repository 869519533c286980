package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

// childEnv makes the test binary play a role in another process, in its working
// directory.
const childEnv = "GATEWRIGHT_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

// command is this test binary in a role, working in dir.
func command(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childEnv+"="+role)
	return cmd
}

// child plays a role and returns the exit code.
func child(role string) int {
	if role == "crash" {
		return crashChild()
	}
	return systemRoles[role]()
}

// mustOpen opens a store and closes it at the end of the test, if the test has
// not done so.
func mustOpen(tb testing.TB, dir string, o Options) *Store {
	tb.Helper()
	s, err := Open(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// mustClose closes a store that has nothing to complain about.
func mustClose(tb testing.TB, s *Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// flaky is a disk that fails when it is told to.
type flaky struct {
	*database
	mu       sync.Mutex
	err      error // what Update returns
	late     bool  // the transaction reaches the disk nevertheless
	panics   bool  // in the middle of a transaction that never ends
	updates  atomic.Int64
	settles  atomic.Int64
	badOrder atomic.Bool // an Update came after a failure without Settle
	unclear  bool
}

// set makes the following updates fail with err, or succeed when it is nil.
func (f *flaky) set(err error, late bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.late = err, late
}

func (f *flaky) Update(fn func(*bbolt.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.updates.Add(1)
	if f.unclear {
		f.badOrder.Store(true)
	}
	if f.panics {
		if _, err := f.Begin(true); err != nil { // bbolt keeps its locks
			return err
		}
		panic("page 7 already freed")
	}
	if f.err == nil {
		return f.database.Update(fn)
	}
	f.unclear = true
	if f.late {
		if err := f.database.Update(fn); err != nil {
			return err
		}
	}
	return f.err
}

func (f *flaky) Settle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settles.Add(1)
	if err := f.database.Settle(); err != nil {
		return err
	}
	f.unclear = false
	return nil
}

// openFlaky opens a store over a disk that can be made to fail.
func openFlaky(tb testing.TB, dir string, o Options, tune tuning) (*Store, *flaky) {
	tb.Helper()
	f := &flaky{}
	s, err := open(dir, o, tune, func(d *database) disk {
		f.database = d
		return f
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, f
}

// journal is a logger whose lines can be counted.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// lines returns how many lines contain text.
func (j *journal) lines(text string) int {
	n := 0
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// smallTuning makes segments, queues and compactions small.
func smallTuning() tuning {
	tune := defaultTuning
	tune.segmentBytes = 32 << 10
	tune.maxSegments = 20
	tune.deadFloor = 200
	return tune
}

// quietWriter ends the writer goroutine and hands its writer to the test, which
// calls it step by step. wake starts the goroutine again; at the end of the test
// that is done in any case, for Close.
func quietWriter(t fataler, s *Store) (w *writer, wake func()) {
	t.Helper()
	w = s.writer
	close(w.stop)
	<-w.done
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	wake = sync.OnceFunc(func() { go w.run() })
	t.Cleanup(wake)
	return w, wake
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// copyStore copies the file as it is now, as a kill would leave it.
func copyStore(t fataler, s *Store, dir string) {
	t.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fileName), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tableContent loads a table into a map from id to value and expiry.
func tableContent(tb testing.TB, table *Table, now time.Time) map[string]string {
	tb.Helper()
	got := make(map[string]string)
	err := table.Load(now, func(id string, value []byte, expires time.Time) error {
		got[id] = string(value)
		if !expires.IsZero() {
			got[id] += fmt.Sprintf(" until %d", expires.UnixMilli())
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// session is a record of Affinity as Each shows it.
type session struct {
	Value       string
	At, Expires int64
}

// sessions returns all of them.
func sessions(a *Affinity) map[Key]session {
	got := make(map[Key]session)
	a.Each(func(k Key, value string, at, expires time.Time) bool {
		got[k] = session{value, instant(at), deadline(expires)}
		return true
	})
	return got
}
