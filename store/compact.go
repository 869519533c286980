package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// compactStep is how many bytes one transaction of a compaction copies.
const compactStep = 16 << 20

// Compact writes the store at path, a file or a data directory, anew without the
// pages that are free, and puts the result in its place in one step. It returns
// the size in bytes before and after. It holds the lock throughout: ErrLocked
// while a gateway has the file open. After an error the file is as it was.
func Compact(path string) (before, after int64, err error) {
	path, err = filepath.EvalSymlinks(inDir(path))
	if err != nil {
		return 0, 0, fmt.Errorf("compact store: %w", err)
	}
	db, err := openFile(path, fileOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c := &checker{path: path, out: io.Discard}
	if err := c.content(db); err != nil {
		return 0, 0, err
	}
	if err := c.verdict(); err != nil {
		return 0, 0, err
	}
	info, err := db.file.Stat()
	if err != nil {
		return 0, 0, fmt.Errorf("compact store %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"compact-*")
	if err != nil {
		return 0, 0, explain(path, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after the rename
	after, err = copyTo(db, tmp, info)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return 0, 0, fmt.Errorf("compact store %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return 0, 0, fmt.Errorf("compact store %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return 0, 0, fmt.Errorf("compact store %s: %w", path, err)
	}
	return info.Size(), after, nil
}

// copyTo fills tmp with the content of db, verifies it, makes it durable and
// returns its size.
func copyTo(db *database, tmp *os.File, info os.FileInfo) (int64, error) {
	dst, err := bbolt.Open(tmp.Name(), 0o600, &bbolt.Options{
		Timeout: time.Second, NoSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if err != nil {
		return 0, err
	}
	dst.AllocSize = growStep
	err = guard(func() error { return bbolt.Compact(dst, db.DB, compactStep) })
	if err == nil {
		c := &checker{path: tmp.Name(), out: io.Discard}
		err = c.content(&database{DB: dst})
		if err == nil {
			err = c.verdict()
		}
	}
	if err := errors.Join(err, dst.Close()); err != nil {
		return 0, err
	}
	if err := errors.Join(tmp.Chmod(info.Mode().Perm()), keepOwner(tmp, info), tmp.Sync()); err != nil {
		return 0, err
	}
	small, err := tmp.Stat()
	if err != nil {
		return 0, err
	}
	return small.Size(), nil
}
