package load

import (
	"time"

	"gatewright/internal/bench/proc"
)

// account is what a job's process tree used between open and close.
type account struct {
	pid, core int
	began     time.Time
	cpu       time.Duration
	busy      time.Duration
}

// open begins to account. A peak of memory that cannot be reset counts from the
// start of the process, which bounds it from above.
func open(j *Job) (*account, error) {
	a := &account{pid: j.PID, core: j.Core}
	if a.pid <= 0 {
		return a, nil
	}
	_ = proc.ResetPeak(a.pid)
	if err := a.read(&a.cpu, &a.busy); err != nil {
		return nil, err
	}
	a.began = time.Now()
	return a, nil
}

func (a *account) read(cpu, busy *time.Duration) (err error) {
	if *cpu, err = proc.CPU(a.pid); err != nil {
		return err
	}
	if a.core >= 0 {
		*busy, err = proc.Busy(a.core)
	}
	return err
}

// close writes into the result what was used since open.
func (a *account) close(to *Result) error {
	if a.pid <= 0 {
		return nil
	}
	var cpu, busy time.Duration
	if err := a.read(&cpu, &busy); err != nil {
		return err
	}
	took := time.Since(a.began)
	memory, err := proc.MemoryOf(a.pid)
	if err != nil {
		return err
	}
	to.CPUSeconds, to.PeakBytes = (cpu - a.cpu).Seconds(), memory.Peak
	if a.core >= 0 {
		others := (busy - a.busy) - (cpu - a.cpu)
		to.OtherShare = max(others.Seconds()/took.Seconds(), 0)
	}
	return nil
}
