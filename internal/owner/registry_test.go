package owner

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatewright/engine"
	"gatewright/store"
)

var _ Table = (*store.Table)(nil)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// clock is a wall clock that a test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: start} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// memTable is a table that outlives registries.
type memTable struct {
	mu      sync.Mutex
	records map[string]memRecord
	puts    int
	loadErr error
}

type memRecord struct {
	value   []byte
	expires time.Time
}

func newTable() *memTable { return &memTable{records: make(map[string]memRecord)} }

func (m *memTable) Put(id string, value []byte, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	m.records[id] = memRecord{bytes.Clone(value), expires}
}

func (m *memTable) Delete(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
}

func (m *memTable) Load(now time.Time, each func(string, []byte, time.Time) error) error {
	if m.loadErr != nil {
		return m.loadErr
	}
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		if r := m.records[id]; now.Before(r.expires) {
			if err := each(id, r.value, r.expires); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memTable) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.records)
}

func open(tb testing.TB, o Options) *Registry {
	tb.Helper()
	r, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func response(id string) engine.Issue { return engine.Issue{Kind: engine.IssueResponse, ID: id} }

var alice = &engine.Caller{Org: "acme", Team: "web", Key: "alice"}

func TestWhatWasIssuedIsTheCallersOwn(t *testing.T) {
	r := open(t, Options{})
	r.Put(alice, "a/m", response("resp_1"))
	for name, c := range map[string]struct {
		caller *engine.Caller
		issue  engine.Issue
		want   bool
	}{
		"the caller itself":       {alice, response("resp_1"), true},
		"another id":              {alice, response("resp_2"), false},
		"the same id as an item":  {alice, engine.Issue{Kind: engine.IssueItem, ID: "resp_1"}, false},
		"another key":             {&engine.Caller{Org: "acme", Team: "web", Key: "bob"}, response("resp_1"), false},
		"the key of another team": {&engine.Caller{Org: "acme", Team: "app", Key: "alice"}, response("resp_1"), false},
		"names that run together": {&engine.Caller{Org: "acmeweb", Key: "alice"}, response("resp_1"), false},
		"nobody in particular":    {&engine.Caller{}, response("resp_1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := r.Find(c.caller, c.issue)
			if ok != c.want || (ok && got != "a/m") {
				t.Errorf("found %q %v, want %v", got, ok, c.want)
			}
		})
	}
}

func TestAConversationIsClaimed(t *testing.T) {
	r := open(t, Options{})
	conversation := engine.Issue{Kind: engine.IssueConversation, ID: "conv_1"}
	if r.Claimed(conversation) {
		t.Error("claimed before anybody used it")
	}
	r.Put(alice, "a/m", conversation, response("resp_1"))
	if _, ok := r.Find(alice, conversation); !ok || !r.Claimed(conversation) {
		t.Error("not claimed by its user")
	}
	if r.Claimed(response("resp_1")) {
		t.Error("a response is claimed like a conversation")
	}
}

func TestItOutlivesTheProcessForThirtyDays(t *testing.T) {
	c, table := newClock(), newTable()
	o := Options{Table: table, Clock: c.now}
	open(t, o).Put(alice, "a/m", response("resp_1"))
	c.move(Keep - time.Second)
	again := open(t, o)
	if got, ok := again.Find(alice, response("resp_1")); !ok || got != "a/m" {
		t.Fatalf("after a restart: %q %v", got, ok)
	}
	c.move(time.Second)
	if _, ok := again.Find(alice, response("resp_1")); ok {
		t.Error("found after thirty days")
	}
	again.Put(alice, "a/m", response("resp_2"))
	if len(again.records) != 1 || table.len() != 1 {
		t.Errorf("%d in memory, %d on disk, want the new one alone", len(again.records), table.len())
	}
}

func TestWhatIsSeenAgainIsKeptLonger(t *testing.T) {
	c, table := newClock(), newTable()
	r := open(t, Options{Table: table, Clock: c.now})
	r.Put(alice, "a/m", response("resp_1"))
	c.move(renew - time.Second)
	r.Put(alice, "a/m", response("resp_1"))
	if table.puts != 1 {
		t.Errorf("written %d times within a day, want once", table.puts)
	}
	c.move(time.Second)
	r.Put(alice, "a/m", response("resp_1"))
	c.move(Keep - time.Second)
	if _, ok := r.Find(alice, response("resp_1")); !ok || table.puts != 2 {
		t.Errorf("found %v after %d writes, want it kept by the second", ok, table.puts)
	}
}

func TestTheNewestIssuerCounts(t *testing.T) {
	table := newTable()
	r := open(t, Options{Table: table})
	r.Put(alice, "a/m", response("resp_1"))
	r.Put(alice, "b/m", response("resp_1"))
	for name, r := range map[string]*Registry{"before": r, "after a restart": open(t, Options{Table: table})} {
		if got, _ := r.Find(alice, response("resp_1")); got != "b/m" {
			t.Errorf("%s: %q, want b/m", name, got)
		}
	}
}

func TestTheOldestGiveWay(t *testing.T) {
	c, table := newClock(), newTable()
	var log strings.Builder
	o := Options{Table: table, Clock: c.now, Max: 3, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	r := open(t, o)
	for i := range 5 {
		r.Put(alice, "a/m", response(strconv.Itoa(i)))
		c.move(time.Second)
	}
	check := func(name string, r *Registry, left string) {
		t.Helper()
		var got []byte
		for i := range 5 {
			if _, ok := r.Find(alice, response(strconv.Itoa(i))); ok {
				got = strconv.AppendInt(got, int64(i), 10)
			}
		}
		if string(got) != left {
			t.Errorf("%s: %q are left, want %q", name, got, left)
		}
	}
	check("beyond the bound", r, "234")
	if table.len() != 3 || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("%d on disk, log %q", table.len(), log.String())
	}
	o.Max = 2
	check("with a smaller bound", open(t, o), "34")
	if table.len() != 2 {
		t.Errorf("%d on disk, want 2", table.len())
	}
}

func TestForget(t *testing.T) {
	c, table := newClock(), newTable()
	r := open(t, Options{Table: table, Clock: c.now})
	for i := range 3 * slack {
		id := response(strconv.Itoa(i))
		r.Put(alice, "a/m", id)
		r.Forget(alice, id)
		r.Forget(alice, id) // what is not there need not be
		if _, ok := r.Find(alice, id); ok {
			t.Fatal("found what was forgotten")
		}
	}
	if n := len(r.oldest.list); n > 2*slack {
		t.Errorf("%d entries stand for nothing", n)
	}
	if table.len() != 0 {
		t.Errorf("%d on disk", table.len())
	}
}

func TestLoadDropsWhatItDoesNotUnderstand(t *testing.T) {
	table := newTable()
	r := open(t, Options{Table: table})
	r.Put(alice, "a/m", response("resp_1"))
	later := time.Now().Add(time.Hour)
	table.Put("short", []byte("\x01a/m"), later)
	table.Put(strings.Repeat("k", 16), []byte("\x02a/m"), later)
	table.Put(strings.Repeat("l", 16), nil, later)
	var log strings.Builder
	again := open(t, Options{Table: table, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if _, ok := again.Find(alice, response("resp_1")); !ok || table.len() != 1 {
		t.Errorf("found %v, %d on disk", ok, table.len())
	}
	if !strings.Contains(log.String(), "count=3") {
		t.Errorf("log %q", log.String())
	}
	table.loadErr = errors.New("unreadable")
	if _, err := New(Options{Table: table}); !errors.Is(err, table.loadErr) {
		t.Errorf("error %v", err)
	}
}

func TestItIsKeptInAStore(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, Options{Table: s.Owners()})
		if _, ok := r.Find(alice, response("resp_1")); ok != (round == 1) {
			t.Errorf("round %d: found %v", round, ok)
		}
		r.Put(alice, "a/m", response("resp_1"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgainstAModel compares the registry with a list that is searched from its
// end, through restarts.
func TestAgainstAModel(t *testing.T) {
	type known struct {
		caller, id, deployment string
		expires                time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		c, table := newClock(), newTable()
		o := Options{Table: table, Clock: c.now, Max: 1000}
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var model []known
		names := rapid.SampledFrom([]string{"x", "y", "z"})
		find := func(caller, id string) int {
			for i, k := range slices.Backward(model) {
				if k.caller == caller && k.id == id {
					return i
				}
			}
			return -1
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			caller, id := names.Draw(t, "caller"), names.Draw(t, "id")
			who := &engine.Caller{Key: caller}
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				d := names.Draw(t, "deployment")
				r.Put(who, d, response(id))
				if i := find(caller, id); i < 0 || model[i].deployment != d || model[i].expires.Sub(c.now()) <= Keep-renew {
					model = append(model, known{caller, id, d, c.now().Add(Keep)})
				}
			case 1:
				r.Forget(who, response(id))
				model = slices.DeleteFunc(model, func(k known) bool { return k.caller == caller && k.id == id })
			case 2:
				c.move(time.Duration(rapid.IntRange(0, 20*24).Draw(t, "hours")) * time.Hour)
			case 3:
				if r, err = New(o); err != nil {
					t.Fatal(err)
				}
			}
			i := find(caller, id)
			want := i >= 0 && model[i].expires.After(c.now())
			if got, ok := r.Find(who, response(id)); ok != want || (ok && got != model[i].deployment) {
				t.Fatalf("%s %s: found %q %v, want %v", caller, id, got, ok, want)
			}
		}
	})
}

// TestHammer uses one registry from many goroutines at once.
func TestHammer(t *testing.T) {
	table := newTable()
	const most = 64
	r := open(t, Options{Table: table, Max: most})
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			who := &engine.Caller{Key: strconv.Itoa(worker % 3)}
			for i := range 500 {
				id := response(strconv.Itoa(i % 40))
				r.Put(who, "a/m", id)
				if got, ok := r.Find(who, id); ok && got != "a/m" {
					t.Errorf("found %q", got)
				}
				if i%7 == 0 {
					r.Forget(who, id)
				}
			}
		})
	}
	wait.Wait()
	if n := table.len(); n != len(r.records) || n > most {
		t.Errorf("%d on disk, %d in memory, at most %d", n, len(r.records), most)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(strings.Repeat("k", 16), []byte("\x01a/m"))
	f.Add("", []byte(nil))
	f.Add(strings.Repeat("k", 17), []byte("\x02"))
	f.Fuzz(func(t *testing.T, id string, value []byte) {
		k, deployment, err := decode(id, value)
		if err != nil {
			return
		}
		if string(k[:]) != id || string(append([]byte{version}, deployment...)) != string(value) {
			t.Errorf("%q %q read as %x %q", id, value, k, deployment)
		}
	})
}
