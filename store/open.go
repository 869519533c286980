package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	fileName = "gatewright.db"
	// maxLockWait bounds every open, whatever the options say.
	maxLockWait = 2 * time.Second
	lockPoll    = 25 * time.Millisecond

	mapSize  = 256 << 20 // address space, see doc.go
	growStep = 1 << 20

	// format is the newest format of the file that this program reads. It
	// changes only when an older program could not read the result.
	format = 1
)

var (
	metaBucket = []byte("meta")
	formatKey  = []byte("format")

	errReplaced = errors.New("the file was replaced while it was being opened")
)

// database is an open, locked and verified file.
type database struct {
	*bbolt.DB
	file   *os.File // the one that bbolt writes to
	layout layout
}

// fileOptions say how openFile opens.
type fileOptions struct {
	readOnly bool
	wait     time.Duration // for the lock
}

// openFile opens the bbolt file at path, which must exist. Under the lock, and
// before bbolt maps the file, it verifies the meta pages and the tree.
func openFile(path string, o fileOptions) (*database, error) {
	if err := statFile(path); err != nil {
		return nil, err
	}
	deadline := lockDeadline(o.wait)
	for {
		db, err := tryOpen(path, o.readOnly, deadline)
		if errors.Is(err, errReplaced) && time.Now().Before(deadline) {
			continue // a compaction put a new file in its place: take that one
		}
		if err != nil {
			return nil, explain(path, err)
		}
		return db, nil
	}
}

// statFile refuses what is no file, before an open that might wait for ever.
func statFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return explain(path, err)
	case info.IsDir():
		return fmt.Errorf("store %s is a directory, want a file: move it away, or set data_dir to another directory", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("store %s is no regular file (%s): move it away, or set data_dir to another directory", path, info.Mode().Type())
	}
	return nil
}

// tryOpen opens the file once. A panic or a fault in bbolt means a file that
// bbolt cannot read.
func tryOpen(path string, readOnly bool, deadline time.Time) (_ *database, err error) {
	d := &database{}
	defer func() {
		if err != nil && d.file != nil {
			_ = d.abandon() // bbolt closed it already, unless it panicked
		}
	}()
	err = guard(func() error {
		var err error
		d.DB, err = bbolt.Open(path, 0o600, d.options(readOnly, deadline))
		return err
	})
	if _, ok := errors.AsType[*panicError](err); ok {
		err = damaged(path, err)
	}
	if err != nil {
		return nil, err
	}
	d.AllocSize = growStep
	return d, nil
}

// abandon releases the file of a database that may hold its own locks for ever,
// so that it cannot be closed. Its map stays until the process ends.
func (d *database) abandon() error {
	return errors.Join(unlock(d.file), d.file.Close())
}

// options are bbolt's; doc.go says why these. The file that bbolt opens is
// locked and verified on the way.
func (d *database) options(readOnly bool, deadline time.Time) *bbolt.Options {
	o := &bbolt.Options{
		Timeout:      max(time.Until(deadline), 2*lockPoll),
		ReadOnly:     readOnly,
		FreelistType: bbolt.FreelistMapType,
		OpenFile: func(name string, flag int, _ os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag&^os.O_CREATE, 0) //nolint:gosec // the operator's own data directory
			if err != nil {
				return nil, err
			}
			if err := d.admit(f, name, !readOnly, deadline); err != nil {
				_ = f.Close()
				return nil, err
			}
			d.file = f
			return f, nil
		},
	}
	if runtime.GOOS != "windows" && !readOnly {
		o.InitialMmapSize = mapSize
	}
	return o
}

// lockDeadline is when to give up on a lock; 0 means the default wait.
func lockDeadline(wait time.Duration) time.Time {
	if wait <= 0 {
		wait = defaultLockTimeout
	}
	return time.Now().Add(min(wait, maxLockWait))
}

// lock waits for the lock on f.
func lock(f *os.File, path string, exclusive bool, deadline time.Time) error {
	for {
		ok, err := tryLock(f, exclusive)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if ok {
			return nil
		}
		if !time.Now().Before(deadline) {
			return lockedBy(path, holder(f))
		}
		<-time.After(lockPoll)
	}
}

// admit waits for the lock and verifies what is in the file. An empty file is
// fine: bbolt makes a store of it.
func (d *database) admit(f *os.File, path string, exclusive bool, deadline time.Time) error {
	if err := lock(f, path, exclusive, deadline); err != nil {
		return err
	}
	own, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(own, there) {
		return errReplaced
	}
	if own.Size() == 0 {
		d.layout = layout{damaged: -1}
		return nil
	}
	d.layout, err = readLayout(f, own.Size())
	if err != nil {
		return damaged(path, err)
	}
	if problems := walkPages(f, d.layout.meta); len(problems) > 0 {
		return damaged(path, problems[0])
	}
	return nil
}

// lockedBy says who to look for.
func lockedBy(path, who string) error {
	if who == "" {
		who = "look for another gatewright with the same data_dir, or `lsof " + path + "`"
	} else {
		who = "it is held by " + who
	}
	return fmt.Errorf("store %s: %w: %s; stop it, or give each gatewright its own data_dir", path, ErrLocked, who)
}

// explain turns an error of the system into one that says what to do. Errors
// that already do pass unchanged.
func explain(path string, err error) error {
	_, newer := errors.AsType[*FormatError](err)
	switch {
	case newer, errors.Is(err, ErrLocked), errors.Is(err, ErrDamaged), errors.Is(err, errForeign):
		return err
	case errors.Is(err, bbolterrors.ErrTimeout):
		return lockedBy(path, "")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("store %s cannot be written by user id %d: give that user the directory and the file, "+
			"or set data_dir to a directory that can be written: %w", path, os.Getuid(), err)
	default:
		return fmt.Errorf("open store %s: %w", path, err)
	}
}

var errForeign = errors.New("the file belongs to another program")

// readFormat returns the format number in the file; 0 for a file that holds
// nothing yet.
func readFormat(d *database, path string) (int, error) {
	found := 0
	err := d.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			if name, _ := tx.Cursor().First(); name != nil {
				return fmt.Errorf("store %s: %w: a bbolt file with a bucket %q and no %q; set data_dir to another directory",
					path, errForeign, name, metaBucket)
			}
			return nil
		}
		n, err := strconv.Atoi(string(meta.Get(formatKey)))
		if err != nil || n < 1 {
			return damaged(path, fmt.Errorf("format number %q", meta.Get(formatKey)))
		}
		if n > format {
			return &FormatError{Path: path, Found: n, Known: format}
		}
		found = n
		return nil
	})
	return found, err
}

// prepare makes the buckets that are missing and notes the format.
func prepare(d *database, path string) error {
	return guard(func() error {
		found, err := readFormat(d, path)
		if err != nil {
			return err
		}
		missing := found == 0
		err = d.View(func(tx *bbolt.Tx) error {
			for _, name := range buckets() {
				missing = missing || tx.Bucket(name) == nil
			}
			return nil
		})
		if err != nil || !missing {
			return err
		}
		return d.Update(func(tx *bbolt.Tx) error {
			for _, name := range buckets() {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return fmt.Errorf("make bucket %q: %w", name, err)
				}
			}
			return tx.Bucket(metaBucket).Put(formatKey, strconv.AppendInt(nil, format, 10))
		})
	})
}

// buckets names every bucket of a complete file.
func buckets() [][]byte {
	names := [][]byte{metaBucket, affinityBucket, objectsBucket}
	for _, k := range kinds {
		names = append(names, []byte(k.name))
	}
	return names
}

// ensureFile makes the data directory and, when there is none, a complete file
// in it: under a temporary name first, so that a kill leaves either no file or
// a whole one.
func ensureFile(dir string, logger *slog.Logger) (string, error) {
	path := filepath.Join(dir, fileName)
	if err := ensureDir(dir); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil {
		if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&0o077 != 0 && info.Mode().IsRegular() {
			logger.Warn("store file can be read or written by other users, want mode 0600",
				slog.String("path", path), slog.String("mode", fmt.Sprintf("%#o", perm)))
		}
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", explain(path, err)
	}
	err = publish(dir, fileName, os.Link, func(tmp *os.File) error {
		db, err := openFile(tmp.Name(), fileOptions{})
		if err != nil {
			return err
		}
		return errors.Join(prepare(db, tmp.Name()), db.Close())
	})
	if err != nil {
		return "", explain(path, err)
	}
	logger.Info("store created", slog.String("path", path))
	return path, nil
}

// panicError is a panic or a memory fault inside bbolt, turned into an error.
type panicError struct{ value any }

// Error shows what bbolt said.
func (e *panicError) Error() string { return fmt.Sprintf("unreadable structure: %v", e.value) }

// guard runs fn, which uses bbolt, and turns a panic into a *panicError. A fault
// in the mapped file is one too: the disk may fail to deliver a page.
func guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v}
		}
	}()
	return fn()
}
