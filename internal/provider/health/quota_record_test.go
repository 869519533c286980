package health

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
)

func TestCounterRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := storedCounter{
			unit: QuotaUnit(rapid.IntRange(0, int(quotaUnits)-1).Draw(t, "unit")),
			time: hold{
				begin:  rapid.Int64Range(-maxInstant, maxInstant).Draw(t, "begin"),
				length: time.Duration(rapid.Int64Range(1, int64(maxReset)).Draw(t, "length")),
			},
			used: rapid.Int64Range(0, math.MaxInt64).Draw(t, "used"),
		}
		got, err := decodeCounter(encodeCounter(want))
		if err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

// drawSighting returns a sighting as a board could have it.
func drawSighting(t *rapid.T) sighting {
	s := sighting{
		name:   rapid.StringN(1, 16, maxWindowName).Draw(t, "name"),
		period: time.Duration(rapid.Int64Range(0, int64(maxReset)).Draw(t, "period")),
		left:   rapid.Int64Range(-1, ppm).Draw(t, "left"),
		resets: rapid.Int64Range(-maxInstant, maxInstant).Draw(t, "resets"),
		taken:  rapid.Int64Range(-maxInstant, maxInstant).Draw(t, "taken"),
	}
	if s.left < 0 {
		s.left = engine.Unknown
	}
	return s
}

func TestBoardRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawSighting), 0, maxReported).Draw(t, "windows")
		got, err := decodeBoard(encodeBoard(want))
		if diff := cmp.Diff(want, append([]sighting{}, got...), cmp.AllowUnexported(sighting{})); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestBadQuotaRecords(t *testing.T) {
	good := storedCounter{time: hold{begin: start.UnixNano(), length: time.Hour}, used: 5}
	seen := sighting{name: "w", left: 1, taken: start.UnixNano()}
	with := func(change func(*storedCounter)) []byte {
		c := good
		change(&c)
		return encodeCounter(c)
	}
	board := func(change func(*sighting)) []byte {
		s := seen
		change(&s)
		return encodeBoard([]sighting{s})
	}
	counter := func(b []byte) error { _, err := decodeCounter(b); return err }
	list := func(b []byte) error { _, err := decodeBoard(b); return err }
	record, many := encodeCounter(good), make([]sighting, maxReported+1)
	for i := range many {
		many[i] = seen
	}
	cases := []struct {
		name   string
		decode func([]byte) error
		b      []byte
		want   error
	}{
		{"no counter", counter, nil, errRecord},
		{"a counter of another version", counter, []byte{counterVersion + 1, 0, 2, 2, 2}, errVersion},
		{"a counter that is cut", counter, record[:len(record)-1], errRecord},
		{"bytes behind a counter", counter, append(bytes.Clone(record), 0), errRecord},
		{"a unit that is none", counter, with(func(c *storedCounter) { c.unit = quotaUnits }), errRecord},
		{"less than nothing used", counter, with(func(c *storedCounter) { c.used = -1 }), errRecord},
		{"a window without length", counter, with(func(c *storedCounter) { c.time.length = 0 }), errRecord},
		{"an endless window", counter, with(func(c *storedCounter) { c.time.length = math.MaxInt64 }), errRecord},
		{"beyond all clocks", counter, with(func(c *storedCounter) { c.time.begin = math.MinInt64 }), errRecord},
		{"no board", list, nil, errRecord},
		{"a board of another version", list, []byte{boardVersion + 1}, errVersion},
		{"a board that is cut", list, board(func(*sighting) {})[:5], errRecord},
		{"a window without name", list, board(func(s *sighting) { s.name = "" }), errRecord},
		{"a very long name", list, board(func(s *sighting) { s.name = strings.Repeat("x", maxWindowName+1) }), errRecord},
		{"a negative period", list, board(func(s *sighting) { s.period = -1 }), errRecord},
		{"more left than all", list, board(func(s *sighting) { s.left = ppm + 1 }), errRecord},
		{"a reset beyond all clocks", list, board(func(s *sighting) { s.resets = math.MaxInt64 }), errRecord},
		{"taken beyond all clocks", list, board(func(s *sighting) { s.taken = math.MinInt64 }), errRecord},
		{"too many windows", list, encodeBoard(many), errRecord},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.decode(c.b); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// FuzzCounter reads any bytes: an error or a counter that reads the same again.
func FuzzCounter(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{counterVersion})
	f.Add([]byte{counterVersion, byte(quotaUnits), 2, 2, 2})
	f.Add(encodeCounter(storedCounter{unit: QuotaUSD, time: hold{begin: start.UnixNano(), length: time.Hour}, used: math.MaxInt64}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeCounter(b)
		if err != nil {
			return
		}
		if c.time.end() <= c.time.begin || c.used < 0 || c.unit >= quotaUnits {
			t.Fatalf("a window that cannot be: %+v", c)
		}
		if again, err := decodeCounter(encodeCounter(c)); err != nil || again != c {
			t.Fatalf("read again: %+v, %v; want %+v", again, err, c)
		}
	})
}

// FuzzBoard reads any bytes: an error, or windows that read the same again and
// can be handed out.
func FuzzBoard(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{boardVersion})
	f.Add([]byte{boardVersion, 1, 'w', 0, 1, 0})
	f.Add(encodeBoard([]sighting{{name: "5h", period: 5 * time.Hour, left: 0, resets: start.UnixNano(), taken: start.UnixNano()}, {name: "unified", left: engine.Unknown}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodeBoard(b)
		if err != nil {
			return
		}
		again, err := decodeBoard(encodeBoard(list))
		if diff := cmp.Diff(list, again, cmp.AllowUnexported(sighting{})); err != nil || diff != "" {
			t.Fatalf("read again: %v\n%s", err, diff)
		}
		clock, table := newClock(), newTable()
		table.Put(modelKey("p", "up"), b, start.Add(time.Hour))
		tracker, err := New(Options{Clock: clock.now, Quotas: table})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tracker.Close() }()
		pool := []engine.Candidate{{Deployment: served("p", "m", "up")}}
		tracker.Signals(clock.now(), pool)
		if q := pool[0].Quota; q != nil && pool[0].FreshQuota(clock.now()) == nil {
			t.Fatalf("handed out what is not fresh: %+v", q)
		}
	})
}

// TestQuotasStored looks into the table without closing the tracker.
func TestQuotasStored(t *testing.T) {
	r := newRig(t)
	r.close()
	table := newTable()
	r.options.Quotas = table
	r.start()
	d := served("p", "vendor/m", "vendor/up")
	r.configure(
		QuotaLimit{Name: "few", Period: time.Hour, Unit: QuotaRequests, Limit: 2}, QuotaLimit{Name: "many", Period: time.Hour, Unit: QuotaRequests, Limit: 9},
	)
	want := func(ids ...string) {
		t.Helper()
		if diff := cmp.Diff(ids, table.ids()); diff != "" {
			t.Errorf("stored ids (-want +got):\n%s", diff)
		}
	}
	tell := func(lines ...string) {
		c := r.tracker.BeginPinned(d, r.clock.now())
		c.Answered(200, headers(lines...), r.clock.now())
		c.End(Outcome{Now: r.clock.now()})
	}
	tell("x-ratelimit-limit-requests: 2", "x-ratelimit-remaining-requests: 1")
	want()
	tell("x-ratelimit-limit-requests: 2", "x-ratelimit-remaining-requests: 0") // used up, by either count
	want("model/p/vendor/up", "window/p/few")
	puts := table.writes()
	tell("x-ratelimit-limit-requests: 2", "x-ratelimit-remaining-requests: 0")
	if table.writes() != puts {
		t.Error("what was used up already is stored at once")
	}
	tell("anthropic-ratelimit-unified-7d-status: rejected")
	want("account/p", "model/p/vendor/up", "window/p/few")
	r.tracker.flush()
	want("account/p", "model/p/vendor/up", "window/p/few", "window/p/many")
	puts = table.writes()
	r.tracker.flush()
	if table.writes() != puts {
		t.Error("what has not changed is stored again")
	}
	for id, after := range map[string]time.Duration{"account/p": 10 * time.Minute, "model/p/vendor/up": 10 * time.Minute, "window/p/few": time.Hour} {
		if got := table.records[id].expires; !got.Equal(start.Add(after + graceAfter)) {
			t.Errorf("%s is kept until %v, want %v and a second after the start", id, got, after)
		}
	}
	r.clock.move(time.Minute)
	tell("x-ratelimit-remaining-tokens: 1", "x-ratelimit-reset-tokens: 1s")
	r.clock.move(time.Minute)
	tell("x-ratelimit-limit-requests: 2", "x-ratelimit-remaining-requests: 0")
	r.tracker.flush()
	if got, want := table.records["model/p/vendor/up"].expires, start.Add(12*time.Minute+graceAfter); !got.Equal(want) {
		t.Errorf("windows of several ages are kept until %v, want %v, as long as the newest", got, want)
	}
}

// TestForeignQuotaRecords starts from a table with records that are not ours.
func TestForeignQuotaRecords(t *testing.T) {
	r := newRig(t)
	r.close()
	table := newTable()
	r.options.Quotas = table
	var log bytes.Buffer
	r.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	later := start.Add(time.Hour)
	good := encodeCounter(storedCounter{unit: QuotaRequests, time: hold{begin: start.UnixNano(), length: time.Hour}, used: 1})
	table.Put(windowKey("p", "w"), good, later)
	table.Put(windowKey("p", "newer"), []byte{counterVersion + 1, 0, 2, 2, 2}, later)
	table.Put(windowKey("p", "cut"), good[:4], later)
	table.Put(modelKey("p", "up"), []byte{boardVersion, 200}, later)
	table.Put(accountKey("p"), nil, later)
	table.Put("something/p/else", good, later)
	r.start()
	if want := "table=quotas count=5"; !strings.Contains(log.String(), want) {
		t.Errorf("the log does not say %q:\n%s", want, log.String())
	}
	r.configure(QuotaLimit{Name: "w", Period: time.Hour, Unit: QuotaRequests, Limit: 2})
	r.wantLeft(served("p", "m", "up"), "w", 500_000)
}

// TestQuotasAlone keeps quotas without statistics.
func TestQuotasAlone(t *testing.T) {
	clock, table := newClock(), newTable()
	tracker, err := New(Options{Clock: clock.now, Quotas: table})
	if err != nil {
		t.Fatal(err)
	}
	tracker.Configure([]ProviderQuota{{Provider: "p", Windows: []QuotaLimit{{Name: "w", Period: time.Hour, Unit: QuotaRequests, Limit: 2}}}})
	c, _ := tracker.Begin(served("p", "m", "up"), clock.now(), false)
	c.Answered(http.StatusOK, nil, clock.now())
	c.End(Outcome{Now: clock.now()})
	if err := tracker.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"window/p/w"}, table.ids()); diff != "" {
		t.Errorf("stored ids (-want +got):\n%s", diff)
	}
}
