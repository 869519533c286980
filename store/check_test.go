package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		is    error
		want  []string
	}{
		{"sound", func(string) error { return nil }, nil, []string{
			"format: 1", "affinity: 4 segments, 1600 records", "circuits: 400 records", "cooldowns: 1 records", "statistics: 0 records",
			"quotas: 0 records", "owners: 0 records", "  ok",
		}},
		{"empty", cut(func(int) int { return 0 }), nil, []string{"0 bytes", "empty", "ok"}},
		{"one meta page damaged", func(p string) error { return rewrite(p, flip(40)) }, nil, []string{"warning: meta page 0", "wrong checksum", "ok"}},
		{"unknown bucket", func(p string) error {
			return edit(p, func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("later"))
				return err
			})
		}, nil, []string{"later: unknown to this version", "ok"}},
		{"segment and record damaged", func(p string) error {
			return errors.Join(changeByte(p), edit(p, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte(circuits.name)).Put(recordKey("a"), []byte{9})
			}))
		}, ErrDamaged, []string{
			"problem: affinity segment 3: wrong checksum", "affinity: 3 segments", `problem: circuits: record "a": 1 bytes`, "circuits: 400 records", "2 problems",
		}},
		{"text", writeText, ErrDamaged, []string{"neither meta page", "1 problems"}},
		{"several pages damaged", func(p string) error {
			return rewrite(p, func(b []byte) []byte {
				for page := 4; page < len(b)/os.Getpagesize(); page += 3 {
					b[page*os.Getpagesize()] ^= 0xff
				}
				return b
			})
		}, ErrDamaged, []string{"problem: page ", "says that it is page"}},
		{"newer format", setFormat("2"), errAny, nil},
		{"missing", os.Remove, os.ErrNotExist, nil},
		{"directory", makeDirectory, errAny, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := sampleStore(t, dir)
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			var out bytes.Buffer
			err := Check(dir, &out)
			if !matches(err, c.is) {
				t.Errorf("got error %v, want %v", err, c.is)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in the report:\n%s", want, &out)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			// A start and the check agree.
			s, openErr := Open(dir, Options{})
			if openErr == nil {
				_ = s.Close()
			}
			if (openErr == nil) != (err == nil || errors.Is(err, os.ErrNotExist)) {
				t.Errorf("check says %v, open says %v", err, openErr)
			}
		})
	}
}

var errAny = errors.New("any error")

// matches says whether err is want; errAny wants any.
func matches(err, want error) bool {
	if errors.Is(want, errAny) {
		return err != nil
	}
	return errors.Is(err, want)
}

func TestCheckReportFails(t *testing.T) {
	dir := t.TempDir()
	sampleStore(t, dir)
	if err := Check(dir, fullWriter{}); !errors.Is(err, errAny) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errAny }

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path := sampleStore(t, dir)
	s := mustOpen(t, dir, Options{})
	now := time.Now()
	for i := range 20_000 {
		s.Circuits().Put(fmt.Sprintf("gone-%d", i), bytes.Repeat([]byte("x"), 100), time.Time{})
	}
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		s.Circuits().Delete(fmt.Sprintf("gone-%d", i))
	}
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSessions, wantCircuits := sessions(s.Affinity()), tableContent(t, s.Circuits(), now)
	if free := s.Stats().FreeBytes; free < 2_000_000 {
		t.Errorf("%d bytes free, want what was deleted", free)
	}
	mustClose(t, s)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	before, after, err := Compact(link)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if before < 2_500_000 || after > 1_500_000 || info.Size() != after || info.Mode() != 0o640 {
		t.Errorf("before %d, after %d, file %d with mode %v", before, after, info.Size(), info.Mode())
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := Check(dir, t.Output()); err != nil {
		t.Error(err)
	}
	s = mustOpen(t, dir, Options{})
	if diff := cmp.Diff(wantSessions, sessions(s.Affinity())); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantCircuits, tableContent(t, s.Circuits(), now)); diff != "" {
		t.Errorf("circuits (-want +got):\n%s", diff)
	}
	s.Affinity().Put(Key{1}, "after", now, now.Add(time.Hour))
	mustClose(t, s)
}

func TestCompactRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		is    error
	}{
		{"missing", os.Remove, os.ErrNotExist},
		{"damaged page", cut(func(n int) int { return n / 8 }), ErrDamaged},
		{"damaged record", changeByte, ErrDamaged},
		{"newer format", setFormat("2"), errAny},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := sampleStore(t, dir)
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			want, _ := os.ReadFile(path)
			if _, _, err := Compact(dir); !matches(err, c.is) {
				t.Errorf("got %v, want %v", err, c.is)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(want, got) {
				t.Error("the file was changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
