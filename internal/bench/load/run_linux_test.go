package load

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"gatewright/internal/bench/proc"
)

func TestRunAccountsTheProcess(t *testing.T) {
	_, address := upstream(t)
	job := Job{Address: address, Connections: 4, Count: 2000, Duration: time.Minute, PID: os.Getpid(), Core: proc.Unpinned}
	got, err := Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	// This process sends and answers 2,000 requests: that takes more than a tick.
	if got.CPUSeconds <= 0 || got.CPUSeconds > 60 || got.PeakBytes < 1<<20 {
		t.Errorf("got %+v", got)
	}
	gone := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	job.PID = gone.Process.Pid
	if _, err := Run(t.Context(), job); !errors.Is(err, proc.ErrEnded) {
		t.Errorf("of a process that has ended: got %v, want ErrEnded", err)
	}
}
