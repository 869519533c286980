//go:build unix

package policies

import (
	"syscall"
	"testing"
	"time"
)

// becomesIdle checks that the process does nothing once the policies have been
// stopped: nothing that was refused or stopped runs on.
func becomesIdle(t *testing.T) {
	t.Helper()
	const window = time.Second
	for try := 1; ; try++ {
		before := processTime(t)
		<-time.After(window)
		used := processTime(t) - before
		if used < window/2 {
			return
		}
		if try == 5 { // of the collector there is an end, of a guest that runs on there is none
			t.Errorf("the process used %s of a second in which nobody asked for anything", used)
			return
		}
	}
}

func processTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
