package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestSecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const n = 16
	var group sync.WaitGroup
	got := make([][]byte, n)
	for i := range n {
		group.Go(func() {
			var err error
			if got[i], err = Secret(dir); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range n {
		if len(got[i]) != SecretSize || !bytes.Equal(got[i], got[0]) {
			t.Errorf("call %d: got %x, want the same %d bytes as the first: %x", i, got[i], SecretSize, got[0])
		}
	}
	if bytes.Equal(got[0], make([]byte, SecretSize)) {
		t.Error("the secret is zero")
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, secretName): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, error %v; want the secret alone", len(entries), err)
	}
	other, err := Secret(t.TempDir())
	if err != nil || bytes.Equal(other, got[0]) {
		t.Errorf("another directory: error %v, the same secret: %v", err, bytes.Equal(other, got[0]))
	}
}

func TestSecretRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(path string) error
		want []string
	}{
		{"short", func(p string) error { return os.WriteFile(p, make([]byte, 31), 0o600) }, []string{"31 bytes, want 32", "delete it"}},
		{"long", func(p string) error { return os.WriteFile(p, make([]byte, 33), 0o600) }, []string{"33 bytes, want 32"}},
		{"empty", func(p string) error { return os.WriteFile(p, nil, 0o600) }, []string{"0 bytes, want 32"}},
		{"others may read", func(p string) error { return writeMode(p, 0o604) }, []string{"mode 0604", "chmod 600"}},
		{"the group may write", func(p string) error { return writeMode(p, 0o620) }, []string{"mode 0620", "chmod 600"}},
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) }, []string{"no regular file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, secretName)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err := Secret(dir)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range append(c.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %q, want one with %q", err, want)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("read-only by its owner is fine", func(t *testing.T) {
		dir := t.TempDir()
		if err := writeMode(filepath.Join(dir, secretName), 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Secret(dir); err != nil {
			t.Error(err)
		}
	})
	t.Run("the directory is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Secret(file); err == nil {
			t.Error("accepted")
		}
	})
}

// writeMode writes 32 bytes with a mode that the umask does not change.
func writeMode(path string, mode os.FileMode) error {
	return errors.Join(os.WriteFile(path, bytes.Repeat([]byte{7}, SecretSize), 0o600), os.Chmod(path, mode))
}

func TestPublish(t *testing.T) {
	noLink := func(string, string) error { return &os.LinkError{Op: "link", Err: syscall.EPERM} }
	fill := func(f *os.File) error { _, err := f.WriteString("mine"); return err }
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		there bool // another process was faster
		link  func(string, string) error
		fill  func(*os.File) error
		want  string
		err   error
	}{
		{"first", false, os.Link, fill, "mine", nil},
		{"second", true, os.Link, fill, "theirs", nil},
		{"no links, first", false, noLink, fill, "mine", nil},
		{"no links, second", true, noLink, fill, "theirs", nil},
		{"not filled", false, os.Link, func(*os.File) error { return boom }, "", boom},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "name")
			if c.there {
				if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := publish(dir, "name", c.link, c.fill); !errors.Is(err, c.err) {
				t.Errorf("got error %v, want %v", err, c.err)
			}
			got, _ := os.ReadFile(path)
			if string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			left, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}

func TestStaleFilesAreRemoved(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	ages := map[string]time.Duration{
		tempPrefix + "compact-1":     2 * tempAge,
		tempPrefix + "secret-1":      2 * tempAge,
		tempPrefix + "compact-young": tempAge / 2,
		"something-else":             2 * tempAge,
	}
	for name, age := range ages {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	mustOpen(t, dir, Options{})
	for name, age := range ages {
		_, err := os.Stat(filepath.Join(dir, name))
		stays := age < tempAge || !strings.HasPrefix(name, tempPrefix)
		if (err == nil) != stays {
			t.Errorf("%s: stat says %v, want it to stay: %v", name, err, stays)
		}
	}
}
