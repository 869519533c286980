package socket

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// fill is more than a connection of the tests holds.
var fill = bytes.Repeat([]byte("0123456789abcdef"), 1<<18)

// A write that the reader does not take ends after its time, and says how much went
// out; the next one has its own time.
func TestWriterLimit(t *testing.T) {
	here, there := pair(t)
	w := NewWriter(here, 50*time.Millisecond)
	n, err := w.Write(fill)
	if n == 0 || n >= len(fill) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if _, err := io.CopyN(io.Discard, there, int64(n)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("then %d, %v", n, err)
	}
}

// One that takes a little now and then gets no more time for it.
func TestWriterLimitIsOfTheWhole(t *testing.T) {
	here, there := pair(t)
	w := NewWriter(here, 100*time.Millisecond)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		sips := time.NewTicker(5 * time.Millisecond)
		defer sips.Stop()
		for p := make([]byte, 2<<10); ; {
			select {
			case <-stop:
				return
			case <-sips.C:
				_, _ = there.Read(p)
			}
		}
	}()
	if n, err := w.Write(fill); n >= len(fill) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v", n, err)
	}
	close(stop)
	_ = there.SetReadDeadline(time.Now())
	<-stopped
}

func TestWriterFails(t *testing.T) {
	here, there := pair(t)
	w := NewWriter(here, time.Minute)
	ended := make(chan error, 1)
	go func() {
		_, err := w.Write(fill)
		ended <- err
	}()
	if _, err := io.CopyN(io.Discard, there, 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(there.SetLinger(0), there.Close()); err != nil {
		t.Fatal(err)
	}
	var op *net.OpError
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) || !errors.As(err, &op) {
		t.Errorf("reset: %v", err)
	}
	_ = here.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// What is no socket has the same limit by its own methods.
func TestWriterToAnything(t *testing.T) {
	here, there := net.Pipe()
	defer func() { _ = errors.Join(here.Close(), there.Close()) }()
	w := NewWriter(here, 10*time.Millisecond)
	if _, err := w.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	w = NewWriter(here, time.Minute)
	go func() { _, _ = w.Write([]byte("text")) }()
	p := make([]byte, 8)
	if n, err := there.Read(p); string(p[:n]) != "text" || err != nil {
		t.Errorf("got %q, %v", p[:n], err)
	}
}
