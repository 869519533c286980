package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	tempPrefix = ".gatewright-"
	// tempAge is how old a temporary file must be before it counts as left
	// behind by a killed process.
	tempAge = time.Hour
)

// ensureDir makes dir with mode 0700 when it is missing.
func ensureDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return fmt.Errorf("data directory %s is a file: move it away, or set data_dir to a directory", dir)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return explain(dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return explain(dir, err)
	}
	return syncDir(filepath.Dir(dir))
}

// publish fills a temporary file in dir, makes it durable and gives it its name
// in one step. It never replaces a file: when another process was faster, that
// one's file stays. link is os.Link; where the file system has no links the file
// is renamed, which leaves a moment in which two processes could both succeed.
func publish(dir, name string, link func(old, name string) error, fill func(*os.File) error) error {
	tmp, err := os.CreateTemp(dir, tempPrefix+name+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after a rename
	err = fill(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	final := filepath.Join(dir, name)
	if err := link(tmp.Name(), final); err != nil && !errors.Is(err, fs.ErrExist) {
		switch _, there := os.Lstat(final); {
		case there == nil: // another process was faster
		case errors.Is(there, fs.ErrNotExist):
			if err := os.Rename(tmp.Name(), final); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return syncDir(dir)
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there
	}
	d, err := os.Open(dir) //nolint:gosec // the operator's own data directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeStale deletes temporary files that killed processes left in dir.
func removeStale(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the open that follows says what is wrong
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if now.Sub(info.ModTime()) > tempAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // it is only litter
		}
	}
}
