package vetting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/policies"
)

// open returns a Process whose other side does what is said.
func open(t *testing.T, act string) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := New([]string{self, act}, t.TempDir(), slog.New(slog.DiscardHandler))
	p.modest = false // other tests may want all processors
	t.Cleanup(p.Close)
	return p
}

func library(t *testing.T) *policies.Library {
	t.Helper()
	l, err := policies.NewLibrary(policies.Options{Logger: slog.New(slog.DiscardHandler), Sources: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func example(t *testing.T, parts ...string) *policies.Upload {
	t.Helper()
	path := filepath.Join(append([]string{"../.."}, parts...)...)
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &policies.Upload{Name: "p", File: filepath.Base(path), Body: body}
}

// What another process finds is what this one would, and can be used here.
func TestJudgeAsHere(t *testing.T) {
	p := open(t, "serve")
	p.modest = true
	for _, u := range []*policies.Upload{
		example(t, "policies", "admission", "residency.rego"),
		example(t, "testdata", "wasm", "sdk", "rust-ranking.wasm"),
		example(t, "testdata", "wasm", "sdk", "assemblyscript-admission.wasm"),
		{Name: "p", Body: []byte("package gatewright.admission\ndeny contains {\"code\": \"c\"} if input.request.modle == \"m\"\n")},
		{Name: "p", Body: []byte("\x00asm\x01\x00\x00\x00")},
		{Name: "p"},
	} {
		here := library(t)
		want, wantErr := here.Judge(t.Context(), u)
		j, made, err := p.Judge(t.Context(), u)
		if diff := cmp.Diff(wantErr, err); diff != "" {
			t.Errorf("%s: error (-here +there):\n%s", u.File, diff)
		}
		if err != nil {
			continue
		}
		j.Version.Uploaded = want.Version.Uploaded
		if diff := cmp.Diff(want, j); diff != "" {
			t.Errorf("%s (-here +there):\n%s", u.File, diff)
		}
		if isRego := strings.HasSuffix(u.File, ".rego"); isRego != (made != nil) {
			t.Errorf("%s: %d bytes were made", u.File, len(made))
		}
		other := library(t)
		other.Adopt(u, made)
		again, err := other.Judge(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		again.Version.Uploaded = want.Version.Uploaded
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("%s, adopted (-here +there):\n%s", u.File, diff)
		}
	}
}

// The process is kept, and one that has died meanwhile is nobody's fault.
func TestJudgeAgain(t *testing.T) {
	p := open(t, "serve")
	u := example(t, "policies", "admission", "residency.rego")
	var pids []int
	for i := range 3 {
		if i == 2 {
			p.kept.kill()
		}
		if _, _, err := p.Judge(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, p.kept.command.Process.Pid)
	}
	if pids[0] != pids[1] || pids[1] == pids[2] {
		t.Errorf("processes %v, want one for the first two uploads and another after it was killed", pids)
	}
	p.modest = true
	if _, _, err := p.judge(t.Context(), u, false, longestTime); err != nil || p.kept != nil {
		t.Errorf("in competition: %v; such a process is not kept where it is the exception", err)
	}
}

func TestJudgeBrokenOff(t *testing.T) {
	for _, act := range []string{"die", "babble"} {
		_, _, err := open(t, act).Judge(t.Context(), &policies.Upload{Name: "p", File: "f.rego"})
		source, ok := errors.AsType[*policies.SourceError](err)
		if !ok || source.Name != "p" || source.Problems[0].File != "f.rego" {
			t.Errorf("%s: %v", act, err)
		}
	}
}

func TestJudgeInTime(t *testing.T) {
	p := open(t, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := p.Judge(ctx, &policies.Upload{Name: "p"}); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, policies.ErrBusy) {
		t.Errorf("the caller's time is over: %v", err)
	}
	if _, _, err := p.judge(t.Context(), &policies.Upload{Name: "p"}, true, 20*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("its own time is over: %v", err)
	}
}

func TestJudgeUnavailable(t *testing.T) {
	p := New([]string{filepath.Join(t.TempDir(), "none")}, "", slog.New(slog.DiscardHandler))
	defer p.Close()
	if _, _, err := p.Judge(t.Context(), &policies.Upload{Name: "p"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestHammer has more callers than may wait, some of whom leave. Each that is served
// gets the answer to its own question.
func TestHammer(t *testing.T) {
	p := open(t, "serve")
	var wait sync.WaitGroup
	var mu sync.Mutex
	served, busy := 0, 0
	for n := range 2 * maxWaiting {
		wait.Go(func() {
			body := fmt.Sprintf("package gatewright.admission\ndeny contains {\"code\": \"c%d\"} if input.request.hour > 24\n", n)
			ctx, cancel := context.WithCancel(t.Context())
			if n%4 == 3 {
				time.AfterFunc(time.Duration(n)*5*time.Millisecond, cancel)
			}
			defer cancel()
			j, _, err := p.Judge(ctx, &policies.Upload{Name: "p", Body: []byte(body)})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && j.Version.Digest == policies.Digest([]byte(body)):
				served++
			case errors.Is(err, policies.ErrBusy):
				busy++
			case !errors.Is(err, context.Canceled):
				t.Errorf("%d: %v, %v", n, j, err)
			}
		})
	}
	wait.Wait()
	if served == 0 || busy == 0 {
		t.Errorf("%d were served, %d found too many before them", served, busy)
	}
}
