package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestReaderReadsWhatIsThere(t *testing.T) {
	here, there := pair(t)
	r := mustReader(t, here)
	p := make([]byte, 8)
	if n, err := r.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing asked for: %d, %v", n, err)
	}
	for _, text := range []string{"a", "bcd"} {
		if _, err := io.WriteString(there, text); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Read(p); string(p[:n]) != text || err != nil {
			t.Errorf("got %q, %v; want %q", p[:n], err, text)
		}
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := r.Read(p); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %d, %v", n, err)
		}
	}
}

// What ends a read is told as the connection's own method tells it.
func TestReaderFails(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(here, there *net.TCPConn) error
		want error
	}{
		{"deadline", func(here, _ *net.TCPConn) error { return here.SetReadDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
		{"closed here", func(here, _ *net.TCPConn) error { return here.Close() }, net.ErrClosed},
		{"reset", func(_, there *net.TCPConn) error { return errors.Join(there.SetLinger(0), there.Close()) }, syscall.ECONNRESET},
	} {
		for _, waiting := range []bool{true, false} {
			here, there := pair(t)
			r := mustReader(t, here)
			ended := make(chan error, 1)
			read := func() {
				_, err := r.Read(make([]byte, 8))
				ended <- err
			}
			if waiting {
				go read()
			}
			if err := tc.do(here, there); err != nil {
				t.Fatal(err)
			}
			if !waiting {
				read()
			}
			err := <-ended
			var op *net.OpError
			if !errors.Is(err, tc.want) || !errors.As(err, &op) {
				t.Errorf("%s, waiting %t: %v", tc.name, waiting, err)
			}
		}
	}
}

func TestReaderNeedsASocket(t *testing.T) {
	here, there := net.Pipe()
	defer func() { _ = errors.Join(here.Close(), there.Close()) }()
	if _, err := NewReader(here); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
