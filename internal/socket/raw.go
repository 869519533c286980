package socket

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// raw returns what lies under a connection.
func raw(c net.Conn) (syscall.RawConn, error) {
	sc, ok := c.(syscall.Conn)
	if !ok || !Available {
		return nil, errors.ErrUnsupported
	}
	return sc.SyscallConn()
}

// Failed makes an error of a system call's as net does.
func Failed(c net.Conn, call string, err error) error {
	return &net.OpError{Op: call, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(call, err)}
}
