package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// crashChild writes until it is killed, and tells on standard output what is
// durable. Values only grow: a later one than acknowledged is fine, an earlier
// one is a loss.
//
//	c ID N   cooldown ID holds at least N
//	s ID N   session ID holds at least N
//	d ID     session ID is forgotten, for good
//	o ID N   the two objects ID hold N or a later number, the same
func crashChild() int {
	tune := smallTuning()
	tune.segmentBytes = 30 << 10
	s, err := open(".", Options{FlushEvery: time.Millisecond}, tune, func(d *database) disk { return d })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	round := 0
	if err := s.Cooldowns().Load(time.Now(), func(_ string, value []byte, _ time.Time) error {
		n, err := strconv.Atoi(string(value))
		round = max(round, n)
		return err
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for {
		round++
		var acks strings.Builder
		now := time.Now()
		for range 3 {
			id := r.IntN(40)
			s.Cooldowns().Put(strconv.Itoa(id), []byte(strconv.Itoa(round)), now.Add(time.Hour))
			fmt.Fprintf(&acks, "c %d %d\n", id, round)
		}
		for range 200 {
			id := r.Uint64N(3000)
			s.Affinity().Put(sessionKey(id), strconv.Itoa(round), time.UnixMilli(int64(round)), now.Add(time.Hour))
			fmt.Fprintf(&acks, "s %d %d\n", id, round)
		}
		gone := uint64(1_000_000 + round)
		s.Affinity().Put(sessionKey(gone), strconv.Itoa(round), time.UnixMilli(int64(round)), now.Add(time.Hour))
		s.Affinity().Delete(sessionKey(gone - 1))
		fmt.Fprintf(&acks, "d %d\n", gone-1)
		// The sessions are taken by one transaction, and the cooldown by the
		// same or a later one of the same goroutine.
		for s.Affinity().waiting() > 0 || s.Affinity().unlisted() {
			<-time.After(time.Millisecond)
		}
		s.Cooldowns().Put("last", []byte(strconv.Itoa(round)), time.Time{})
		if err := s.Cooldowns().Sync(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		id := strconv.Itoa(r.IntN(10))
		value := []byte(strconv.Itoa(round))
		if err := s.Objects().Write(ctx, ObjectChange{"left", id, value}, ObjectChange{"right", id, value}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Fprintf(&acks, "o %s %d\n", id, round)
		if _, err := os.Stdout.WriteString(acks.String()); err != nil {
			return 1
		}
	}
}

// acked is what the children have told so far.
type acked struct {
	cooldowns, sessions, objects map[string]int
	gone                         []uint64
}

// read takes in the whole lines of a child's output.
func (a *acked) read(t *testing.T, line string) {
	t.Helper()
	f := strings.Fields(line)
	switch f[0] {
	case "c", "s", "o":
		n, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		m := map[string]map[string]int{"c": a.cooldowns, "s": a.sessions, "o": a.objects}[f[0]]
		m[f[1]] = max(m[f[1]], n)
	case "d":
		id, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		a.gone = append(a.gone, id)
	default:
		t.Fatalf("line %q", line)
	}
}

// TestKill kills a process that writes, again and again: the file is sound each
// time and holds everything that was acknowledged.
func TestKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	dir := t.TempDir()
	told := &acked{cooldowns: make(map[string]int), sessions: make(map[string]int), objects: make(map[string]int)}
	end := time.Now().Add(15 * time.Second)
	for round := 0; round < rounds && time.Now().Before(end); round++ {
		lines := killAfter(t, dir, time.Duration(20+rand.IntN(150))*time.Millisecond)
		for _, line := range lines {
			told.read(t, line)
		}
		if err := Check(dir, t.Output()); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, Options{})
		cooldowns := tableContent(t, s.Cooldowns(), time.UnixMilli(0))
		for id, want := range told.cooldowns {
			got, _, _ := strings.Cut(cooldowns[id], " ")
			if n, err := strconv.Atoi(got); err != nil || n < want {
				t.Errorf("round %d: cooldown %s is %q, acknowledged %d", round, id, got, want)
			}
		}
		objects := objectsOf(t, s, "left", "right")
		for id, want := range told.objects {
			left, right := objects["left/"+id], objects["right/"+id]
			if n, err := strconv.Atoi(left); err != nil || n < want || left != right {
				t.Errorf("round %d: object %s is %q and %q, acknowledged %d", round, id, left, right, want)
			}
		}
		for id, want := range told.sessions {
			n, err := strconv.ParseUint(id, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := s.Affinity().Get(sessionKey(n), time.Now())
			if n, err := strconv.Atoi(got); err != nil || n < want {
				t.Errorf("round %d: session %s is %q, acknowledged %d", round, id, got, want)
			}
		}
		for _, id := range told.gone {
			if got, ok := s.Affinity().Get(sessionKey(id), time.Now()); ok {
				t.Errorf("round %d: session %d is back: %q", round, id, got)
			}
		}
		mustClose(t, s)
	}
	t.Logf("%d cooldowns, %d sessions, %d removals acknowledged", len(told.cooldowns), len(told.sessions), len(told.gone))
	if len(told.cooldowns) == 0 || len(told.sessions) == 0 || len(told.gone) == 0 || len(told.objects) == 0 {
		t.Error("nothing was acknowledged, so nothing was tested")
	}
}

// killAfter starts a child, kills it that long after its first line, and returns
// its whole lines.
func killAfter(t *testing.T, dir string, after time.Duration) []string {
	t.Helper()
	cmd := command(t, "crash", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	var lines []string
	var kill *time.Timer
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break // a line that was cut by the kill was not acknowledged
		}
		if kill == nil {
			kill = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		lines = append(lines, line)
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return lines
}
