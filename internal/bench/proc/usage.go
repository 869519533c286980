package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: Linux shows 100 a second on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// Fields of /proc/PID/stat, counted from the state, which follows the name.
const (
	fieldParent       = 1
	fieldUser         = 11
	fieldSystem       = 12
	fieldWaitedUser   = 13
	fieldWaitedSystem = 14
)

// stat returns the fields of /proc/PID/stat from the state on; nil when the
// process is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name is in brackets and may hold any byte.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= fieldWaitedSystem {
		return nil
	}
	return fields
}

// Tree lists a process and all that descend from it.
func Tree(root int) []int {
	children := map[int][]int{}
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		pid, _ := strconv.Atoi(filepath.Base(e))
		if f := stat(pid); f != nil {
			parent, _ := strconv.Atoi(f[fieldParent])
			children[parent] = append(children[parent], pid)
		}
	}
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree
}

// CPU returns the user and system time of a process tree since its start, with
// that of children that have ended and were waited for. It counts in steps of 10
// ms a process. The error is [ErrEnded] when the root is gone.
func CPU(root int) (time.Duration, error) {
	var ticks int64
	for i, pid := range Tree(root) {
		f := stat(pid)
		if f == nil {
			if i == 0 {
				return 0, fmt.Errorf("read the CPU time of process %d: %w", root, ErrEnded)
			}
			continue // it ended just now: its parent has its time
		}
		for _, n := range []int{fieldUser, fieldSystem, fieldWaitedUser, fieldWaitedSystem} {
			v, err := strconv.ParseInt(f[n], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
			}
			ticks += v
		}
	}
	return time.Duration(ticks) * tick, nil
}

// Memory is what a process tree has in memory, in bytes.
type Memory struct {
	Anonymous int64 // now, without what is backed by files
	Resident  int64 // now
	Peak      int64 // the most since the start, or since [ResetPeak]
}

// MemoryOf returns the memory of a process tree, each process on its own: what
// two share counts twice. The error is [ErrEnded] when the root is gone.
func MemoryOf(root int) (Memory, error) {
	var sum Memory
	for i, pid := range Tree(root) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			if i == 0 {
				return Memory{}, fmt.Errorf("read the memory of process %d: %w", root, ErrEnded)
			}
			continue
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "RssAnon":
				sum.Anonymous += kilobytes(value)
			case "VmRSS":
				sum.Resident += kilobytes(value)
			case "VmHWM":
				sum.Peak += kilobytes(value)
			}
		}
	}
	return sum, nil
}

// kilobytes reads a value such as "  1234 kB".
func kilobytes(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
	return n << 10
}

// ResetPeak lets the peak of a process tree's memory count from now on. Where
// the kernel does not allow it, the peak goes on counting from the start.
func ResetPeak(root int) error {
	var errs []error
	for _, pid := range Tree(root) {
		const peakOnly = "5"
		errs = append(errs, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peakOnly), 0))
	}
	return errors.Join(errs...)
}

// Busy returns how long tasks have run on a core since the start of the machine,
// with what a hypervisor took away. Interrupts are left out: whether tasks are
// charged for them depends on how the kernel was built, so the rest beyond what
// is known of one task is the least that others have used.
func Busy(core int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return busy(string(text), core)
}

// Fields of a core's line in /proc/stat, after its name. Idle time and
// interrupts stand between; what follows is counted in user already.
const (
	coreUser   = 1
	coreNice   = 2
	coreSystem = 3
	coreSteal  = 8
)

func busy(text string, core int) (time.Duration, error) {
	name := "cpu" + strconv.Itoa(core)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) <= coreSteal || f[0] != name {
			continue
		}
		var ticks int64
		for _, n := range []int{coreUser, coreNice, coreSystem, coreSteal} {
			v, err := strconv.ParseInt(f[n], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read /proc/stat, line of %s: %w", name, err)
			}
			ticks += v
		}
		return time.Duration(ticks) * tick, nil
	}
	return 0, fmt.Errorf("read /proc/stat: no line of %s", name)
}
