package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ErrEnded says that a process is over.
var ErrEnded = errors.New("process has ended")

// Spec says what to start.
type Spec struct {
	Path string
	Args []string // without the name of the program
	Dir  string   // working directory; "" = this process's
	Core int      // the core to run on; [Unpinned] = any
	// Stdin, Stdout and Stderr may be nil: the process then reads nothing, and
	// what it writes is lost.
	Stdin, Stdout, Stderr *os.File
}

// Process is a running child. Its methods may be called in parallel.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; read after done
}

// Start starts a process. It is bound to its core from its first instruction
// on, so its runtime sees one core. The caller calls [Process.Stop]. Should this
// process be killed, the child is too.
func Start(s Spec) (*Process, error) {
	cmd := exec.Command(s.Path, s.Args...) //nolint:gosec,noctx // the harness runs what it is told to; Stop ends it
	cmd.Dir = s.Dir
	// A nil *os.File in an interface would not be nil.
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		cmd.Stderr = s.Stderr
	}
	cmd.SysProcAttr = attributes()
	if err := onCore(s.Core, cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended: nil for status 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Stop asks the process to end, kills it when it has not within grace, and
// waits for its end. It may be called more than once.
func (p *Process) Stop(grace time.Duration) {
	select {
	case <-p.done:
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}
