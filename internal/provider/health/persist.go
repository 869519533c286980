package health

import (
	"fmt"
	"log/slog"
	"time"
)

const (
	// flushEvery is how often statistics and quotas are written.
	flushEvery = time.Minute
	// staleAfter is how long after its end a circuit that nobody probed is kept:
	// as long as statistics, after that it says nothing any more.
	staleAfter = 24 * time.Hour
	// graceAfter is how long a record outlives a cooldown, so that a table with
	// coarser instants does not cut its end.
	graceAfter = time.Second
)

// wall returns the instant by the wall clock as it is now, without a monotonic
// reading.
func (t *Tracker) wall(at int64, now time.Time) time.Time {
	return now.Round(0).Add(time.Duration(at - t.at(now)))
}

// keepCircuit stores the circuit after a change. The caller holds s.mu.
func (t *Tracker) keepCircuit(s *state, now time.Time) {
	switch table := t.options.Circuits; {
	case table == nil:
	case s.circuit.broken:
		t.put(table, s.id, s.circuit.time, staleAfter, now)
	default:
		table.Delete(s.id)
	}
}

// keepCooldown stores the cooldown. The caller holds s.mu.
func (t *Tracker) keepCooldown(s *state, now time.Time) {
	if table := t.options.Cooldowns; table != nil {
		t.put(table, s.id, s.cooldown, graceAfter, now)
	}
}

func (t *Tracker) put(table Table, id string, h hold, after time.Duration, now time.Time) {
	expires := t.wall(h.end(), now).Add(after)
	h.begin = t.wall(h.begin, now).UnixNano()
	table.Put(id, encodeHold(h), expires)
}

func (t *Tracker) loadCooldowns(states stateMap) error {
	return t.load("cooldowns", t.options.Cooldowns, func(id string, value []byte) error {
		h, err := decodeHold(value)
		if err == nil {
			states.ensure(id).cooldown = h
		}
		return err
	})
}

func (t *Tracker) loadCircuits(states stateMap) error {
	return t.load("circuits", t.options.Circuits, func(id string, value []byte) error {
		h, err := decodeHold(value)
		if err == nil {
			c := &states.ensure(id).circuit
			c.broken, c.time = true, h
		}
		return err
	})
}

func (t *Tracker) loadStatistics(states stateMap) error {
	var slot tally
	var moved []string // keys of records that are now part of another slot
	err := t.load("statistics", t.options.Statistics, func(key string, value []byte) error {
		id, ok := keyDeployment(key)
		if !ok {
			return errRecord
		}
		number, err := decodeSlot(value, &slot)
		if err != nil {
			return err
		}
		s := states.ensure(id)
		w := s.recent(t.origin)
		number, ok = w.restore(number, &slot)
		if !ok {
			return nil
		}
		s.lastSuccess = max(s.lastSuccess, min(slot.lastSuccess, t.origin))
		if key != slotKey(number, id) {
			moved = append(moved, key)
			w.resave(number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range moved {
		t.options.Statistics.Delete(key)
	}
	return nil
}

// load reads a table. Records that read refuses are skipped, and logged once.
func (t *Tracker) load(name string, table Table, read func(id string, value []byte) error) error {
	if table == nil {
		return nil
	}
	dropped := 0
	var id string
	var why error
	err := table.Load(t.base, func(i string, value []byte, _ time.Time) error {
		if err := read(i, value); err != nil {
			if dropped == 0 {
				id, why = i, err
			}
			dropped++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load %s: %w", name, err)
	}
	if dropped > 0 {
		t.logger.Warn("stored records dropped", slog.String("table", name), slog.Int("count", dropped),
			slog.String("first", id), slog.Any("error", why))
	}
	return nil
}

// run writes statistics and quotas until Close.
func (t *Tracker) run() {
	defer close(t.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.flush()
		case <-t.stop:
			t.flush()
			return
		}
	}
}

// flush writes every slot and every quota that changed since the last time.
func (t *Tracker) flush() {
	now := t.clock()
	t.flushQuotas(now)
	if t.options.Statistics == nil {
		return
	}
	for _, s := range *t.states.Load() {
		t.flushState(s, now)
	}
}

func (t *Tracker) flushState(s *state, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window == nil {
		return
	}
	s.window.advance(t.at(now))
	s.window.save(func(number int64, payload []byte) {
		begin := t.wall(slotStart(number), now)
		t.options.Statistics.Put(slotKey(number, s.id), encodeSlot(begin.Round(time.Second).Unix(), payload),
			begin.Add(slotCount*slotLength))
	})
}

// Close writes the statistics and quotas and ends what runs in the background;
// the tables must outlive it. The tracker keeps working, but these are no longer
// stored. The error is always nil.
func (t *Tracker) Close() error {
	t.closeOnce.Do(func() {
		if t.stop != nil {
			close(t.stop)
			<-t.done
		}
	})
	return nil
}
