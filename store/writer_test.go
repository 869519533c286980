package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDiskFaults(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v late=%v", fault, late), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { diskFault(t, fault, late) })
			})
		}
	}
}

// diskFault lets the disk fail for a minute; late: what failed is on it anyway.
func diskFault(t *testing.T, fault error, late bool) {
	t.Helper()
	var log journal
	dir := t.TempDir()
	s, disk := openFlaky(t, dir, Options{Logger: log.logger()}, defaultTuning)
	a, now := s.Affinity(), time.Now()
	s.Cooldowns().Put("kept", []byte("before"), time.Time{})
	if err := s.Cooldowns().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk.set(fault, late)
	s.Cooldowns().Put("kept", []byte("during"), time.Time{})
	s.Cooldowns().Put("new", []byte("during"), time.Time{})
	a.Put(Key{1}, "during", now, now.Add(time.Hour))
	if err := s.Cooldowns().Sync(t.Context()); !errors.Is(err, fault) {
		t.Errorf("sync: got %v, want %v", err, fault)
	}
	for range 600 {
		time.Sleep(100 * time.Millisecond)                      //nolint:forbidigo // the clock of synctest
		s.Cooldowns().Put("new", []byte("during"), time.Time{}) // leads to no try of its own
	}
	synctest.Wait()

	if err := s.Err(); !errors.Is(err, fault) {
		t.Errorf("Err: got %v, want %v", err, fault)
	}
	got := s.Stats()
	if got.Pending != 3 || !errors.Is(got.LastError, fault) || got.FailedWrites < 10 || got.FailedWrites > 25 {
		t.Errorf("%d pending, last error %v, %d failed writes in a minute; want 3, %v, 10 to 25", got.Pending, got.LastError, got.FailedWrites, fault)
	}
	if n := log.lines("store cannot write"); n != 1 {
		t.Errorf("%d log lines for one failure, want 1:\n%s", n, &log)
	}
	if value, ok := a.Get(Key{1}, now); !ok || value != "during" {
		t.Errorf("from memory: got %q %v", value, ok)
	}

	s.Cooldowns().Put("new", []byte("newer"), time.Time{})
	a.Put(Key{1}, "newer", now.Add(1), now.Add(time.Hour))
	disk.set(nil, false)
	time.Sleep(2 * defaultTuning.retryMax) //nolint:forbidigo // the clock of synctest
	synctest.Wait()
	if got := s.Stats(); s.Err() != nil || got.Pending != 0 || !errors.Is(got.LastError, fault) {
		t.Errorf("after the disk is back: error %v, %d pending, last error %v", s.Err(), got.Pending, got.LastError)
	}
	if n := log.lines("store writes again"); n != 1 {
		t.Errorf("%d log lines for one recovery, want 1:\n%s", n, &log)
	}
	if disk.badOrder.Load() {
		t.Error("a transaction followed a failed one without Settle")
	}
	mustClose(t, s)

	if err := Check(dir, t.Output()); err != nil {
		t.Error(err)
	}
	s = mustOpen(t, dir, Options{})
	want := map[string]string{"kept": "during", "new": "newer"}
	if diff := cmp.Diff(want, tableContent(t, s.Cooldowns(), now)); diff != "" {
		t.Errorf("cooldowns after a restart (-want +got):\n%s", diff)
	}
	if value, _ := s.Affinity().Get(Key{1}, now); value != "newer" {
		t.Errorf("session after a restart: got %q, want newer", value)
	}
	mustClose(t, s)
}

// TestDiskFaultWithoutWork: the store learns that the disk is back even when
// nothing is left to write.
func TestDiskFaultWithoutWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, disk := openFlaky(t, t.TempDir(), Options{}, defaultTuning)
		disk.set(syscall.EIO, false)
		s.log().affinity.rewrite.Store(true) // a compaction fails, nothing is queued
		s.writer.wakeLazy()
		time.Sleep(time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if err := s.Err(); !errors.Is(err, syscall.EIO) {
			t.Errorf("got %v, want %v", err, syscall.EIO)
		}
		disk.set(nil, false)
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if err := s.Err(); err != nil || s.Stats().Compactions != 1 {
			t.Errorf("error %v, %d compactions; want none, 1", err, s.Stats().Compactions)
		}
		mustClose(t, s)
	})
}

// log is the writer's; only for tests that look inside.
func (s *Store) log() *affinityLog { return s.writer.log }

func TestCloseWhileTheDiskFails(t *testing.T) {
	dir := t.TempDir()
	s, disk := openFlaky(t, dir, Options{}, defaultTuning)
	s.Circuits().Put("a", []byte("1"), time.Time{})
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk.set(syscall.ENOSPC, false)
	s.Circuits().Put("a", []byte("2"), time.Time{})
	s.Circuits().Put("b", []byte("2"), time.Time{})
	err := s.Close()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "2 records not written") {
		t.Errorf("got %v, want %v and the number of records", err, syscall.ENOSPC)
	}
	if again := s.Close(); !errors.Is(again, syscall.ENOSPC) {
		t.Errorf("second Close: got %v, want the same", again)
	}
	s = mustOpen(t, dir, Options{})
	if diff := cmp.Diff(map[string]string{"a": "1"}, tableContent(t, s.Circuits(), time.Now())); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

// TestCloseTriesOnceMore: Close does not wait for the next retry.
func TestCloseTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, disk := openFlaky(t, dir, Options{}, defaultTuning)
		disk.set(syscall.ENOSPC, false)
		s.Circuits().Put("a", []byte("1"), time.Time{})
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
		disk.set(nil, false)
		mustClose(t, s)
		s = mustOpen(t, dir, Options{})
		if diff := cmp.Diff(map[string]string{"a": "1"}, tableContent(t, s.Circuits(), time.Now())); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		mustClose(t, s)
	})
}

// TestPanicInTheDatabase: the gateway goes on from memory, and nothing hangs.
func TestPanicInTheDatabase(t *testing.T) {
	var log journal
	dir := t.TempDir()
	s, disk := openFlaky(t, dir, Options{Logger: log.logger()}, defaultTuning)
	s.Circuits().Put("a", []byte("1"), time.Time{})
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk.mu.Lock()
	disk.panics = true
	disk.mu.Unlock()
	for range 3 {
		s.Circuits().Put("a", []byte("2"), time.Time{})
		if err := s.Circuits().Sync(t.Context()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "page 7 already freed") {
			t.Errorf("got %v, want %v and what bbolt said", err, ErrDamaged)
		}
	}
	if n := disk.updates.Load(); n != 2 {
		t.Errorf("%d transactions were begun, want none after the panic", n-2)
	}
	if !errors.Is(s.Err(), ErrDamaged) || log.lines("store cannot write") != 1 {
		t.Errorf("Err %v, log:\n%s", s.Err(), &log)
	}
	now := time.Now()
	s.Affinity().Put(Key{1}, "a", now, now.Add(time.Hour))
	if value, _ := s.Affinity().Get(Key{1}, now); value != "a" {
		t.Errorf("from memory: got %q", value)
	}
	if err := s.Close(); !errors.Is(err, ErrDamaged) {
		t.Errorf("Close: got %v, want %v", err, ErrDamaged)
	}
	s = mustOpen(t, dir, Options{}) // the lock is free
	if diff := cmp.Diff(map[string]string{"a": "1"}, tableContent(t, s.Circuits(), time.Now())); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

func TestSettleChangesNothing(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	s.Circuits().Put("a", []byte("1"), time.Time{})
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Settle(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the file is another one")
	}
}

// TestHammer uses everything at once; run it with -race. At the end memory and
// disk must agree.
func TestHammer(t *testing.T) {
	dir := t.TempDir()
	tune := smallTuning()
	tune.sweepEvery = time.Millisecond
	s, disk := openFlaky(t, dir, Options{FlushEvery: time.Millisecond, MaxSessions: 1500}, tune)
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	now := time.Now()
	var group sync.WaitGroup
	for g := range uint64(6) {
		group.Go(func() {
			for i := range uint64(rounds) {
				k := sessionKey((i*7 + g*13) % 2000)
				at := now.Add(time.Duration(i) * time.Millisecond)
				s.Affinity().Put(k, target(i), at, at.Add(time.Hour+time.Duration(g)*time.Minute))
				s.Affinity().Get(k, at)
				if i%17 == 0 {
					s.Affinity().Delete(k)
				}
			}
		})
		group.Go(func() {
			tables := []*Table{s.Cooldowns(), s.Circuits(), s.Statistics()}
			for i := range rounds / 10 {
				table, id := tables[i%3], fmt.Sprint(g, i%20)
				table.Put(id, strconv.AppendInt(nil, int64(i), 10), now.Add(time.Hour))
				if i%7 == 0 {
					table.Delete(id)
				}
				if i%11 == 0 {
					_ = table.Sync(t.Context()) // the disk fails now and then
				}
			}
		})
	}
	group.Go(func() {
		for i := range rounds / 10 {
			s.Affinity().Each(func(Key, string, time.Time, time.Time) bool { return true })
			_ = s.Stats()
			_ = s.Err()
			if err := s.Circuits().Load(now, func(string, []byte, time.Time) error { return nil }); err != nil {
				t.Error(err)
			}
			if i%20 == 0 {
				disk.set(syscall.EIO, i%40 == 0)
			}
			if i%20 == 3 {
				disk.set(nil, false)
			}
		}
		disk.set(nil, false)
	})
	group.Wait()
	want := sessions(s.Affinity())
	if s.Affinity().Len() != len(want) || len(want) > 1500 {
		t.Errorf("Len %d, %d sessions, at most 1500", s.Affinity().Len(), len(want))
	}
	mustClose(t, s)
	if disk.badOrder.Load() {
		t.Error("a transaction followed a failed one without Settle")
	}
	if err := Check(dir, t.Output()); err != nil {
		t.Error(err)
	}
	s = mustOpen(t, dir, Options{MaxSessions: 3000})
	got := sessions(s.Affinity())
	for k, e := range want {
		if got[k] != e {
			t.Errorf("session %x: got %+v, want %+v", k, got[k], e)
		}
	}
}

// TestCloseWhileUsed: calls that come during and after Close neither hang nor panic.
func TestCloseWhileUsed(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{FlushEvery: time.Millisecond})
	now, stop := time.Now(), make(chan struct{})
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				s.Affinity().Put(sessionKey(uint64(i%100)), "a", now, now.Add(time.Hour))
				s.Circuits().Put(strconv.Itoa(g), nil, time.Time{})
				if err := s.Circuits().Sync(t.Context()); err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrDropped) {
					t.Error(err)
				}
				_ = s.Stats()
			}
		})
	}
	for s.Stats().Flushes < 5 {
		if err := s.Cooldowns().Sync(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	group.Wait()
}
