package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Children that change limits and users of their whole process.
const (
	fullRole  = "full"
	otherRole = "other"
)

var systemRoles = map[string]func() int{fullRole: fullChild, otherRole: otherChild}

// runChild plays a role in another process and returns its output.
func runChild(t *testing.T, role, dir string) string {
	t.Helper()
	out, err := command(t, role, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestFileCannotGrow lets the system refuse writes, by a limit on file sizes,
// and lifts it again.
func TestFileCannotGrow(t *testing.T) {
	dir := t.TempDir()
	runChild(t, fullRole, dir)
	if err := Check(dir, t.Output()); err != nil {
		t.Error(err)
	}
	s := mustOpen(t, dir, Options{})
	n := 0
	err := s.Circuits().Load(time.Now(), func(string, []byte, time.Time) error { n++; return nil })
	if err != nil || n != fullRecords {
		t.Errorf("%d records, error %v; want %d", n, err, fullRecords)
	}
}

const fullRecords = 3000

// fullChild writes more than the limit allows, then raises the limit.
func fullChild() int {
	if err := growPastLimit(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func growPastLimit() error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(".", Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := old
	limit.Cur = uint64(s.Stats().FileBytes) + 64<<10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for i := range fullRecords {
		s.Circuits().Put(strconv.Itoa(i), bytes.Repeat([]byte("x"), 2000), time.Time{})
	}
	want := syscall.EFBIG.Error() // bbolt keeps the text of the error only
	if err := s.Circuits().Sync(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("sync: got %w, want %s", err, want)
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("standing error: got %w, want %s", err, want)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for s.Err() != nil {
		_ = s.Circuits().Sync(context.Background())
	}
	return errors.Join(s.Circuits().Sync(context.Background()), s.Close())
}

// TestOpenPipe must not wait for someone who writes into it.
func TestOpenPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, fileName), 0o600); err != nil {
		t.Fatal(err)
	}
	_, openErr := Open(dir, Options{})
	_, _, compactErr := Compact(dir)
	for name, err := range map[string]error{"open": openErr, "check": Check(dir, t.Output()), "compact": compactErr} {
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: got %v, want an error that says what it is", name, err)
		}
	}
}

// TestOpenWithoutPermission opens as a user who may not write.
func TestOpenWithoutPermission(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	for _, there := range []bool{false, true} {
		t.Run(fmt.Sprintf("there is a store: %v", there), func(t *testing.T) {
			dir := t.TempDir()
			if there {
				sampleStore(t, dir)
			}
			// The way to the directory must be open to the other user.
			if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
			if out := runChild(t, otherRole, dir); !strings.Contains(out, "cannot be written by user id 65534") || !strings.Contains(out, "data_dir") {
				t.Errorf("got %q, want the user and what to do", out)
			}
		})
	}
}

// otherChild opens the store as another user and prints the error.
func otherChild() int {
	if err := syscall.Setuid(65534); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := Open(".", Options{})
	if err == nil {
		_ = s.Close()
		return 1
	}
	fmt.Fprintln(os.Stderr, err)
	return 0
}
