package app

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/internal/config"
)

// writes counts how often it was written to.
type writes struct {
	buffer
	n atomic.Int64
}

func (w *writes) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.buffer.Write(p)
}

func TestLogBufferGathersLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to writes
		b := NewLogBuffer(&to)
		for i := range 10 {
			_, _ = fmt.Fprintf(b, "line %d\n", i)
		}
		if n := to.n.Load(); n != 0 {
			t.Fatalf("%d writes at once, want none yet", n)
		}
		time.Sleep(2 * logDelay) //nolint:forbidigo // a bubble's time
		synctest.Wait()
		if n := to.n.Load(); n != 1 || strings.Count(to.String(), "\n") != 10 {
			t.Errorf("%d writes of %q, want all in one", n, to.String())
		}
		_, _ = b.Write([]byte(strings.Repeat("x", logBatch) + "\n"))
		time.Sleep(time.Nanosecond) //nolint:forbidigo // a bubble's time
		synctest.Wait()
		if n := to.n.Load(); n != 2 {
			t.Errorf("%d writes, want a full batch to be written at once", n)
		}
		_, _ = b.Write([]byte("last\n"))
		b.Flush()
		if !strings.HasSuffix(to.String(), "last\n") {
			t.Error("a flush left the last line out")
		}
	})
}

func TestLogBufferInParallel(t *testing.T) {
	var to buffer
	b := NewLogBuffer(&to)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 500 {
				_, _ = b.Write([]byte("a whole line\n"))
			}
		})
	}
	group.Wait()
	b.Flush()
	if got := strings.Count(to.String(), "a whole line\n"); got != 4000 {
		t.Errorf("%d whole lines, want 4000", got)
	}
}

// stalled is a writer that waits until it is let go.
type stalled struct {
	buffer
	release chan struct{}
}

func (w *stalled) Write(p []byte) (int, error) {
	<-w.release
	return w.buffer.Write(p)
}

func TestLogBufferOutlastsAStalledWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &stalled{release: make(chan struct{})}
		b := NewLogBuffer(to)
		logger, _ := NewLogger(b, config.Log{Level: "info", Format: "json"})
		kilobyte := strings.Repeat("x", 1023) + "\n"
		began := time.Now()
		write := func(times int) time.Duration {
			began := time.Now()
			for range times {
				_, _ = b.Write([]byte(kilobyte))
			}
			return time.Since(began)
		}
		write(1)
		time.Sleep(2 * logDelay) //nolint:forbidigo // a bubble's time
		if d := write(logLimit / 1024); d != 0 {
			t.Errorf("lines that the buffer has room for took %s", d)
		}
		if d := write(10); d != logPatience {
			t.Errorf("lines that it has no room for took %s, want %s once", d, logPatience)
		}
		b.Flush()
		if d := time.Since(began); d > 3*logPatience {
			t.Errorf("with a flush %s have passed, want it to give up", d)
		}
		close(to.release)
		b.Flush()
		time.Sleep(2 * logDelay) //nolint:forbidigo // a bubble's time
		logger.Info("it goes on")
		b.Flush()
		text := to.String()
		if got, want := strings.Count(text, kilobyte), 1+logLimit/1024; got != want {
			t.Errorf("%d lines were written, want %d", got, want)
		}
		if !strings.Contains(text, `"msg":"log lines dropped","dropped":10}`) || !strings.Contains(text, "it goes on") {
			t.Errorf("the log ends with %q, want what was lost and what followed", text[max(0, len(text)-300):])
		}
	})
}
