//go:build !linux

package proc

import (
	"errors"
	"syscall"
)

var errNotLinux = errors.New("binding processes to cores and reading /proc need Linux")

// Allowed lists the cores that this process may run on, lowest first.
func Allowed() ([]int, error) { return nil, errNotLinux }

func onCore(core int, start func() error) error {
	if core == Unpinned {
		return start()
	}
	return errNotLinux
}

func attributes() *syscall.SysProcAttr { return nil }
