//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tryLock takes the lock that bbolt takes later on the same open file, without
// waiting; false when another process holds it. Taking it twice is one lock.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives the lock back. Closing f is not enough while it is mapped.
func unlock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}

// holder names the process that holds a lock on f, as far as the system tells:
// Linux lists locks with the inode number of the file. Empty when unknown.
func holder(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	list, err := os.Open("/proc/locks")
	if err != nil {
		return ""
	}
	defer func() { _ = list.Close() }() // only read
	for lines := bufio.NewScanner(list); lines.Scan(); {
		// 1: FLOCK ADVISORY WRITE 4711 fe:00:131073 0 EOF
		field := strings.Fields(lines.Text())
		if len(field) < 6 || field[1] != "FLOCK" || !strings.HasSuffix(field[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		pid, err := strconv.Atoi(field[4])
		if err != nil || pid <= 0 {
			continue
		}
		name, err := os.ReadFile(filepath.Join("/proc", field[4], "comm"))
		if err != nil {
			return fmt.Sprintf("process %d", pid)
		}
		return fmt.Sprintf("process %d (%s)", pid, strings.TrimSpace(string(name)))
	}
	return ""
}

// keepOwner gives f the owner of the file that info describes.
func keepOwner(f *os.File, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid() {
		return nil
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}
