package app

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
