package vetting

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// child is a process that runs.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    *tail
	modest  bool // see question
}

// start starts one. The error is [ErrUnavailable].
func start(command []string, modest bool) (*child, error) {
	//nolint:gosec,noctx // the command is this binary, and it outlives a question
	c := &child{command: exec.Command(command[0], command[1:]...), said: &tail{most: maxSaid}, modest: modest}
	c.command.Env = []string{"GOMAXPROCS=1", "GOGC=400", "GOMEMLIMIT=256MiB"} // and no secrets
	c.command.Stderr = c.said
	out, err := c.command.StdoutPipe()
	if err == nil {
		c.out = bufio.NewReader(out)
		c.in, err = c.command.StdinPipe()
	}
	if err == nil {
		err = c.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return c, nil
}

// ask asks a question. After an error, as when ctx ends, the child must be ended.
func (c *child) ask(ctx context.Context, q *question) (a *answer, made []byte, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		return nil, nil, err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	a = new(answer)
	if err := json.Unmarshal(line, a); err != nil {
		return nil, nil, err
	}
	if a.Made > 0 {
		made = make([]byte, a.Made)
		_, err = io.ReadFull(c.out, made)
	}
	return a, made, err
}

func (c *child) kill() { _ = c.command.Process.Kill() }

// end ends the child, and returns how it ended.
func (c *child) end() error {
	_ = c.in.Close()
	c.kill()
	return c.command.Wait()
}

// tail keeps the last bytes of what is written to it. Its methods may run in parallel.
type tail struct {
	most int

	mu sync.Mutex
	b  []byte
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - t.most; over > 0 {
		t.b = t.b[:copy(t.b, t.b[over:])]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
