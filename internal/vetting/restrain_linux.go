package vetting

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// schedIdle is the policy SCHED_IDLE of sched(7): such a thread runs while no other
// wants the processor.
const schedIdle = 5

// restrain bounds what this process takes from others: its time on a processor; the
// memory, in that it is the first to go when there is none left; and its turn.
func restrain(modest bool) error {
	err := errors.Join(limitCPU(), os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0))
	if modest {
		err = errors.Join(err, idle())
	}
	return err
}

// limitCPU ends this process, by a signal, once it has used its time from now on.
func limitCPU() error {
	var used syscall.Rusage
	var limit syscall.Rlimit
	err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &used), syscall.Getrlimit(syscall.RLIMIT_CPU, &limit))
	if err != nil {
		return err
	}
	limit.Cur = min(uint64(max(used.Utime.Sec+used.Stime.Sec, 0))+1+cpuLimit, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_CPU, &limit)
}

// idle gives all threads of this process the lowest turn. Those that they start
// inherit it.
func idle() error {
	threads, err := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		id, _ := strconv.Atoi(t.Name()) // they are numbers
		var priority int32              // of this policy there is one
		//nolint:gosec // the kernel takes an address
		_, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(id), schedIdle, uintptr(unsafe.Pointer(&priority)))
		if errno != 0 && errno != syscall.ESRCH {
			err = errors.Join(err, fmt.Errorf("sched_setscheduler: %w", errno))
		}
	}
	return err
}
