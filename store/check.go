package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Check reads the store at path, a file or a data directory, without changing it
// and writes what it finds to w, a line for each part. It verifies every page,
// the checksum of every record and, when those are sound, bbolt's own rules. The
// error is nil when a gateway can start from the file, ErrLocked while one has
// it open, ErrDamaged after at least one problem.
func Check(path string, w io.Writer) error {
	path = inDir(path)
	c := &checker{path: path, out: w}
	layout, err := c.pages()
	if err != nil {
		return err
	}
	if layout.meta.pageSize != 0 && len(c.problems) == 0 {
		db, err := openFile(path, fileOptions{readOnly: true})
		if err != nil {
			return err
		}
		if err := errors.Join(c.content(db), db.Close()); err != nil {
			return err
		}
	}
	return c.verdict()
}

// inDir returns the file in path when path is a directory.
func inDir(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, fileName)
	}
	return path
}

// checker gathers what Check finds.
type checker struct {
	path     string
	out      io.Writer
	outErr   error
	problems []error
}

// line writes one line of the report.
func (c *checker) line(text string, args ...any) {
	if c.outErr == nil {
		_, c.outErr = fmt.Fprintf(c.out, text+"\n", args...)
	}
}

// problem notes and reports what is wrong.
func (c *checker) problem(err error) {
	c.problems = append(c.problems, err)
	c.line("  problem: %v", err)
}

// pages reads the whole file once and verifies its layout.
func (c *checker) pages() (layout, error) {
	var l layout
	if err := statFile(c.path); err != nil {
		return l, err
	}
	f, err := os.Open(c.path)
	if err != nil {
		return l, explain(c.path, err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := lock(f, c.path, false, lockDeadline(0)); err != nil {
		return l, explain(c.path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return l, explain(c.path, err)
	}
	c.line("store %s: %d bytes", c.path, info.Size())
	if info.Size() == 0 {
		c.line("  empty: the next start makes a store of it")
		return l, nil
	}
	if _, err := io.Copy(io.Discard, f); err != nil {
		c.problem(fmt.Errorf("read: %w", err))
		return l, nil
	}
	l, err = readLayout(f, info.Size())
	if err != nil {
		c.problem(err)
		return l, nil
	}
	if l.damaged >= 0 {
		c.line("  warning: meta page %d is damaged (%v); a start uses the other one and repairs it", l.damaged, l.reason)
	}
	c.line("  pages: %d of %d bytes", l.meta.highWater, l.meta.pageSize)
	for _, p := range walkPages(f, l.meta) {
		c.problem(p)
	}
	return l, nil
}

// content verifies bbolt's rules and decodes every record. The pages are known
// to be sound.
func (c *checker) content(db *database) error {
	err := guard(func() error {
		found, err := readFormat(db, c.path)
		if err != nil {
			return err
		}
		c.line("  format: %d", found)
		return db.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				c.problem(err)
			}
			return tx.ForEach(c.bucket)
		})
	})
	if errors.Is(err, ErrDamaged) {
		c.problem(err)
		err = nil
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		c.problem(err)
		err = nil
	}
	return err
}

// bucket decodes the records of one bucket.
func (c *checker) bucket(name []byte, b *bbolt.Bucket) error {
	switch {
	case string(name) == string(metaBucket):
	case string(name) == string(affinityBucket):
		c.segments(b)
	case string(name) == string(objectsBucket):
		return c.objects(b)
	case isKind(string(name)):
		c.records(string(name), b)
	default:
		c.line("  %s: unknown to this version, not decoded", name)
	}
	return nil
}

// isKind says whether there is a table of that name.
func isKind(name string) bool {
	for _, k := range kinds {
		if k.name == name {
			return true
		}
	}
	return false
}

// segments decodes the affinity log.
func (c *checker) segments(b *bbolt.Bucket) {
	segments, records := 0, 0
	err := eachSegment(b, func(number uint64, encoded []byte) error {
		n, err := decodeSegment(number, encoded, func(*affinityRecord) {})
		if err != nil {
			c.problem(fmt.Errorf("affinity segment %d: %w", number, err))
			return nil
		}
		segments, records = segments+1, records+n
		return nil
	})
	if err != nil {
		c.problem(err)
	}
	c.line("  affinity: %d segments, %d records", segments, records)
}

// objects decodes the objects, kind by kind.
func (c *checker) objects(b *bbolt.Bucket) error {
	return b.ForEachBucket(func(kind []byte) error {
		c.records("objects "+string(kind), b.Bucket(kind))
		return nil
	})
}

// records decodes a table.
func (c *checker) records(name string, b *bbolt.Bucket) {
	records := 0
	err := b.ForEach(func(k, v []byte) error {
		if _, _, _, err := decodeRecord(k, v); err != nil {
			c.problem(fmt.Errorf("%s: %w", name, err))
			return nil
		}
		records++
		return nil
	})
	if err != nil {
		c.problem(fmt.Errorf("%s: %w", name, err))
	}
	c.line("  %s: %d records", name, records)
}

// verdict is the last line and the error.
func (c *checker) verdict() error {
	if len(c.problems) == 0 {
		c.line("  ok")
		return c.outErr
	}
	c.line("  %d problems: restore a backup, or move the file away to start empty", len(c.problems))
	return errors.Join(fmt.Errorf("store %s: %w: %d problems, the first: %w", c.path, ErrDamaged, len(c.problems), c.problems[0]), c.outErr)
}
