package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// usage is what a process holds, as the system sees it.
type usage struct {
	rss       int64 // bytes
	anonymous int64 // of them, those that are of no file
	threads   int
	fds       int
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f MiB (%.1f anonymous), %d threads, %d descriptors", float64(u.rss)/(1<<20), float64(u.anonymous)/(1<<20), u.threads, u.fds)
}

// usage reads /proc; where there is none, the test is skipped.
func (p *process) usage(t *testing.T) usage {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", p.cmd.Process.Pid)
	text, err := os.ReadFile(dir + "/status")
	if os.IsNotExist(err) {
		t.Skip("this system has no /proc to read")
	}
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir(dir + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) int64 { return int64(statusField(t, string(text), name)) << 10 }
	return usage{
		rss: field("VmRSS"), anonymous: field("RssAnon"), threads: statusField(t, string(text), "Threads"), fds: len(open),
	}
}

// cpu is how much processor time the process has used. Where there is no /proc, the
// test is skipped.
func (p *process) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if os.IsNotExist(err) {
		t.Skip("this system has no /proc to read")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind the name of the program
	const utime, stime, tick = 11, 12, 10 * time.Millisecond
	fields := strings.Fields(rest)
	ticks := 0
	for _, i := range []int{utime, stime} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// statusField returns a number of /proc/PID/status.
func statusField(t *testing.T, text, name string) int {
	t.Helper()
	_, rest, _ := strings.Cut(text, "\n"+name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no %s in %q", name, text)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// goroutines ends the process with SIGQUIT and counts the goroutines of the dump
// that Go's runtime makes then, without the runtime's own.
func (p *process) goroutines(t *testing.T) int {
	t.Helper()
	n := 0
	p.listen(func(line string, _ map[string]any) {
		if strings.HasPrefix(line, "goroutine ") && !strings.HasPrefix(line, "goroutine 0 ") && !isRuntime(line) {
			n++
		}
	})
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if n == 0 {
		t.Fatalf("no goroutines in the dump:\n%s", p.log())
	}
	return n
}

// isRuntime reports whether the head of a goroutine's stack is that of one of
// the runtime's workers, of which there are more after much work.
func isRuntime(head string) bool {
	for _, why := range []string{"[GC ", "[force gc", "[finalizer wait", "[cleanup wait"} {
		if strings.Contains(head, why) {
			return true
		}
	}
	return false
}
