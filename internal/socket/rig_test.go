package socket

import (
	"errors"
	"net"
	"testing"
)

// pair returns the two ends of a connection. What is written to it stays within small
// buffers.
func pair(t *testing.T) (here, there *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	here, err = net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	there, err = l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*net.TCPConn{here, there} {
		if err := errors.Join(c.SetReadBuffer(256<<10), c.SetWriteBuffer(64<<10)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	return here, there
}

func mustReader(t *testing.T, c net.Conn) *Reader {
	t.Helper()
	r, err := NewReader(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
