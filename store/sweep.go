package store

import (
	"log/slog"
)

// sweeps remembers how far the sweep through the tables has come.
type sweeps struct {
	table  int
	after  []byte
	warned bool
}

// sweep forgets sessions that are over and, a page at a time, table records that
// are over: an owner that no longer asks for an id would otherwise keep it on
// disk until the next start.
func (w *writer) sweep() {
	now := w.clock()
	w.log.affinity.sweep(instant(now))
	if w.broken != nil {
		return
	}
	t := w.tables[w.sweeps.table]
	page, last, err := t.page(w.sweeps.after)
	if err != nil && !w.sweeps.warned {
		w.sweeps.warned = true
		w.logger.Warn("store sweep cannot read a table", slog.String("table", t.name), slog.Any("error", err))
	}
	for _, r := range page {
		if expired(r.expires, now) {
			t.dropOverdue(r.id, now)
		}
	}
	w.sweeps.after = last
	if last == nil {
		w.sweeps.table = (w.sweeps.table + 1) % len(w.tables)
	}
}
