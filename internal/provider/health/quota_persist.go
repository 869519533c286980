package health

import (
	"time"

	"gatewright/engine"
)

// keepCounter stores a window of the configuration. The caller holds a.mu.
func (t *Tracker) keepCounter(a *account, c *counter, now time.Time) {
	table := t.options.Quotas
	if table == nil {
		return
	}
	c.unsaved = false
	ends := t.wall(c.time.end(), now)
	table.Put(windowKey(a.provider, c.name), encodeCounter(storedCounter{
		unit: c.unit, time: hold{begin: t.wall(c.time.begin, now).UnixNano(), length: c.time.length}, used: c.used,
	}), ends.Add(graceAfter))
}

// keepBoard stores what was reported, as long as it may count. The caller holds
// the account's mu.
func (t *Tracker) keepBoard(key string, b *board, now time.Time) {
	table := t.options.Quotas
	if table == nil {
		return
	}
	b.unsaved = false
	list := make([]sighting, 0, len(b.list))
	newest := int64(0)
	for _, s := range b.list {
		newest = max(newest, s.taken)
		if s.resets != 0 {
			s.resets = t.wall(s.resets, now).UnixNano()
		}
		s.taken = t.wall(s.taken, now).UnixNano()
		list = append(list, s)
	}
	table.Put(key, encodeBoard(list), t.wall(newest, now).Add(engine.QuotaFreshness+graceAfter))
}

// flushQuotas stores what has changed since the last time.
func (t *Tracker) flushQuotas(now time.Time) {
	for _, a := range t.quotas.list() {
		t.flushAccount(a, now)
	}
}

func (t *Tracker) flushAccount(a *account, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.counters {
		if c.unsaved {
			t.keepCounter(a, c, now)
		}
	}
	if a.shared.unsaved {
		t.keepBoard(accountKey(a.provider), a.shared, now)
	}
	for model, b := range a.models {
		if b.unsaved {
			t.keepBoard(modelKey(a.provider, model), b, now)
		}
	}
}

// loadQuotas goes on from what is stored. Windows of the configuration have no
// limit until Configure gives them one.
func (t *Tracker) loadQuotas() error {
	return t.load("quotas", t.options.Quotas, func(id string, value []byte) error {
		kind, provider, name := quotaKey(id)
		switch kind {
		case windowRecord:
			return t.loadCounter(provider, name, value)
		case accountRecord:
			return t.loadBoard(t.quotas.account(provider).shared, value)
		case modelRecord:
			return t.loadBoard(t.quotas.account(provider).board(name), value)
		}
		return errRecord
	})
}

// loadCounter takes in one window. One that began in the future, because the
// clock was set back, begins now: it lasts no longer than it was.
func (t *Tracker) loadCounter(provider, name string, value []byte) error {
	stored, err := decodeCounter(value)
	if err != nil {
		return err
	}
	c := &counter{name: name, unit: stored.unit, time: stored.time, used: stored.used}
	c.time.begin = min(c.time.begin, t.origin)
	a := t.quotas.account(provider)
	a.counters = append(a.counters, c)
	return nil
}

// loadBoard takes in what still counts.
func (t *Tracker) loadBoard(b *board, value []byte) error {
	list, err := decodeBoard(value)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !s.stale(t.origin) {
			s.taken = min(s.taken, t.origin)
			b.list = append(b.list, s)
		}
	}
	return nil
}
