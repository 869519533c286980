package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	settle      = 100 * time.Millisecond // quiet after which a change is taken as complete
	settleMost  = time.Second            // but no later than this after its first event
	rewatch     = time.Second            // between attempts to watch a folder
	maxSymlinks = 16                     // links that one path is followed through
	maxPasses   = 8                      // looks at the folders before the next attempt
)

// errUnsettled says that the folders changed each time they were looked at.
var errUnsettled = errors.New("the folders on the way to the file keep changing")

// errWatchEnded says that nobody watches any more.
var errWatchEnded = errors.New("watch configuration: it has ended")

// Watcher tells when the content of files has become another one. Run does the
// work; Set may be called from any goroutine.
//
// It watches folders, not the files: editors replace files, orchestrators switch
// symbolic links. A file that is gone is waited for, and the content that it
// comes back with is compared with the last one seen. What a file holds when it
// begins to be watched is taken as known to the caller.
type Watcher struct {
	notify  *fsnotify.Watcher
	add     func(folder string) error // begins to watch one more folder
	changed func()
	sets    chan watchSet
	ended   chan struct{} // closed when Run returns

	// What follows belongs to the goroutine of Run.

	seen map[string][sha256.Size]byte // what was last reported of each file, by its path
}

// watchSet is one call of Set.
type watchSet struct {
	paths []string
	done  chan<- error
}

// NewWatcher begins to watch files: Run tells whatever changes from now on.
// Whoever has the watcher calls Run, once, which also gives back what it holds.
// The error says why the folders cannot be watched.
//
// Each call of changed is for one or more files. It is made by the goroutine of
// Run, one at a time, and must not call Set.
func NewWatcher(changed func(), paths ...string) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch configuration: %w", err)
	}
	w := &Watcher{notify: notify, add: notify.Add, changed: changed, sets: make(chan watchSet), ended: make(chan struct{})}
	if err := w.set(paths); err != nil {
		_ = notify.Close() // nothing was read from it
		return nil, err
	}
	return w, nil
}

// Set makes paths the files that are watched; those that were watched before
// and are among them stay. Call it before you read the files: a change that
// comes later is told. It returns when it is done, or with an error when ctx or
// Run has ended, or when a folder cannot be watched, which is tried again.
func (w *Watcher) Set(ctx context.Context, paths ...string) error {
	done := make(chan error, 1)
	select {
	case w.sets <- watchSet{paths, done}:
		return <-done
	case <-w.ended:
		return errWatchEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// set is Set in the goroutine of Run.
func (w *Watcher) set(paths []string) error {
	next := make(map[string][sha256.Size]byte, len(paths))
	var fresh []string
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err != nil {
			return fmt.Errorf("watch configuration: %w", err)
		}
		digest, known := w.seen[p]
		if !known {
			fresh = append(fresh, p)
		}
		next[p] = digest
	}
	w.seen = next
	err := w.cover()
	for _, p := range fresh {
		w.seen[p] = digestOf(p)
	}
	if err != nil {
		return fmt.Errorf("watch configuration: %s: %w", strings.Join(paths, ", "), err)
	}
	return nil
}

// Run waits for events, lets them settle, and compares, until ctx is done; then
// it returns nil. The error says that the notification service ended.
func (w *Watcher) Run(ctx context.Context) error {
	defer close(w.ended)
	defer func() { _ = w.notify.Close() }() // nothing is read from it any more
	var settled <-chan time.Time            // nil = nothing to settle
	var events burst
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-w.sets:
			err := w.set(s.paths)
			if err != nil {
				settled = time.After(rewatch)
			}
			s.done <- err
		case _, ok := <-w.notify.Events:
			if !ok {
				return errors.New("watch configuration: the notification service ended")
			}
			settled = time.After(events.wait(time.Now()))
		case _, ok := <-w.notify.Errors:
			if !ok {
				return errors.New("watch configuration: the notification service ended")
			}
			settled = time.After(events.wait(time.Now())) // events may be lost: look
		case <-settled:
			settled, events = nil, burst{}
			if w.cover() != nil {
				settled = time.After(rewatch) // a folder went away meanwhile: look again
			}
			w.compare()
		}
	}
}

// burst is a run of events that belong to one change.
type burst struct {
	deadline time.Time // zero = no event yet
}

// wait returns how long to wait for the next event after one at now.
func (b *burst) wait(now time.Time) time.Duration {
	if b.deadline.IsZero() {
		b.deadline = now.Add(settleMost)
	}
	return max(0, min(settle, b.deadline.Sub(now)))
}

// compare reports the files if the content of one is another than before. A file
// that cannot be read is not reported.
func (w *Watcher) compare() {
	changed := false
	for path, before := range w.seen {
		now := digestOf(path)
		if now != before && now != [sha256.Size]byte{} {
			w.seen[path] = now
			changed = true
		}
	}
	if changed {
		w.changed()
	}
}

// maxWatched is how much of a file is compared.
const maxWatched = 64 << 20

// digestOf returns the hash of a file's content, zero when there is none: an
// empty file is one that is about to be written.
func digestOf(path string) (digest [sha256.Size]byte) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return digest
	}
	defer func() { _ = file.Close() }() // it was only read
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(file, maxWatched)); err == nil && n > 0 {
		h.Sum(digest[:0])
	}
	return digest
}

// cover watches every folder that decides what the paths lead to, and no other.
// Folders can change between the look at them and the watch on them, and nothing
// tells of that: it is done when a look finds nothing to add.
func (w *Watcher) cover() error {
	for pass := 1; ; pass++ {
		added, err := w.coverOnce()
		switch {
		case !added:
			return nil
		case pass < maxPasses:
		case err != nil:
			return err
		default:
			return errUnsettled
		}
	}
}

// coverOnce watches the folders as they are now, and reports whether it had to
// add one.
func (w *Watcher) coverOnce() (added bool, err error) {
	var folders []string
	for path := range w.seen {
		folders = append(folders, foldersOf(path)...)
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	have := w.notify.WatchList()
	for _, h := range have {
		if !slices.Contains(folders, h) {
			_ = w.notify.Remove(h) // it may have gone by itself
		}
	}
	var failures []error
	for _, f := range folders {
		if !slices.Contains(have, f) {
			added = true
			failures = append(failures, w.add(f))
		}
	}
	return added, errors.Join(failures...)
}

// foldersOf lists the folders in which a change can make an absolute path lead
// to another file: those that hold a symbolic link on its way, and the one that
// it ends in, or the deepest on its way that exists. All are without links.
func foldersOf(path string) []string {
	var folders []string
	add := func(folder string) {
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, strings.TrimPrefix(path, root)
	for links := 0; rest != ""; {
		part, tail, _ := strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if err != nil || (tail == "" && info.Mode()&os.ModeSymlink == 0) {
			break // at is where it ends, or as far as it goes
		}
		at, rest = next, tail
		if info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxSymlinks {
			break
		}
		at = filepath.Dir(next)
		add(at)
		if filepath.IsAbs(target) {
			at, target = root, strings.TrimPrefix(target, root)
		}
		rest = filepath.Join(target, tail)
		for strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			at, rest = filepath.Dir(at), rest[3:]
		}
	}
	add(at)
	return folders
}
