package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; it fails then.
const patience = time.Minute

// watched is a file that is watched, and what the watch saw of it.
type watched struct {
	t    *testing.T
	seen chan string // content at each call
}

// startWatch watches files. Whatever the test changes after it is seen.
func startWatch(t *testing.T, path string) *watched {
	t.Helper()
	w := &watched{t, make(chan string, 100)}
	runWatcher(t, func() {
		data, err := os.ReadFile(path)
		if err != nil {
			data = []byte("cannot be read: " + err.Error())
		}
		w.seen <- string(data)
	}, path)
	return w
}

// runWatcher runs a watcher to the end of the test.
func runWatcher(t *testing.T, changed func(), paths ...string) *Watcher {
	t.Helper()
	w, err := NewWatcher(changed, paths...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := w.Set(context.Background(), paths...); !errors.Is(err, errWatchEnded) {
			t.Errorf("Set after the end: %v", err)
		}
	})
	return w
}

// wants waits for the next call. The test changes nothing meanwhile, so each
// content is seen once.
func (w *watched) wants(content string) {
	w.t.Helper()
	select {
	case got := <-w.seen:
		if got != content {
			w.t.Fatalf("saw %q, want %q", got, content)
		}
	case <-time.After(patience):
		w.t.Fatalf("%q is not seen", content)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, content string) {
	t.Helper()
	write(t, path+".tmp", content)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path+".tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatewright.yaml")
	write(t, path, "first")
	w := startWatch(t, path)

	write(t, path, "written in place")
	w.wants("written in place")

	replace(t, path, "renamed over")
	w.wants("renamed over")

	// A file that goes away is waited for; what counts is what it comes back with.
	remove(t, path)
	write(t, path, "created again")
	w.wants("created again")
	remove(t, path)
	write(t, path, "and once more")
	w.wants("and once more")
}

// A folder that an orchestrator mounts: the file is a link through ..data, and
// an update switches ..data.
func TestWatchSwitchedFolder(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"..v1", "..v2", "..v3"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, version, "gatewright.yaml"), version)
	}
	data, path := filepath.Join(dir, "..data"), filepath.Join(dir, "gatewright.yaml")
	link(t, "..v1", data)
	link(t, filepath.Join("..data", "gatewright.yaml"), path)
	w := startWatch(t, path)

	link(t, "..v2", data)
	w.wants("..v2")
	if err := os.RemoveAll(filepath.Join(dir, "..v1")); err != nil {
		t.Fatal(err)
	}
	link(t, "..v3", data)
	w.wants("..v3")
	write(t, filepath.Join(dir, "..v3", "gatewright.yaml"), "in place")
	w.wants("in place")
}

// A link to a file elsewhere: changes there count, and so does a folder that is
// removed and made again.
func TestWatchLinkedFile(t *testing.T) {
	here, there := t.TempDir(), filepath.Join(t.TempDir(), "deep", "er")
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	target, path := filepath.Join(there, "real.yaml"), filepath.Join(here, "gatewright.yaml")
	write(t, target, "first")
	link(t, target, path)
	w := startWatch(t, path)

	replace(t, target, "replaced there")
	w.wants("replaced there")
	if err := os.RemoveAll(filepath.Dir(there)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, target, "made again")
	w.wants("made again")
}

// Which files are watched can change; what is in a new one counts as known.
func TestWatchSet(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	first, second, third := filepath.Join(dir, "first"), filepath.Join(other, "second"), filepath.Join(other, "third")
	for _, path := range []string{first, second, third} {
		write(t, path, "old")
	}
	calls, changes := make(chan struct{}, 100), 0
	w := runWatcher(t, func() { calls <- struct{}{} }, first, second)
	told := func(path string) {
		t.Helper()
		changes++
		replace(t, path, strconv.Itoa(changes))
		select {
		case <-calls:
		case <-time.After(patience):
			t.Fatalf("a change of %s is not told", path)
		}
	}
	told(first)
	told(second)

	// The second one changes while it is not watched, which nobody is told of.
	if err := w.Set(t.Context(), first, third); err != nil {
		t.Fatal(err)
	}
	replace(t, second, "unseen")
	told(third)
	told(first)
	if err := w.Set(t.Context(), first, second, third); err != nil {
		t.Fatal(err)
	}
	told(second)
	if n := len(calls); n > 0 {
		t.Errorf("%d calls too many", n)
	}

	// A file that is not there is waited for, and so is its folder.
	absent := filepath.Join(dir, "later", "absent")
	if err := w.Set(t.Context(), absent); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(absent), 0o700); err != nil {
		t.Fatal(err)
	}
	told(absent)
}

// Set from many goroutines while files change.
func TestWatchSetHammer(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 4 {
		paths = append(paths, filepath.Join(dir, strconv.Itoa(i)))
		write(t, paths[i], "old")
	}
	w := runWatcher(t, func() {}, paths...)
	var all sync.WaitGroup
	for i := range paths {
		all.Go(func() {
			for n := range 50 {
				if err := w.Set(t.Context(), paths[i:]...); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(paths[i], []byte(strconv.Itoa(n)), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Set(ended, paths...); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Set with a context that has ended: %v", err)
	}
}

// Which content is a change, without waiting for events.
func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatewright.yaml")
	write(t, path, "first")
	calls := 0
	w, err := NewWatcher(func() { calls++ }, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.notify.Close() }()
	for _, step := range []struct {
		name string
		act  func()
		want int
	}{
		{"nothing", func() {}, 0},
		{"another file", func() { write(t, path+".bak", "x") }, 0},
		{"the same content", func() { replace(t, path, "first") }, 0},
		{"another content", func() { write(t, path, "second") }, 1},
		{"no content yet", func() { write(t, path, "") }, 0},
		{"back as it was", func() { write(t, path, "second") }, 0},
		{"gone", func() { remove(t, path) }, 0},
		{"back as another", func() { write(t, path, "first") }, 1},
	} {
		calls = 0
		step.act()
		w.compare()
		if calls != step.want {
			t.Errorf("%s: %d calls, want %d", step.name, calls, step.want)
		}
	}
}

// A folder that appears while the one above it begins to be watched is watched
// too: no event tells of it.
func TestCoverLooksAgain(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(root, "a"), filepath.Join(root, "a", "b")
	w, err := NewWatcher(func() {}, filepath.Join(b, "gatewright.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.notify.Close() }()
	if err := os.Mkdir(a, 0o700); err != nil {
		t.Fatal(err)
	}
	w.add = func(folder string) error {
		if folder == a {
			if err := os.Mkdir(b, 0o700); err != nil {
				return err
			}
		}
		return w.notify.Add(folder)
	}
	if err := w.cover(); err != nil {
		t.Fatal(err)
	}
	if got := w.notify.WatchList(); !slices.Equal(got, []string{b}) {
		t.Errorf("watched = %v, want %s", got, b)
	}

	// Folders that never rest, and one that cannot be watched, are said.
	refused := errors.New("refused")
	for name, tt := range map[string]struct{ fails, want error }{
		"unsettled": {nil, errUnsettled},
		"refused":   {refused, refused},
	} {
		w.add = func(string) error { return tt.fails } // and watches nothing
		if err := w.notify.Remove(b); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
			t.Fatal(err)
		}
		if err := w.cover(); !errors.Is(err, tt.want) {
			t.Errorf("%s: cover = %v", name, err)
		}
	}
}

func TestBurst(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b burst
	for _, tt := range []struct{ after, want time.Duration }{
		{0, settle},
		{settle / 2, settle},
		{settleMost - settle, settle},
		{settleMost - settle/4, settle / 4},
		{settleMost, 0},
		{2 * settleMost, 0},
	} {
		if got := b.wait(start.Add(tt.after)); got != tt.want {
			t.Errorf("wait after %v = %v, want %v", tt.after, got, tt.want)
		}
	}
}

func TestFoldersOf(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	if err := os.MkdirAll(in("a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(in("c"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, in("a", "b", "f"), "")
	link(t, in("a"), in("abs"))
	link(t, filepath.Join("..", "a", "b", "f"), in("c", "rel"))
	link(t, "self", in("self"))
	link(t, filepath.Join("abs", "b"), in("twice"))
	tests := []struct {
		name, path string
		want       []string
	}{
		{"plain", in("a", "b", "f"), []string{in("a", "b")}},
		{"a folder that is a link", in("abs", "b", "f"), []string{root, in("a", "b")}},
		{"a relative link", in("c", "rel"), []string{in("c"), in("a", "b")}},
		{"a link to a link", in("twice", "f"), []string{root, in("a", "b")}},
		{"a file that is not there", in("a", "b", "g"), []string{in("a", "b")}},
		{"a folder that is not there", in("a", "x", "y", "g"), []string{in("a")}},
		{"a link to itself", in("self"), []string{root, in("self")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := foldersOf(tt.path); !slices.Equal(got, tt.want) {
				t.Errorf("foldersOf = %v, want %v", got, tt.want)
			}
		})
	}
}
