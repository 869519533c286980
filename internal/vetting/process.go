package vetting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gatewright/policies"
)

const (
	// cpuLimit is how many seconds of a processor a judgement may take: the check of
	// an upload bounds it to two or three.
	cpuLimit = 10
	// modestTime is how long one is awaited that runs only while nothing else does.
	// On a machine that is never idle it is done again, in competition with the rest.
	modestTime = 2 * time.Second
	// longestTime is how long that may take.
	longestTime = 30 * time.Second
	// keepTime is how long the process is kept for the next upload: starting one costs
	// as much as most judgements.
	keepTime = 10 * time.Second

	// maxWaiting is how many uploads may wait for their turn.
	maxWaiting = 16
	// maxSaid is how much is kept of what the process says beside its answers, in bytes.
	maxSaid = 4 << 10
)

// ErrUnavailable means that the process cannot be started.
var ErrUnavailable = errors.New("no process for judging policies")

// Process judges uploads, one at a time. Its methods may run in parallel.
type Process struct {
	command  []string
	cacheDir string
	logger   *slog.Logger
	modest   bool // see question: first without competing, and such a process is kept

	waiting chan struct{} // a place for each call
	turn    chan struct{} // one place: taken by the call whose turn it is

	mu     sync.Mutex
	kept   *child // waits for the next call
	timer  *time.Timer
	closed bool
}

// New returns a Process that runs the command, which must call [Serve]. cacheDir is
// where compiled code is kept. It must be closed.
func New(command []string, cacheDir string, logger *slog.Logger) *Process {
	p := &Process{
		command: command, cacheDir: cacheDir, logger: logger, modest: true,
		turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting),
	}
	p.timer = time.AfterFunc(keepTime, p.drop)
	return p
}

// Close ends what waits. Calls that run end by their contexts.
func (p *Process) Close() {
	p.mu.Lock()
	p.closed = true
	p.timer.Stop()
	p.mu.Unlock()
	p.drop()
}

// Judge is as [policies.Library.Judge]; made is for [policies.Library.Adopt]. It also
// returns [ErrUnavailable], and [policies.ErrBusy] when too many wait.
func (p *Process) Judge(ctx context.Context, u *policies.Upload) (j *policies.Judgement, made []byte, err error) {
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	default:
		return nil, nil, fmt.Errorf("policy %q: %w: %d uploads wait already", u.Name, policies.ErrBusy, maxWaiting)
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if p.modest {
		j, made, err = p.judge(ctx, u, true, modestTime)
	}
	if !p.modest || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		j, made, err = p.judge(ctx, u, false, longestTime)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("policy %q: %w: the machine had no time for it within %s", u.Name, policies.ErrBusy, modestTime+longestTime)
	}
	return j, made, err
}

// judge has an upload judged within a time.
func (p *Process) judge(ctx context.Context, u *policies.Upload, modest bool, within time.Duration) (*policies.Judgement, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c := p.take(modest)
	old := c != nil
	for {
		if c == nil {
			var err error
			if c, err = start(p.command, modest); err != nil {
				return nil, nil, err
			}
		}
		a, made, err := c.ask(ctx, &question{CacheDir: p.cacheDir, Modest: modest, Upload: *u})
		if err == nil {
			p.keep(c)
			j, err := a.result(u)
			return j, made, err
		}
		err = errors.Join(err, c.end())
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case !old:
			return nil, nil, p.broken(ctx, u, err, c.said.String())
		}
		c, old = nil, false // it may have been broken before
	}
}

// take returns the process that waits; nil = there is none.
func (p *Process) take(modest bool) *child {
	p.mu.Lock()
	c := p.kept
	p.kept = nil
	p.timer.Stop()
	p.mu.Unlock()
	if c != nil && c.modest != modest {
		_ = c.end() // it was killed
		return nil
	}
	return c
}

// keep lets a process wait for the next upload. One that competes with the rest, where
// that is the exception, does not.
func (p *Process) keep(c *child) {
	p.mu.Lock()
	wanted := !p.closed && c.modest == p.modest
	if wanted {
		p.kept = c
		p.timer.Reset(keepTime)
	}
	p.mu.Unlock()
	if !wanted {
		_ = c.end() // it was killed
	}
}

// drop ends the process that waits.
func (p *Process) drop() {
	p.mu.Lock()
	c := p.kept
	p.kept = nil
	p.mu.Unlock()
	if c != nil {
		_ = c.end() // it was killed
	}
}

// broken explains a process that ended without an answer: the upload has done that.
func (p *Process) broken(ctx context.Context, u *policies.Upload, err error, said string) error {
	p.logger.WarnContext(ctx, "judging a policy broke off", slog.String("policy", u.Name), slog.Any("error", err), slog.String("said", said))
	return &policies.SourceError{Name: u.Name, Problems: []policies.Problem{{
		File: u.File, Rule: "compile",
		Message: "the compiler broke off: it used more than its time or memory, or failed",
		Fix:     "make the policy smaller or simpler",
	}}}
}

// result is what an answer says.
func (a *answer) result(u *policies.Upload) (*policies.Judgement, error) {
	switch {
	case a.Refused != nil:
		return nil, a.Refused
	case a.Judgement != nil:
		return a.Judgement, nil
	}
	return nil, fmt.Errorf("policy %q: %s", u.Name, a.Failed)
}
