package proc

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// mask is a set of cores as the kernel takes it. 8,192 is the most that Linux
// can be built for.
type mask [8192 / 64]uint64

func (m *mask) set(core int)      { m[core/64] |= 1 << (core % 64) }
func (m *mask) has(core int) bool { return m[core/64]&(1<<(core%64)) != 0 }

// affinity gets or sets the cores of the calling thread, by the number of the
// system call.
func affinity(call uintptr, m *mask) error {
	_, _, errno := syscall.RawSyscall(call, 0, unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m))) //nolint:gosec // a system call takes its argument so
	if errno != 0 {
		return errno
	}
	return nil
}

// Allowed lists the cores that this process may run on, lowest first.
func Allowed() ([]int, error) {
	var m mask
	if err := affinity(syscall.SYS_SCHED_GETAFFINITY, &m); err != nil {
		return nil, fmt.Errorf("read the cores of this process: %w", err)
	}
	var list []int
	for core := range len(m) * 64 {
		if m.has(core) {
			list = append(list, core)
		}
	}
	return list, nil
}

// onCore calls start on a thread that runs on the core: a child that it starts
// inherits that.
func onCore(core int, start func() error) error {
	if core == Unpinned {
		return start()
	}
	runtime.LockOSThread()
	var before, only mask
	only.set(core)
	if err := affinity(syscall.SYS_SCHED_GETAFFINITY, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("read the cores of a thread: %w", err)
	}
	if err := affinity(syscall.SYS_SCHED_SETAFFINITY, &only); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("bind to core %d: %w", core, err)
	}
	err := start()
	if back := affinity(syscall.SYS_SCHED_SETAFFINITY, &before); back != nil {
		// The thread stays locked, so that nothing else runs on it.
		return fmt.Errorf("free a thread from core %d: %w", core, back)
	}
	runtime.UnlockOSThread()
	return err
}

// attributes keep signals of the terminal from the child, which is ended in
// order, and end it when this process dies without having done so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
