package health

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

func TestRestart(t *testing.T) {
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"an open circuit keeps its end", func(r *rig) {
			r.open()
			r.restart(20 * time.Second)
			r.wantUntil(40 * time.Second)
			r.refused()
		}},
		{"and is half-open after it, with its doubling", func(r *rig) {
			r.half()
			r.end(r.probe(), engine.ClassServer)
			r.restart(3 * time.Minute)
			r.want(engine.CircuitHalfOpen)
			r.end(r.probe(), engine.ClassServer)
			r.wantUntil(4 * time.Minute)
		}},
		{"a closed circuit stays closed", func(r *rig) {
			r.half()
			r.end(r.probe(), engine.ClassNone)
			r.restart(0)
			r.want(engine.CircuitClosed)
		}},
		{"a circuit that nobody probed for a day is closed", func(r *rig) {
			r.open()
			r.restart(24*time.Hour + time.Minute)
			r.want(engine.CircuitClosed)
		}},
		{"the probe's place is free", func(r *rig) {
			r.half()
			r.probe()
			r.restart(0)
			r.probe()
		}},
		{"a cooldown keeps its end", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, time.Hour)
			r.restart(20 * time.Minute)
			r.wantCooldown(40 * time.Minute)
		}},
		{"in flight is zero", func(r *rig) {
			r.begin()
			r.restart(0)
			if got := r.signals().InFlight; got != 0 {
				r.t.Fatalf("in flight %d, want 0", got)
			}
		}},
		{"the last success is remembered to the millisecond", func(r *rig) {
			r.clock.move(1234 * time.Millisecond)
			want := r.clock.now()
			r.end(r.begin(), engine.ClassNone)
			r.restart(time.Hour)
			if got := r.signals().LastSuccess; !got.Equal(want) {
				r.t.Fatalf("last success %v, want %v", got, want)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

// TestStoredAtOnce looks into the tables without closing the tracker.
func TestStoredAtOnce(t *testing.T) {
	r := newRig(t)
	circuits, cooldowns := r.options.Circuits.(*memTable), r.options.Cooldowns.(*memTable)
	want := func(table *memTable, ids ...string) {
		t.Helper()
		if diff := cmp.Diff(ids, table.ids()); diff != "" {
			t.Fatalf("stored ids (-want +got):\n%s", diff)
		}
	}
	want(circuits)
	r.cool(engine.ClassRateLimitTimed, time.Hour)
	want(cooldowns, r.d.ID)
	r.half()
	want(circuits, r.d.ID)
	r.end(r.probe(), engine.ClassNone)
	want(circuits)
	puts := circuits.writes()
	for range 100 {
		r.end(r.begin(), engine.ClassNone)
		r.signals()
	}
	if circuits.writes() != puts {
		t.Errorf("%d writes for calls that changed nothing", circuits.writes()-puts)
	}
}

func TestNoTables(t *testing.T) {
	tracker, err := New(Options{})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	d := deployment("d")
	for range 3 {
		c, _ := tracker.Begin(d, time.Now(), false)
		c.End(Outcome{Class: engine.ClassServer, Policy: policy})
	}
	if _, ok := tracker.Begin(d, time.Now(), false); ok {
		t.Error("the circuit did not open")
	}
	tracker.Keep(nil)
	if err := tracker.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestUnreadableTable(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, name := range []string{"cooldowns", "circuits", "statistics", "quotas"} {
		t.Run(name, func(t *testing.T) {
			o := Options{Cooldowns: newTable(), Circuits: newTable(), Statistics: newTable(), Quotas: newTable()}
			map[string]Table{
				"cooldowns": o.Cooldowns, "circuits": o.Circuits, "statistics": o.Statistics, "quotas": o.Quotas,
			}[name].(*memTable).loadErr = broken
			tracker, err := New(o)
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), "load "+name) {
				t.Errorf("New: tracker %v, error %v; want that of the %s", tracker, err, name)
			}
		})
	}
}

// TestForeignRecords starts from tables with records that are not ours.
func TestForeignRecords(t *testing.T) {
	r := newRig(t)
	r.open()
	r.end(r.tracker.BeginPinned(r.d, r.clock.now()), engine.ClassServer)
	r.close()
	later := r.clock.now().Add(time.Hour)
	circuits, statistics := r.options.Circuits.(*memTable), r.options.Statistics.(*memTable)
	circuits.Put("newer", []byte{holdVersion + 1, 1, 2, 3}, later)
	circuits.Put("empty", nil, later)
	circuits.Put("cut", circuits.records[r.d.ID].value[:4], later)
	statistics.Put("no-slash", []byte{slotVersion, 0}, later)
	statistics.Put(slotKey(1, "x"), []byte{slotVersion + 9}, later)
	var log bytes.Buffer
	r.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	r.start()
	r.want(engine.CircuitOpen)
	if got := r.signals().Samples; got != 4 {
		t.Errorf("%d outcomes, want 4", got)
	}
	for _, want := range []string{"table=circuits count=3", "table=statistics count=2"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	r.d = deployment("newer")
	r.want(engine.CircuitClosed)
}

// TestStatisticsOfVersion1 starts from what a gateway wrote before it measured
// latencies: what is there counts, and what is new is added to it.
func TestStatisticsOfVersion1(t *testing.T) {
	r := newRig(t)
	r.close()
	statistics := r.options.Statistics.(*memTable)
	later := r.clock.now().Add(24 * time.Hour)
	now := slotOf(r.clock.now().UnixNano())
	for _, number := range []int64{now - 1, now} { // closed, and open again
		// 20 successes and 5 failures; 20 streams whose first content took 1 s.
		payload := []byte{20, 5, 1, 1, byte(cell(int64(time.Second))), 20, 0, 0}
		begin := slotStart(number) / int64(time.Second)
		statistics.Put(slotKey(number, r.d.ID), slotOfVersion1(begin, payload), later)
	}
	r.start()
	s := r.signals()
	if s.Samples != 50 || s.SuccessPPM != 800_000 || !near(float64(s.TTFT), float64(time.Second)) {
		t.Errorf("got %+v, want 50 outcomes, 80 %% good, and a second to the first token", s)
	}
	if s.LatencyP50 != engine.UnknownDuration || s.LatencyP95 != engine.UnknownDuration {
		t.Errorf("latency %v and %v, want it unknown", s.LatencyP50, s.LatencyP95)
	}
	r.answers(r.d.ID, 20, Outcome{Stream: true, TTFT: time.Second, Duration: 3 * time.Second})
	for range 2 {
		r.restart(0)
		s = r.signals()
		if s.Samples != 70 || !near(float64(s.TTFT), float64(time.Second)) || !near(float64(s.LatencyP50), float64(3*time.Second)) {
			t.Errorf("got %+v, want 70 outcomes, a second and three", s)
		}
	}
	if got := statistics.records[slotKey(now, r.d.ID)].value[0]; got != slotVersion {
		t.Errorf("the slot that went on is stored in version %d, want %d", got, slotVersion)
	}
}

// TestFlush waits for the periodic write of the statistics.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable()
		tracker, err := New(Options{Statistics: table})
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		d := deployment("p/m")
		call := func() {
			c, _ := tracker.Begin(d, time.Now(), false)
			c.End(Outcome{Now: time.Now()})
		}
		call()
		time.Sleep(flushEvery - time.Second) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		if table.writes() != 0 {
			t.Errorf("%d writes within the first minute, want none", table.writes())
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		if table.writes() != 1 {
			t.Errorf("%d writes after a minute, want 1", table.writes())
		}
		time.Sleep(10 * flushEvery) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		if table.writes() != 1 {
			t.Errorf("%d writes without news, want still 1", table.writes())
		}
		call()
		if err := tracker.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := tracker.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		if table.writes() != 2 {
			t.Errorf("%d writes after Close, want 2", table.writes())
		}
	})
}

func TestKeep(t *testing.T) {
	r := newRig(t)
	call := func(id string, class engine.FailureClass, n int) {
		for range n {
			c, _ := r.tracker.Begin(deployment(id), r.clock.now(), false)
			c.End(Outcome{Class: class, Policy: policy, Cooldown: time.Minute, Now: r.clock.now()})
		}
	}
	call("stays", engine.ClassNone, 1)
	call("goes", engine.ClassNone, 1)
	call("cools", engine.ClassRateLimitTimed, 1)
	call("open", engine.ClassServer, 3)
	running, _ := r.tracker.Begin(deployment("runs"), r.clock.now(), false)
	known := func() (ids []string) {
		for _, s := range r.tracker.Stats() {
			ids = append(ids, s.Deployment)
		}
		return ids
	}
	ids := map[string]bool{"stays": true, "new": true, "off": false}
	r.tracker.Keep(ids)
	if diff := cmp.Diff([]string{"cools", "new", "open", "runs", "stays"}, known()); diff != "" {
		t.Errorf("known after the reload (-want +got):\n%s", diff)
	}
	running.End(Outcome{Now: r.clock.now()})
	r.clock.move(2 * time.Minute)
	r.tracker.Keep(ids)
	if diff := cmp.Diff([]string{"new", "stays"}, known()); diff != "" {
		t.Errorf("known once all is over (-want +got):\n%s", diff)
	}
	if got := r.options.Circuits.(*memTable).ids(); len(got) != 0 {
		t.Errorf("circuits of forgotten deployments are still stored: %v", got)
	}
	// A request that goes on with what was forgotten finds the new state, and is
	// not taken for the one that opened its circuit.
	call("again", engine.ClassServer, 2)
	prev, _ := r.tracker.Begin(deployment("again"), r.clock.now(), false)
	prev.End(Outcome{Class: engine.ClassServer, Policy: policy, Now: r.clock.now()})
	r.clock.move(time.Minute)
	r.tracker.Keep(ids)
	repeated, _ := r.tracker.Repeat(prev, r.clock.now())
	if got := r.tracker.Stats()[0]; got.Deployment != "again" || got.InFlight != 1 {
		t.Errorf("after a repeat: %s with %d in flight, want again with 1", got.Deployment, got.InFlight)
	}
	call("again", engine.ClassServer, 3)
	if _, ok := r.tracker.Repeat(prev, r.clock.now()); ok {
		t.Error("a request got past a circuit that others opened after its own was forgotten")
	}
	repeated.End(Outcome{Now: r.clock.now()})
	r.clock.move(time.Minute)
	r.tracker.Keep(ids)
	// What is asked for again begins anew, also by a request that still has the
	// old configuration.
	call("goes", engine.ClassNone, 1)
	if diff := cmp.Diff([]string{"goes", "new", "stays"}, known()); diff != "" {
		t.Errorf("known after another call (-want +got):\n%s", diff)
	}
}
