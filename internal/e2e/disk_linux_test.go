package e2e

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// disk is a way to make the disk below a data folder refuse writes.
type disk struct {
	dir    string
	refuse func(gw *process)
	relent func(gw *process)
}

// TestDiskRefuses holds traffic while nothing can be written: every request is
// served and the gateway stays ready. When the disk is back, what was learnt
// meanwhile is written, and survives a kill.
func TestDiskRefuses(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) disk{"file size limit": limited, "full file system": full} {
		t.Run(name, func(t *testing.T) {
			sim, d := simulate(t), open(t)
			path := write(t, "g.yaml", sim.config(crashRest()))
			served, rounds := 0, either(1, 100)
			for round := range rounds {
				served += d.round(t, sim, path, fmt.Sprintf("m%d", round%crashModels))
			}
			t.Logf("%d rounds, %d requests, none failed", rounds, served)
			if code, out := runBinary(t, "store", "check", d.dir); code != 0 {
				t.Errorf("the file is not clean: exit status %d\n%s", code, out)
			}
		})
	}
}

// round is one life of a gateway. A cooldown for the model begins while the disk refuses.
func (d disk) round(t *testing.T, sim simulator, path, model string) (served int) {
	t.Helper()
	gw := gateway(t, path, d.dir)
	stop := traffic(t, gw)
	d.refuse(gw)
	sim.behave("a", `script: [{fault: http-429, retry_after: "20"}]`)
	if got := askBody(t, gw, say(model, unique(), false)); got != "b/"+model {
		t.Errorf("with a disk that refuses: %s", got)
	}
	if gw.wait("store cannot write, the gateway goes on from memory", 20*time.Second) == nil {
		t.Fatalf("the disk did not refuse:\n%s", gw.log())
	}
	if got := status(t, gw.url("/readyz")); got != http.StatusOK {
		t.Errorf("/readyz says %d while requests are served", got)
	}
	d.relent(gw)
	if gw.wait("store writes again", 20*time.Second) == nil {
		t.Fatalf("nothing is written again:\n%s", gw.log())
	}
	served = stop()
	wait(t, time.Now().Add(durable))
	gw.kill()
	gw = gateway(t, path, d.dir)
	if got := askBody(t, gw, say("a/"+model, unique(), false)); got != "429 all_candidates_cooling" {
		t.Errorf("after a kill: %s, want the cooldown that began while the disk refused", got)
	}
	gw.kill()
	return served
}

// limited lets the gateway write to no file.
func limited(t *testing.T) disk {
	t.Helper()
	set := func(gw *process, bytes uint64) {
		limit := syscall.Rlimit{Cur: bytes, Max: math.MaxUint64}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(gw.cmd.Process.Pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
		if errno != 0 {
			t.Fatalf("limit the size of files: %v", errno)
		}
	}
	return disk{
		dir:    t.TempDir(),
		refuse: func(gw *process) { set(gw, 0) },
		relent: func(gw *process) { set(gw, math.MaxUint64) },
	}
}

// full is a file system of its own, which is filled.
func full(t *testing.T) disk {
	t.Helper()
	const size = 32 << 20
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("no file system of its own: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	return disk{
		dir: dir,
		refuse: func(*process) {
			if err := os.WriteFile(ballast, make([]byte, size), 0o600); err == nil {
				t.Fatal("the file system is not full")
			}
		},
		relent: func(*process) {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		},
	}
}
