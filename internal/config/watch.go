package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

// Watch calls changed each time the content of the file at path has become
// another one, until ctx is done; then it returns nil. It blocks: the goroutine
// that calls it owns it, and changed runs in that goroutine, one call at a time.
//
// It watches folders, not the file: editors replace files, orchestrators switch
// symbolic links. A file that is gone is waited for, and the content that it
// comes back with is compared with the last one seen. What the file holds when
// Watch begins is taken as known to the caller.
//
// The error says why the folder cannot be watched, at the start or when the
// notification service ends.
func Watch(ctx context.Context, path string, changed func()) error {
	w, err := newWatch(path, changed)
	if err != nil {
		return fmt.Errorf("watch configuration: %w", err)
	}
	return w.run(ctx)
}

// watch follows one file. It belongs to the goroutine that runs it.
type watch struct {
	path    string
	notify  *fsnotify.Watcher
	add     func(folder string) error // begins to watch one more folder
	changed func()
	seen    [sha256.Size]byte // of the content that was last reported
}

// newWatch begins the watch: run sees whatever changes from now on. Whoever has
// the watch runs it, which ends it too.
func newWatch(path string, changed func()) (*watch, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watch{path: path, notify: notify, add: notify.Add, changed: changed}
	if err := w.cover(); err != nil {
		_ = notify.Close() // nothing was read from it
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	w.seen = w.digest()
	return w, nil
}

// run waits for events, lets them settle, and compares.
func (w *watch) run(ctx context.Context) error {
	defer func() { _ = w.notify.Close() }() // nothing is read from it any more
	var settled <-chan time.Time            // nil = nothing to settle
	var events burst
	for {
		select {
		case <-ctx.Done():
			return nil
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

// compare reports the file if its content is another one than before. A file
// that cannot be read is not reported.
func (w *watch) compare() {
	now := w.digest()
	if now == w.seen || now == [sha256.Size]byte{} {
		return
	}
	w.seen = now
	w.changed()
}

// digest returns the hash of the content, zero when there is none: an empty file
// is one that is about to be written.
func (w *watch) digest() [sha256.Size]byte {
	data, err := readBounded(w.path)
	if err != nil || len(data) == 0 {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(data)
}

// cover watches every folder that decides what the path leads to, and no other.
// Folders can change between the look at them and the watch on them, and nothing
// tells of that: it is done when a look finds nothing to add.
func (w *watch) cover() error {
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
func (w *watch) coverOnce() (added bool, err error) {
	folders := foldersOf(w.path)
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
