package owner

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Table keeps small records over restarts. *store.Table is the one there is.
// Put and Delete must not wait for the disk.
type Table interface {
	// Put keeps a value under an id until expires; the newest wins. value is
	// copied.
	Put(id string, value []byte, expires time.Time)
	// Delete removes an id, which need not exist.
	Delete(id string)
	// Load calls each for every record that is not over at now.
	Load(now time.Time, each func(id string, value []byte, expires time.Time) error) error
}

// version is the first byte of a value; the id of a deployment follows.
const version = 1

var errRecord = errors.New("not a record of this version")

// keep writes a record. The caller holds mu.
func (r *Registry) keep(k key, deployment string, expires uint32) {
	if r.table != nil {
		r.table.Put(string(k[:]), append([]byte{version}, deployment...), time.Unix(int64(expires), 0))
	}
}

// decode reads a record.
func decode(id string, value []byte) (k key, deployment string, err error) {
	if len(id) != len(k) || len(value) < 2 || value[0] != version {
		return k, "", errRecord
	}
	copy(k[:], id)
	return k, string(value[1:]), nil
}

// load takes over what the table holds.
func (r *Registry) load() error {
	type loaded struct {
		queued
		deployment string
	}
	var list []loaded
	var dropped []string
	known := make(map[string]string) // so that equal ids share their memory
	now := r.clock()
	err := r.table.Load(now, func(id string, value []byte, expires time.Time) error {
		k, deployment, err := decode(id, value)
		if err != nil {
			dropped = append(dropped, id)
			return nil //nolint:nilerr // one bad record must not keep the gateway from starting
		}
		if shared, ok := known[deployment]; ok {
			deployment = shared
		} else {
			known[deployment] = deployment
		}
		list = append(list, loaded{queued{k, seconds(expires)}, deployment})
		return nil
	})
	if err != nil {
		return fmt.Errorf("load owners: %w", err)
	}
	if len(dropped) > 0 {
		r.logger.Warn("stored records dropped", slog.String("table", "owners"), slog.Int("count", len(dropped)),
			slog.String("first", fmt.Sprintf("%x", dropped[0])), slog.Any("error", errRecord))
		for _, id := range dropped {
			r.table.Delete(id)
		}
	}
	slices.SortFunc(list, func(a, b loaded) int { return cmp.Compare(a.expires, b.expires) })
	for i := range list {
		r.insert(list[i].key, list[i].deployment, list[i].expires)
	}
	r.trim(seconds(now))
	return nil
}
