package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTableKinds(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	tables := map[string]func(*Store) *Table{
		"cooldowns": (*Store).Cooldowns, "circuits": (*Store).Circuits, "statistics": (*Store).Statistics,
		"quotas": (*Store).Quotas, "owners": (*Store).Owners,
	}
	if len(tables) != len(kinds) {
		t.Errorf("%d kinds, this test knows %d", len(kinds), len(tables))
	}
	for name, table := range tables {
		table(s).Put("dep", []byte(name), time.Time{})
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	for name, table := range tables {
		want := map[string]string{"dep": name}
		if diff := cmp.Diff(want, tableContent(t, table(s), time.Now())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTablePutLoad(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	long := strings.Repeat("\xfe", MaxID)
	for _, c := range []struct {
		name string
		do   func(*Table)
		want map[string]string
	}{
		{"nothing", func(*Table) {}, map[string]string{}},
		{"the last value wins", func(t *Table) {
			t.Put("a", []byte("1"), time.Time{})
			t.Put("a", []byte("2"), now.Add(time.Second))
		}, map[string]string{"a": fmt.Sprintf("2 until %d", now.Add(time.Second).UnixMilli())}},
		{"over at its very end", func(t *Table) {
			t.Put("over", []byte("1"), now)
			t.Put("not yet", []byte("1"), now.Add(time.Millisecond))
		}, map[string]string{"not yet": fmt.Sprintf("1 until %d", now.Add(time.Millisecond).UnixMilli())}},
		{"deleted", func(t *Table) {
			t.Put("a", []byte("1"), time.Time{})
			t.Put("b", []byte("1"), time.Time{})
			t.Delete("a")
			t.Delete("never there")
		}, map[string]string{"b": "1"}},
		{"deleted and put again", func(t *Table) {
			t.Put("a", []byte("1"), time.Time{})
			t.Delete("a")
			t.Put("a", []byte("2"), time.Time{})
		}, map[string]string{"a": "2"}},
		{"ids of any bytes", func(t *Table) {
			t.Put("", []byte("empty"), time.Time{})
			t.Put("\x00", []byte("zero"), time.Time{})
			t.Put(long, nil, time.Time{})
		}, map[string]string{"": "empty", "\x00": "zero", long: ""}},
		{"more than a page", func(t *Table) {
			for i := range 2*loadPage + 1 {
				t.Put(fmt.Sprintf("id-%d", i), []byte("v"), time.Time{})
			}
		}, func() map[string]string {
			want := make(map[string]string)
			for i := range 2*loadPage + 1 {
				want[fmt.Sprintf("id-%d", i)] = "v"
			}
			return want
		}()},
		{"more bytes than a page", func(t *Table) {
			for i := range 7 {
				t.Put(strconv.Itoa(i), bytes.Repeat([]byte{'x'}, MaxValue), time.Time{})
			}
		}, func() map[string]string {
			want := make(map[string]string)
			for i := range 7 {
				want[strconv.Itoa(i)] = strings.Repeat("x", MaxValue)
			}
			return want
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustOpen(t, t.TempDir(), Options{})
			table := s.Cooldowns()
			c.do(table)
			if err := table.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tableContent(t, table, now)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableCopiesValue(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	value := []byte("before")
	s.Circuits().Put("a", value, time.Time{})
	copy(value, "after!")
	if err := s.Circuits().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := tableContent(t, s.Circuits(), time.Now())["a"]; got != "before" {
		t.Errorf("got %q, want %q", got, "before")
	}
}

func TestTableLoadDropsOverdue(t *testing.T) {
	now := time.Now()
	s := mustOpen(t, t.TempDir(), Options{})
	table := s.Cooldowns()
	table.Put("over", []byte("1"), now.Add(-time.Second))
	table.Put("again", []byte("1"), now.Add(-time.Second))
	table.Put("live", []byte("1"), time.Time{})
	if err := table.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := table.Load(now, func(id string, _ []byte, _ time.Time) error {
		if id != "live" {
			t.Errorf("loaded %q, which is over", id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table.Put("again", []byte("2"), time.Time{}) // newer than the removal that Load queued
	if err := table.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	past := now.Add(-time.Hour) // at which all three would be shown
	if diff := cmp.Diff(map[string]string{"live": "1", "again": "2"}, tableContent(t, table, past)); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
}

func TestTableLoadStops(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	s.Cooldowns().Put("a", nil, time.Time{})
	s.Cooldowns().Put("b", nil, time.Time{})
	if err := s.Cooldowns().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	boom, calls := errors.New("boom"), 0
	err := s.Cooldowns().Load(time.Now(), func(string, []byte, time.Time) error {
		calls++
		return boom
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), `load cooldowns "a"`) || calls != 1 {
		t.Errorf("got %v after %d calls, want boom after 1", err, calls)
	}
}

func TestTableDrops(t *testing.T) {
	var log journal
	tune := defaultTuning
	tune.tableRecords, tune.tableBytes = 3, 1000
	for _, c := range []struct {
		name string
		do   func(*Table)
		want string
	}{
		{"id too long", func(t *Table) { t.Put(strings.Repeat("x", MaxID+1), nil, time.Time{}) }, "id of 4097 bytes"},
		{"value too long", func(t *Table) { t.Put("a", make([]byte, MaxValue+1), time.Time{}) }, "value of 1048577 bytes"},
		{"too many records", func(t *Table) {
			for i := range 4 {
				t.Put(strconv.Itoa(i), nil, time.Time{})
			}
			t.Put("0", []byte("a known id has a place"), time.Time{})
		}, "3 records wait"},
		{"too many bytes", func(t *Table) {
			t.Put("a", make([]byte, 900), time.Time{})
			t.Put("b", make([]byte, 900), time.Time{})
		}, "1 records wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, disk := openFlaky(t, t.TempDir(), Options{Logger: log.logger()}, tune)
			disk.set(syscall.ENOSPC, false)
			_, wake := quietWriter(t, s)
			c.do(s.Circuits())
			wake()
			err := s.Circuits().Sync(t.Context())
			if !errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %v with %q", err, ErrDropped, c.want)
			}
			if got := s.Stats().Dropped; got != 1 {
				t.Errorf("%d dropped, want 1", got)
			}
			disk.set(nil, false)
			for err = ErrDropped; err != nil && !errors.Is(err, context.DeadlineExceeded); {
				err = s.Circuits().Sync(t.Context())
				if errors.Is(err, ErrDropped) {
					t.Fatal("a drop is told twice")
				}
			}
		})
	}
	if got := log.lines("store record dropped"); got != 4 {
		t.Errorf("%d log lines, want 4", got)
	}
}

func TestTableSync(t *testing.T) {
	t.Run("nothing to wait for", func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{})
		if err := s.Cooldowns().Sync(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("statistics are not kept waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := mustOpen(t, t.TempDir(), Options{FlushEvery: time.Hour})
			start := time.Now()
			s.Statistics().Put("a", nil, time.Time{})
			if err := s.Statistics().Sync(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("took %v of a flush interval, want none", took)
			}
			mustClose(t, s)
		})
	})
	t.Run("statistics wait for the flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, disk := openFlaky(t, t.TempDir(), Options{FlushEvery: time.Second}, defaultTuning)
			s.Statistics().Put("a", nil, time.Time{})
			time.Sleep(999 * time.Millisecond) //nolint:forbidigo // the clock of synctest
			synctest.Wait()
			if n := disk.updates.Load(); n != 0 {
				t.Errorf("%d transactions before the flush, want none", n)
			}
			time.Sleep(2 * time.Millisecond) //nolint:forbidigo // the clock of synctest
			synctest.Wait()
			if got := s.Stats().Pending; got != 0 {
				t.Errorf("%d pending after the flush, want none", got)
			}
			mustClose(t, s)
		})
	})
	t.Run("the context ends", func(t *testing.T) {
		s, _ := openFlaky(t, t.TempDir(), Options{}, defaultTuning)
		quietWriter(t, s)
		s.Cooldowns().Put("a", nil, time.Time{})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("shutting down")
		cancel(why)
		if err := s.Cooldowns().Sync(ctx); !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
		if n := len(s.Cooldowns().waiters); n != 0 {
			t.Errorf("%d waiters are left", n)
		}
	})
	t.Run("after Close", func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{})
		mustClose(t, s)
		s.Cooldowns().Put("a", nil, time.Time{})
		if err := s.Cooldowns().Sync(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want %v", err, ErrClosed)
		}
		if err := s.Cooldowns().Load(time.Now(), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want %v", err, ErrClosed)
		}
	})
}

func TestTableSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{})
		now := time.Now()
		for i := range 3 * loadPage {
			s.Circuits().Put(strconv.Itoa(i), nil, now.Add(time.Minute))
		}
		s.Circuits().Put("stays", []byte("1"), time.Time{})
		time.Sleep(3 * time.Minute) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if diff := cmp.Diff(map[string]string{"stays": "1"}, tableContent(t, s.Circuits(), now)); diff != "" {
			t.Errorf("on disk (-want +got):\n%s", diff)
		}
		mustClose(t, s)
	})
}

// TestTableOrder: what is newer wins, however a commit and a sweep fall between.
func TestTableOrder(t *testing.T) {
	now := time.Now()
	over := now.Add(-time.Second)
	for _, c := range []struct {
		name string
		do   func(t *testing.T, table *Table, w *writer)
		want map[string]string
	}{
		{"put while a commit fails", func(t *testing.T, table *Table, w *writer) {
			t.Helper()
			table.Put("a", []byte("older"), time.Time{})
			b := table.take(true)
			table.Put("a", []byte("newer"), time.Time{})
			b.finish(syscall.EIO)
			if err := w.write(true); err != nil {
				t.Error(err)
			}
		}, map[string]string{"a": "newer"}},
		{"deleted while a commit fails", func(t *testing.T, table *Table, w *writer) {
			t.Helper()
			table.Put("a", []byte("older"), time.Time{})
			b := table.take(true)
			table.Delete("a")
			b.finish(syscall.EIO)
			if err := w.write(true); err != nil {
				t.Error(err)
			}
		}, map[string]string{}},
		{"the sweep finds a record that was put again", func(t *testing.T, table *Table, w *writer) {
			t.Helper()
			table.Put("a", []byte("older"), over)
			if err := w.write(true); err != nil {
				t.Error(err)
			}
			table.Put("a", []byte("newer"), time.Time{})
			table.dropOverdue("a", now)
			if err := w.write(true); err != nil {
				t.Error(err)
			}
		}, map[string]string{"a": "newer"}},
		{"the sweep is late", func(t *testing.T, table *Table, w *writer) {
			t.Helper()
			table.Put("a", []byte("newer"), time.Time{})
			if err := w.write(true); err != nil {
				t.Error(err)
			}
			table.dropOverdue("a", now)
			table.dropOverdue("never there", now)
			if err := w.write(true); err != nil {
				t.Error(err)
			}
		}, map[string]string{"a": "newer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustOpen(t, t.TempDir(), Options{})
			w, _ := quietWriter(t, s)
			c.do(t, s.Circuits(), w)
			if diff := cmp.Diff(c.want, tableContent(t, s.Circuits(), over.Add(-time.Hour))); diff != "" {
				t.Errorf("on disk (-want +got):\n%s", diff)
			}
		})
	}
}
