package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"
)

// sampleStore makes a store with something in every corner: long segments in
// nested buckets, short ones, tables, a free list. It returns the file.
func sampleStore(tb testing.TB, dir string) string {
	tb.Helper()
	s := mustOpen(tb, dir, Options{})
	w, wake := quietWriter(tb, s)
	now := time.Now()
	for round := range uint64(4) {
		for i := range 100 + 600*(round%2) {
			s.Affinity().Put(sessionKey(1000*round+i), target(i), now, now.Add(time.Hour))
		}
		for i := range 100 {
			s.Circuits().Put(fmt.Sprintf("deployment-%d-%d", round, i), bytes.Repeat([]byte("x"), 100), time.Time{})
		}
		s.Cooldowns().Put("dep", strconv.AppendUint(nil, round, 10), time.Time{})
		if err := w.write(false); err != nil {
			tb.Fatal(err)
		}
	}
	wake()
	mustClose(tb, s)
	return filepath.Join(dir, fileName)
}

// rewrite changes the file at path.
func rewrite(path string, change func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(b), 0o600)
}

// edit changes the file at path through bbolt.
func edit(path string, change func(*bbolt.Tx) error) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	return errors.Join(db.Update(change), db.Close())
}

// setFormat writes a format number.
func setFormat(text string) func(path string) error {
	return func(path string) error {
		return edit(path, func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(formatKey, []byte(text)) })
	}
}

// cut leaves the first part of the file.
func cut(length func(whole int) int) func(path string) error {
	return func(path string) error {
		return rewrite(path, func(b []byte) []byte { return b[:length(len(b))] })
	}
}

// changeByte damages the newest segment.
func changeByte(path string) error {
	return edit(path, lastSegment(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }))
}

// writeText puts a text in the place of the store.
func writeText(path string) error {
	return os.WriteFile(path, bytes.Repeat([]byte("hello\n"), 10000), 0o600)
}

// makeDirectory puts a directory in the place of the store.
func makeDirectory(path string) error {
	return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
}

// flip inverts the byte at offset i.
func flip(i int) func([]byte) []byte {
	return func(b []byte) []byte { b[i] ^= 0xff; return b }
}

// lastSegment changes the newest segment.
func lastSegment(change func([]byte) []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		b := tx.Bucket(affinityBucket)
		k, v := b.Cursor().Last()
		if v == nil {
			nested := b.Bucket(k)
			return nested.Put(nestedKey, change(bytes.Clone(nested.Get(nestedKey))))
		}
		return b.Put(k, change(bytes.Clone(v)))
	}
}

func TestOpenMakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	s := mustOpen(t, dir, Options{})
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, fileName): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %v, want %v", path, got, want)
		}
	}
	mustClose(t, s)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, error %v; want the store alone", len(entries), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	pageSize := os.Getpagesize()
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		is    error
		want  []string
	}{
		{"both meta pages damaged", func(p string) error {
			return errors.Join(rewrite(p, flip(40)), rewrite(p, flip(pageSize+40)))
		}, ErrDamaged, []string{"neither meta page", "wrong checksum", "gatewright store check "}},
		{"cut to an eighth", cut(func(n int) int { return n / 8 }), ErrDamaged, []string{"cut short", "gatewright store check"}},
		{"cut inside the meta pages", cut(func(int) int { return 100 }), ErrDamaged, []string{"cut short"}},
		{"ten bytes", cut(func(int) int { return 10 }), ErrDamaged, []string{"neither meta page"}},
		{"text", writeText, ErrDamaged, []string{"no bbolt file"}},
		{"zeroes", func(p string) error {
			return rewrite(p, func(b []byte) []byte { return make([]byte, len(b)) })
		}, ErrDamaged, []string{"no bbolt file"}},
		{"another bbolt version", func(p string) error {
			return rewrite(p, func(b []byte) []byte {
				for _, at := range []int{0, pageSize} {
					binary.NativeEndian.PutUint32(b[at+pageHeaderSize+4:], 3)
				}
				return b
			})
		}, ErrDamaged, []string{"bbolt file version 3, want 2"}},
		{"a page of the tree is overwritten", func(p string) error {
			return rewrite(p, func(b []byte) []byte {
				l, _ := readLayout(bytes.NewReader(b), int64(len(b)))
				at := int(l.meta.root) * pageSize
				copy(b[at:at+pageSize], bytes.Repeat([]byte{0x5a}, pageSize))
				return b
			})
		}, ErrDamaged, []string{"says that it is page"}},
		{"a newer format", setFormat("12"), nil, []string{"format 12", "up to 1", "newer gatewright"}},
		{"no number as format", setFormat("one"), ErrDamaged, []string{`format number "one"`}},
		{"another program's file", func(p string) error {
			return errors.Join(os.Remove(p), edit(p, func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("theirs"))
				return err
			}))
		}, errForeign, []string{`"theirs"`, "data_dir"}},
		{"a segment with a changed byte", changeByte, ErrDamaged, []string{"affinity segment 3: wrong checksum", "gatewright store check"}},
		{"a segment of a later version", func(p string) error {
			return edit(p, lastSegment(func(b []byte) []byte { b[0] = 9; return b }))
		}, ErrDamaged, []string{"affinity segment 3: version 9, want 1"}},
		{"a key that is no segment's", func(p string) error {
			return edit(p, func(tx *bbolt.Tx) error { return tx.Bucket(affinityBucket).Put([]byte("odd"), []byte("x")) })
		}, ErrDamaged, []string{"no segment's"}},
		{"a directory in its place", makeDirectory, nil, []string{"is a directory, want a file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := sampleStore(t, dir)
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			s, err := Open(dir, Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("opened")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v, want %v", err, c.is)
			}
			for _, want := range append(c.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %q, want one with %q", err, want)
				}
			}
			if strings.Count(err.Error(), path) > 2 {
				t.Errorf("the path is told too often: %q", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenNewerFormatNumbers(t *testing.T) {
	dir := t.TempDir()
	if err := setFormat("2")(sampleStore(t, dir)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	got, ok := errors.AsType[*FormatError](err)
	if !ok || got.Found != 2 || got.Known != 1 {
		t.Errorf("got %v, want a FormatError of 2 and 1", err)
	}
}

func TestOpenDirectoryIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v, want an error that names it", dir, err)
		}
	}
}

func TestOpenEmptyFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, Options{})
	s.Circuits().Put("a", nil, time.Time{})
	mustClose(t, s)
	if err := Check(dir, t.Output()); err != nil {
		t.Error(err)
	}
}

// TestOpenAddsKinds: a file from before a kind existed gets its bucket.
func TestOpenAddsKinds(t *testing.T) {
	dir := t.TempDir()
	err := edit(sampleStore(t, dir), func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(statistics.name)) })
	if err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, Options{})
	s.Statistics().Put("a", nil, time.Time{})
	if err := s.Statistics().Sync(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenDamagedMetaPage(t *testing.T) {
	pageSize := os.Getpagesize()
	for meta := range 2 {
		t.Run(fmt.Sprintf("meta page %d", meta), func(t *testing.T) {
			var log journal
			dir := t.TempDir()
			path := sampleStore(t, dir)
			if err := rewrite(path, flip(meta*pageSize+40)); err != nil {
				t.Fatal(err)
			}
			if err := Check(dir, t.Output()); err != nil {
				t.Errorf("check: %v", err)
			}
			s := mustOpen(t, dir, Options{Logger: log.logger()})
			if log.lines("level=WARN") != 1 || log.lines(fmt.Sprintf("meta_page=%d", meta)) != 1 || log.lines("wrong checksum") != 1 {
				t.Errorf("want one warning that names the page and the reason, got:\n%s", &log)
			}
			// The newest meta page or the one before: all but the last commit is there.
			if got := s.Affinity().Len(); got != 1600 && got != 900 {
				t.Errorf("%d sessions, want 1600 or 900", got)
			}
			for range 2 {
				s.Circuits().Put("a", nil, time.Time{})
				if err := s.Circuits().Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, s)
			log = journal{}
			mustOpen(t, dir, Options{Logger: log.logger()})
			if log.lines("meta page") != 0 {
				t.Errorf("two commits later: %s", &log)
			}
		})
	}
}

func TestLoadDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	err := edit(sampleStore(t, dir), func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(cooldowns.name))
		v := bytes.Clone(b.Get(recordKey("dep")))
		v[len(v)-1] ^= 1
		return b.Put(recordKey("dep"), v)
	})
	if err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, Options{})
	err = s.Cooldowns().Load(time.Now(), func(string, []byte, time.Time) error { return nil })
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `cooldowns: record "dep": wrong checksum`) {
		t.Errorf("got %v", err)
	}
}

func TestOpenLocked(t *testing.T) {
	for _, c := range []struct {
		name          string
		timeout, want time.Duration
	}{
		{"default", 0, time.Second},
		{"short", 100 * time.Millisecond, 100 * time.Millisecond},
		{"never more than two seconds", time.Hour, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				s := mustOpen(t, dir, Options{})
				start := time.Now()
				_, err := Open(dir, Options{LockTimeout: c.timeout})
				if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), filepath.Join(dir, fileName)) {
					t.Errorf("got %v, want %v and the path", err, ErrLocked)
				}
				if took := time.Since(start); took < c.want || took > c.want+2*lockPoll {
					t.Errorf("waited %v, want %v", took, c.want)
				}
				if want := fmt.Sprintf("process %d", os.Getpid()); runtime.GOOS == "linux" && !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want one with %q", err, want)
				}
				if err := Check(dir, t.Output()); !errors.Is(err, ErrLocked) {
					t.Errorf("check: got %v, want %v", err, ErrLocked)
				}
				if _, _, err := Compact(dir); !errors.Is(err, ErrLocked) {
					t.Errorf("compact: got %v, want %v", err, ErrLocked)
				}
				mustClose(t, s)
				mustClose(t, mustOpen(t, dir, Options{}))
			})
		})
	}
}

// TestOpenWaits: a file that is closed within the timeout is opened.
func TestOpenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir, Options{})
		time.AfterFunc(500*time.Millisecond, func() { _ = s.Close() })
		mustClose(t, mustOpen(t, dir, Options{}))
	})
}

// TestOpenReplacedFile: who waited for the lock of a file that was replaced in
// the meantime must not work on the old one.
func TestOpenReplacedFile(t *testing.T) {
	dir := t.TempDir()
	path := sampleStore(t, dir)
	old, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	if _, _, err := Compact(path); err != nil {
		t.Fatal(err)
	}
	if err := new(database).admit(old, path, true, lockDeadline(0)); !errors.Is(err, errReplaced) {
		t.Errorf("got %v, want %v", err, errReplaced)
	}
}

func TestOpenErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"read-only file system", &fs.PathError{Op: "open", Path: "data/x", Err: syscall.EROFS}, "cannot be written by user id"},
		{"no permission", &fs.PathError{Op: "open", Path: "data/x", Err: syscall.EACCES}, "set data_dir to a directory that can be written"},
		{"lock of another system", bbolt.ErrTimeout, "lsof data/x"}, //nolint:staticcheck // the old name must be recognised, too
		{"anything else", syscall.ENOSPC, "open store data/x: no space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := explain("data/x", c.err)
			if !strings.Contains(got.Error(), c.want) {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestOpenWarnsOfMode(t *testing.T) {
	var log journal
	dir := t.TempDir()
	if err := os.Chmod(sampleStore(t, dir), 0o644); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, Options{Logger: log.logger()})
	if log.lines("want mode 0600") != 1 || log.lines("mode=0644") != 1 {
		t.Errorf("want one warning, got:\n%s", &log)
	}
}

// TestRandomDamage changes bytes at random, most of them where the structure is.
// Whatever happens, nothing may panic or hang, and what opens can be closed.
func TestRandomDamage(t *testing.T) {
	source := t.TempDir()
	path := sampleStore(t, source)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pageSize := os.Getpagesize()
	pages := len(whole) / pageSize
	if l, err := readLayout(bytes.NewReader(whole), int64(len(whole))); err == nil {
		pages = int(l.meta.highWater)
	}
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	opened := 0
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 1))
		b := bytes.Clone(whole)
		for range 1 + r.IntN(4) {
			at := r.IntN(pages) * pageSize
			if r.IntN(4) == 0 {
				at += r.IntN(pageSize)
			} else {
				at += r.IntN(200)
			}
			b[at] = byte(r.Uint32())
		}
		if round%2 == 0 {
			sealMetas(b, pageSize)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		checkErr := Check(dir, new(bytes.Buffer))
		s, err := Open(dir, Options{})
		if err != nil {
			if checkErr == nil {
				t.Errorf("round %d: not opened (%v) although the check found nothing", round, err)
			}
			continue
		}
		opened++
		for _, k := range kinds {
			_ = s.tables[k.name].Load(time.Now(), func(string, []byte, time.Time) error { return nil })
			s.tables[k.name].Put("dep", []byte("after"), time.Time{})
		}
		now := time.Now()
		s.Affinity().Put(Key{1}, "after", now, now.Add(time.Hour))
		_ = s.Close() // bbolt may refuse, it must not end the process
	}
	t.Logf("%d of %d damaged files were opened", opened, rounds)
}

// sealMetas corrects the checksums of both meta pages.
func sealMetas(b []byte, pageSize int) {
	for _, at := range []int{0, pageSize} {
		if at+pageHeaderSize+metaSize > len(b) {
			return
		}
		meta := b[at+pageHeaderSize : at+pageHeaderSize+metaSize]
		sum := fnv.New64a()
		_, _ = sum.Write(meta[:metaSize-8])
		binary.NativeEndian.PutUint64(meta[metaSize-8:], sum.Sum64())
	}
}

func FuzzPages(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	s.Circuits().Put("a", []byte("1"), time.Time{})
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		f.Fatal(err)
	}
	l, err := readLayout(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		f.Fatal(err)
	}
	pageSize := int(l.meta.pageSize)
	whole := b[:int(l.meta.highWater)*pageSize]
	// Each four bytes of a patch are an offset and the byte that it gets.
	f.Add([]byte{}, uint32(len(whole)))
	f.Add([]byte{0, 0, 10, 9}, uint32(len(whole)))
	f.Add([]byte{0, 0x30, 10, 200, 0, 0x30, 20, 255}, uint32(len(whole)))
	f.Add([]byte{}, uint32(100))
	f.Fuzz(func(t *testing.T, patch []byte, length uint32) {
		b := bytes.Clone(whole)
		for ; len(patch) >= 4; patch = patch[4:] {
			at := int(patch[0])<<16 | int(patch[1])<<8 | int(patch[2])
			b[at%len(b)] = patch[3]
		}
		b = b[:min(int(length), len(b))]
		sealMetas(b, pageSize)
		l, err := readLayout(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if n := len(walkPages(bytes.NewReader(b), l.meta)); n > maxProblems+1 {
			t.Errorf("%d problems, at most %d", n, maxProblems+1)
		}
	})
}
