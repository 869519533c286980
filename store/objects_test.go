package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// objectsOf reads all objects of some kinds as "kind/id" -> value.
func objectsOf(tb testing.TB, s *Store, kinds ...string) map[string]string {
	tb.Helper()
	got := make(map[string]string)
	for _, kind := range kinds {
		err := s.Objects().Each(kind, func(id string, value []byte) error {
			got[kind+"/"+id] = string(value)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return got
}

func put(kind, id, value string) ObjectChange {
	return ObjectChange{Kind: kind, ID: id, Value: []byte(value)}
}

func TestObjects(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	o := s.Objects()
	large := strings.Repeat("x", 3<<20)
	if err := o.Write(t.Context(), put("policy", "b", "1"), put("policy", "a", "2"), put("blob", "", large), put("policy", "empty", "")); err != nil {
		t.Fatal(err)
	}
	if err := o.Write(t.Context(), put("policy", "b", "3"), ObjectChange{Kind: "policy", ID: "a"}, ObjectChange{Kind: "none", ID: "a"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"policy/b": "3", "policy/empty": "", "blob/": large}
	if diff := cmp.Diff(want, objectsOf(t, s, "policy", "blob", "none", "never")); diff != "" {
		t.Error(diff)
	}
	if v, ok, err := o.Get("policy", "b"); string(v) != "3" || !ok || err != nil {
		t.Errorf("got %q, %v, %v", v, ok, err)
	}
	if v, ok, err := o.Get("policy", "empty"); v == nil || !ok || err != nil {
		t.Errorf("got %q, %v, %v; an empty object is one", v, ok, err)
	}
	if _, ok, err := o.Get("policy", "a"); ok || err != nil {
		t.Errorf("a removed object: %v, %v", ok, err)
	}
	stop := errors.New("stop")
	if err := o.Each("policy", func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the callee's error", err)
	}
	mustClose(t, s)
	if err := o.Write(t.Context(), put("policy", "b", "4")); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	if _, _, err := o.Get("policy", "b"); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	var report strings.Builder
	if err := Check(dir, &report); err != nil || !strings.Contains(report.String(), "objects policy: 2 records") {
		t.Errorf("check: %v\n%s", err, report.String())
	}
	if _, _, err := Compact(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, objectsOf(t, mustOpen(t, dir, Options{}), "policy", "blob")); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
}

func TestObjectsRefuse(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	for name, c := range map[string]ObjectChange{
		"no kind":   {ID: "a"},
		"NUL":       {Kind: "a\x00b"},
		"long kind": {Kind: strings.Repeat("k", maxObjectKind+1)},
		"long id":   {Kind: "k", ID: strings.Repeat("i", MaxID+1)},
		"large":     {Kind: "k", Value: make([]byte, MaxObject+1)},
	} {
		if err := s.Objects().Write(t.Context(), put("k", "good", "1"), c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := objectsOf(t, s, "k"); len(got) != 0 {
		t.Errorf("got %v, want nothing of a write that was refused", got)
	}
}

// TestObjectsDiskFails: a write that failed leaves nothing, whether its
// transaction reached the disk or not.
func TestObjectsDiskFails(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("reached the disk: %v", late), func(t *testing.T) {
			tune := smallTuning()
			tune.retryMin, tune.retryMax = time.Millisecond, time.Millisecond
			dir := t.TempDir()
			s, disk := openFlaky(t, dir, Options{}, tune)
			o := s.Objects()
			if err := o.Write(t.Context(), put("k", "a", "old"), put("k", "gone", "old")); err != nil {
				t.Fatal(err)
			}
			disk.set(syscall.ENOSPC, late)
			for range 3 {
				err := o.Write(t.Context(), put("k", "a", "new"), put("k", "b", "new"), ObjectChange{Kind: "k", ID: "gone"}, put("k", "a", "newer"))
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("got %v, want what the disk said", err)
				}
			}
			disk.set(nil, false)
			if err := o.Write(t.Context(), put("k", "c", "next")); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"k/a": "old", "k/gone": "old", "k/c": "next"}
			if diff := cmp.Diff(want, objectsOf(t, s, "k")); diff != "" {
				t.Error(diff)
			}
			if disk.badOrder.Load() {
				t.Error("the file was not settled before the next transaction")
			}
			mustClose(t, s)
			if diff := cmp.Diff(want, objectsOf(t, mustOpen(t, dir, Options{}), "k")); diff != "" {
				t.Errorf("after a restart: %s", diff)
			}
		})
	}
}

// TestObjectsWithdrawn: a write whose caller left before it began is not made.
func TestObjectsWithdrawn(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	_, wake := quietWriter(t, s)
	ctx, leave := context.WithCancelCause(t.Context())
	why := errors.New("the client left")
	leave(why)
	if err := s.Objects().Write(ctx, put("k", "a", "1")); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	wake()
	if err := s.Objects().Write(t.Context(), put("k", "b", "1")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"k/b": "1"}, objectsOf(t, s, "k")); diff != "" {
		t.Error(diff)
	}
}

// TestObjectsHammer writes pairs from many goroutines while others read: nobody
// ever sees half of a pair.
func TestObjectsHammer(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{FlushEvery: time.Millisecond})
	o := s.Objects()
	var writing, reading sync.WaitGroup
	stop := make(chan struct{})
	for w := range 8 {
		writing.Go(func() {
			for i := range 20 {
				v := strconv.Itoa(i)
				id := strconv.Itoa(w)
				if err := o.Write(t.Context(), put("k", id+"l", v), put("k", id+"r", v)); err != nil {
					t.Error(err)
				}
				s.Statistics().Put(id, []byte(v), time.Time{})
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := objectsOf(t, s, "k")
				for w := range 8 {
					if l, r := got[fmt.Sprintf("k/%dl", w)], got[fmt.Sprintf("k/%dr", w)]; l != r {
						t.Errorf("writer %d: half of a write is seen: %q and %q", w, l, r)
					}
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	if got := objectsOf(t, s, "k"); len(got) != 16 || got["k/7r"] != "19" {
		t.Errorf("got %v", got)
	}
}

func TestObjectsBackward(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	for _, id := range []string{"b", "a", "d", "c"} {
		if err := s.Objects().Write(t.Context(), put("log", id, strings.ToUpper(id))); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		before, want string
		most         int
	}{{"", "dcba", 9}, {"", "dc", 2}, {"c", "ba", 9}, {"bb", "ba", 9}, {"z", "dcba", 9}, {"a", "", 9}, {"0", "", 9}} {
		got := ""
		err := s.Objects().Backward("log", tc.before, func(id string, value []byte) (bool, error) {
			if string(value) != strings.ToUpper(id) {
				t.Errorf("%s: %q", id, value)
			}
			got += id
			return len(got) < tc.most, nil
		})
		if err != nil || got != tc.want {
			t.Errorf("before %q: got %s, %v; want %s", tc.before, got, err, tc.want)
		}
	}
	stop := errors.New("stop")
	if err := s.Objects().Backward("log", "", func(string, []byte) (bool, error) { return true, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
