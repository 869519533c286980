//go:build !race

package socket

import (
	"testing"
	"time"
)

func TestAllocations(t *testing.T) {
	here, there := pair(t)
	w, r := NewWriter(here, time.Minute), mustReader(t, there)
	text, p := []byte("an event"), make([]byte, 64)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Read(p); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a write and a read", n)
	}
}
