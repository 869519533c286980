package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// used is a data folder that a gateway has worked with and left in order.
func used(t *testing.T, path string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	gw := gateway(t, path, dir)
	for i := range 200 {
		if got := askBody(t, gw, say("s", fmt.Sprint("hello ", i), false)); !strings.HasSuffix(got, "/s") {
			t.Fatal(got)
		}
	}
	if code := gw.stop(); code != 0 {
		t.Fatalf("exit status %d\n%s", code, gw.log())
	}
	return dir, filepath.Join(dir, "gatewright.db")
}

// TestDamagedStore starts on files that something has happened to: the gateway
// starts from what is whole, or says at once why it does not.
func TestDamagedStore(t *testing.T) {
	sim := simulate(t)
	path := write(t, "g.yaml", sim.config(crashRest()))
	dir, file := used(t, path)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	garbage := bytes.Repeat([]byte{0x5a}, 200)
	for _, c := range []struct {
		name   string
		damage func() error
		starts string   // a log message; empty = it must not start
		says   []string // why it does not
	}{
		{"nothing", func() error { return nil }, "serving", nil},
		{"the first meta page", func() error { return overwrite(file, garbage, 0) }, "store meta page is damaged, starting from the other", nil},
		{"the second meta page", func() error { return overwrite(file, garbage, int64(page)) }, "store meta page is damaged, starting from the other", nil},
		{"both meta pages", func() error {
			return errors.Join(overwrite(file, garbage, 0), overwrite(file, garbage, int64(page)))
		}, "", []string{"gatewright store check"}},
		{"cut to four pages", func() error { return os.Truncate(file, 4*int64(page)) }, "", []string{"gatewright store check"}},
		{"a gigabyte of nothing", func() error {
			return errors.Join(os.Truncate(file, 0), os.Truncate(file, 1<<30))
		}, "", []string{"gatewright store check"}},
		{"a folder in its place", func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, "", []string{"is a directory", "data_dir"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(file, whole, 0o600), c.damage()); err != nil {
				t.Fatal(err)
			}
			if c.starts != "" {
				gw := gateway(t, path, dir)
				if n, _ := gw.count(c.starts); n == 0 {
					t.Errorf("the log lacks %q:\n%s", c.starts, gw.log())
				}
				if got := askBody(t, gw, say("s", "hello", false)); !strings.HasSuffix(got, "/s") {
					t.Errorf("served: %s", got)
				}
				gw.kill()
				return
			}
			wantRefusal(t, path, dir, append(c.says, file)...)
		})
	}
}

// wantRefusal starts a gateway that must end by itself and say why.
func wantRefusal(t *testing.T, path, dir string, says ...string) {
	t.Helper()
	began := time.Now()
	code, out := runBinary(t, "serve", "--config", path, "--data-dir", dir)
	if took := time.Since(began); took > 10*time.Second { // the goal is two, on a machine of its own
		t.Errorf("it took %s to give up", took)
	}
	if code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	for _, want := range says {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

// overwrite puts bytes into the middle of a file.
func overwrite(file string, p []byte, at int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(p, at)
	return errors.Join(err, f.Close())
}

// TestDataFolderInUse refuses to share a folder, and leaves the one who has it
// alone.
func TestDataFolderInUse(t *testing.T) {
	sim := simulate(t)
	path, dir := write(t, "g.yaml", sim.config(crashRest())), t.TempDir()
	gw := gateway(t, path, dir)
	wantRefusal(t, path, dir, "gatewright.db", strconv.Itoa(gw.cmd.Process.Pid), "data_dir")
	if got := askBody(t, gw, say("s", "hello", false)); !strings.HasSuffix(got, "/s") {
		t.Errorf("served: %s", got)
	}
}

// TestDataFolderVanishes serves on when the folder is deleted below it.
func TestDataFolderVanishes(t *testing.T) {
	sim := simulate(t)
	dir := filepath.Join(t.TempDir(), "data")
	gw := gateway(t, write(t, "g.yaml", sim.config(crashRest())), dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	stop := traffic(t, gw)
	wait(t, time.Now().Add(300*time.Millisecond))
	if stop() == 0 {
		t.Error("no request was sent")
	}
	if got := status(t, gw.url("/readyz")); got != 200 {
		t.Errorf("/readyz says %d", got)
	}
	if code := gw.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, gw.log())
	}
}

// traffic asks without a pause until stop is called, which returns how often.
func traffic(t *testing.T, gw *process) (stop func() int) {
	t.Helper()
	clients := newCaller(t, gw, 4)
	var sent atomic.Int64
	var over atomic.Bool
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for !over.Load() {
				// A session of its own each: something to write.
				got := clients.chat(t.Context(), say("s", fmt.Sprint("hello ", sent.Add(1)), false), nil)
				if !got.served() {
					t.Errorf("not served: %v", got)
					return
				}
			}
		})
	}
	return func() int { over.Store(true); workers.Wait(); return int(sent.Load()) }
}
