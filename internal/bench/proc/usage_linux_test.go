package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVariable turns the test binary into a child with the behaviour that it
// names.
const childVariable = "GATEWRIGHT_BENCH_CHILD"

func TestMain(m *testing.M) {
	play, ok := map[string]func(){
		"":         nil,
		"burn":     burn,
		"parent":   burnByChildren,
		"hold":     hold,
		"status":   status,
		"stubborn": stubborn,
	}[os.Getenv(childVariable)]
	switch {
	case !ok:
		fmt.Fprintln(os.Stderr, "no such child")
		os.Exit(1)
	case play != nil:
		play()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// burned is the CPU time that a burner uses at least.
const burned = 300 * time.Millisecond

// used returns the CPU time of this process as the kernel counts it.
func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// burn uses CPU time, says how much it has used, and stays until its input
// ends.
func burn() {
	for n := 1; used(syscall.RUSAGE_SELF) < burned; n++ {
		for range 100_000 {
			n += n % 7
		}
	}
	say(used(syscall.RUSAGE_SELF))
}

// burnByChildren lets one child burn that ends, and one that stays.
func burnByChildren() {
	start := func() (*exec.Cmd, io.Closer, time.Duration) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=burn")
		in, err := cmd.StdinPipe()
		check(err)
		out, err := cmd.StdoutPipe()
		check(err)
		check(cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		check(err)
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		check(err)
		return cmd, in, time.Duration(n)
	}
	ended, in, first := start()
	check(in.Close())
	check(ended.Wait())
	staying, in, second := start()
	say(first + second + used(syscall.RUSAGE_SELF))
	check(in.Close())
	check(staying.Wait())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// say prints a number and waits for the end of the input.
func say(v time.Duration) {
	fmt.Println(int64(v)) //nolint:forbidigo // a child answers so
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// held is what a holder has in memory, and gives back when it is told to.
const held = 64 << 20

func hold() {
	memory, err := syscall.Mmap(-1, 0, held, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	check(err)
	for i := 0; i < held; i += os.Getpagesize() {
		memory[i] = 1
	}
	fmt.Println("held") //nolint:forbidigo // a child answers so
	in := bufio.NewReader(os.Stdin)
	_, err = in.ReadString('\n')
	check(err)
	check(syscall.Munmap(memory))
	fmt.Println("freed") //nolint:forbidigo // a child answers so
	_, _ = io.Copy(io.Discard, in)
}

// status prints what the kernel says of this process.
func status() {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	_, _ = os.Stdout.Write(text)
}

// stubborn does not end when it is asked to.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready") //nolint:forbidigo // a child answers so
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// child is a child that the test talks to.
type child struct {
	*Process
	in  *os.File
	out *bufio.Reader
}

func startChild(t *testing.T, behaviour string, core int) *child {
	t.Helper()
	if _, err := Allowed(); err != nil {
		t.Fatal(err)
	}
	t.Setenv(childVariable, behaviour)
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{Path: os.Args[0], Core: core, Stdin: inRead, Stdout: outWrite, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = inRead.Close(), outWrite.Close()
	t.Cleanup(func() {
		_, _ = inWrite.Close(), outRead.Close()
		p.Stop(time.Minute)
	})
	return &child{p, inWrite, bufio.NewReader(outRead)}
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestCPUOfATreeIsWhatItsProcessesUsed(t *testing.T) {
	for _, tt := range []struct {
		name      string
		behaviour string
		processes int // that steps of 10 ms are rounded in
		atLeast   time.Duration
	}{
		{"one process", "burn", 1, burned},
		{"a parent, a child that has ended, and one that runs", "parent", 3, 2 * burned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startChild(t, tt.behaviour, Unpinned)
			n, err := strconv.ParseInt(c.line(t), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want := time.Duration(n)
			got, err := CPU(c.PID())
			if err != nil {
				t.Fatal(err)
			}
			// Each process counts user and system time down to a tick; what a
			// process uses after it has said how much is little.
			low, high := want-time.Duration(2*tt.processes)*tick, want+time.Duration(2*tt.processes+2)*tick
			if got < low || got > high || got < tt.atLeast-time.Duration(2*tt.processes)*tick {
				t.Errorf("CPU time of the tree: got %s, its processes say %s", got, want)
			}
		})
	}
}

func TestUsageOfAProcessThatIsGone(t *testing.T) {
	c := startChild(t, "burn", Unpinned)
	c.line(t)
	c.Stop(time.Minute)
	if _, err := CPU(c.PID()); !errors.Is(err, ErrEnded) {
		t.Errorf("CPU: got %v, want ErrEnded", err)
	}
	if _, err := MemoryOf(c.PID()); !errors.Is(err, ErrEnded) {
		t.Errorf("MemoryOf: got %v, want ErrEnded", err)
	}
}

func TestMemoryPeak(t *testing.T) {
	c := startChild(t, "hold", Unpinned)
	c.line(t)
	read := func() Memory {
		t.Helper()
		m, err := MemoryOf(c.PID())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	// The kernel may be some pages behind.
	const slack = 4 << 20
	if m := read(); m.Anonymous < held-slack || m.Resident < held-slack || m.Peak < held-slack {
		t.Errorf("while it holds %d bytes: got %+v", held, m)
	}
	if _, err := c.in.WriteString("free\n"); err != nil {
		t.Fatal(err)
	}
	c.line(t)
	if m := read(); m.Anonymous > held/2 || m.Peak < held-slack {
		t.Errorf("after it gave them back: got %+v, want little now and a peak of %d", m, held)
	}
	if err := ResetPeak(c.PID()); err != nil {
		t.Fatal(err)
	}
	if m := read(); m.Peak > held/2 {
		t.Errorf("after the peak was reset: got %+v", m)
	}
}

func TestStopEndsAProcessThatDoesNotWantTo(t *testing.T) {
	c := startChild(t, "stubborn", Unpinned)
	c.line(t)
	c.Stop(time.Millisecond)
	select {
	case <-c.Done():
	default:
		t.Error("Stop has returned, the process runs on")
	}
	if c.Err() == nil {
		t.Error("a killed process has no error")
	}
	c.Stop(0) // again
}

func TestBoundProcess(t *testing.T) {
	before, err := Allowed()
	if err != nil {
		t.Fatal(err)
	}
	core := before[len(before)-1]
	c := startChild(t, "status", core)
	text, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			got = parseList(strings.TrimSpace(list))
		}
	}
	if want := []int{core}; !slices.Equal(got, want) {
		t.Errorf("cores of the child: got %v, want %v", got, want)
	}
	if after, err := Allowed(); err != nil || !slices.Equal(after, before) {
		t.Errorf("cores of this process: got %v (%v), had %v", after, err, before)
	}
	if _, err := Start(Spec{Path: os.Args[0], Core: 8191}); err == nil {
		t.Error("a process was bound to a core that is not there")
	}
}

func TestBusy(t *testing.T) {
	const text = "cpu  900 0 0 0 0 0 0 0 0 0\ncpu0 10 20 30 1000 500 7 8 40 5 5\ncpu1 1 1 1 1 1 1 1 1 0 0\ncpu11 9 9 9 9 9 9 9 9 9 9\n"
	for _, tt := range []struct {
		name string
		core int
		want time.Duration
		err  bool
	}{
		{"user, nice, system and stolen", 0, 100 * tick, false},
		{"the number is the whole name", 1, 4 * tick, false},
		{"no such core", 2, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := busy(text, tt.core)
			if got != tt.want || (err != nil) != tt.err {
				t.Errorf("got %s, %v; want %s, error %t", got, err, tt.want, tt.err)
			}
		})
	}
}
