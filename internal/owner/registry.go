package owner

import (
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"math"
	"sync"
	"time"

	"gatewright/engine"
)

const (
	// Keep is how long something is remembered after it was issued, or seen
	// again.
	Keep = 30 * 24 * time.Hour
	// DefaultMax is how many things are remembered when nothing is set. One takes
	// about 80 bytes of memory and 120 on disk.
	DefaultMax = 2_000_000

	// renew is how old a record must be to be written anew when its thing is
	// seen again.
	renew = 24 * time.Hour
)

// Options say how a Registry works. The zero value is ready to use and forgets
// everything with the process.
type Options struct {
	Table  Table            // nil = nothing outlives the process
	Clock  func() time.Time // nil = time.Now
	Logger *slog.Logger     // nil = no log
	// Max is how many things are remembered; beyond it the oldest are forgotten
	// early. 0 = DefaultMax.
	Max int
}

// Registry remembers who issued what. Its methods may run in parallel and never
// wait for I/O.
type Registry struct {
	table  Table
	clock  func() time.Time
	logger *slog.Logger
	max    int

	mu      sync.RWMutex // guards the rest; taken before the table's lock
	records map[key]record
	oldest  queue
	ids     []string // deployments, by their places in records
	places  map[string]uint32
	warned  bool // that the bound has been reached
}

// key is a hash of a caller, a kind and an id.
type key [16]byte

// record is what is known of one thing.
type record struct {
	deployment uint32 // place in Registry.ids
	expires    uint32 // unix seconds, until the year 2106
}

// New returns a registry that goes on from what the table holds. A record that
// cannot be understood is dropped and logged; the error is that of a table that
// cannot be read.
func New(o Options) (*Registry, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	r := &Registry{
		table: o.Table, clock: o.Clock, logger: o.Logger, max: o.Max,
		records: make(map[key]record), places: make(map[string]uint32),
	}
	if r.table == nil {
		return r, nil
	}
	return r, r.load()
}

// Put remembers that the deployment issued things to the caller. What is known
// already costs a look. A conversation is claimed too: see Claimed.
func (r *Registry) Put(c *engine.Caller, deployment string, issued ...engine.Issue) {
	now := seconds(r.clock())
	for _, i := range issued {
		r.put(keyOf(c, i), deployment, now)
		if i.Kind == engine.IssueConversation {
			r.put(keyOf(nil, i), deployment, now)
		}
	}
}

// Find returns the deployment that issued a thing to the caller.
func (r *Registry) Find(c *engine.Caller, i engine.Issue) (deployment string, ok bool) {
	return r.find(keyOf(c, i))
}

// Claimed reports whether a conversation has been used by any caller. One that
// has not may have been made at an upstream without the gateway.
func (r *Registry) Claimed(i engine.Issue) bool {
	_, ok := r.find(keyOf(nil, i))
	return ok
}

// Forget forgets what was issued to the caller, because it was deleted.
func (r *Registry) Forget(c *engine.Caller, i engine.Issue) {
	k := keyOf(c, i)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.records[k]; known {
		r.remove(k)
		r.oldest.tidy(r.records)
	}
}

func (r *Registry) find(k key) (deployment string, ok bool) {
	now := seconds(r.clock())
	r.mu.RLock()
	defer r.mu.RUnlock()
	found, ok := r.records[k]
	if !ok || found.expires <= now {
		return "", false
	}
	return r.ids[found.deployment], true
}

// put remembers one thing and makes room for it.
func (r *Registry) put(k key, deployment string, now uint32) {
	const keep, old = uint32(Keep / time.Second), uint32(renew / time.Second)
	r.mu.RLock()
	found, known := r.records[k]
	same := known && r.ids[found.deployment] == deployment && found.expires > now && found.expires-now > keep-old
	r.mu.RUnlock()
	if same {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.insert(k, deployment, now+keep)
	r.keep(k, deployment, now+keep)
	r.trim(now)
	r.oldest.tidy(r.records)
}

// insert puts a record into memory. The caller holds mu.
func (r *Registry) insert(k key, deployment string, expires uint32) {
	place, known := r.places[deployment]
	if !known {
		place = uint32(len(r.ids)) //nolint:gosec // deployments come from configuration: few
		r.ids = append(r.ids, deployment)
		r.places[deployment] = place
	}
	r.records[k] = record{deployment: place, expires: expires}
	r.oldest.push(k, expires)
}

// trim forgets what is over, and the oldest while there are too many. The
// caller holds mu.
func (r *Registry) trim(now uint32) {
	for {
		first, ok := r.oldest.first()
		if !ok {
			return
		}
		found, known := r.records[first.key]
		switch {
		case !known || found.expires != first.expires: // forgotten, or written anew
		case first.expires <= now:
			r.remove(first.key)
		case len(r.records) > r.max:
			r.remove(first.key)
			r.early()
		default:
			return
		}
		r.oldest.pop()
	}
}

// early says, once, that things are forgotten before their time. The caller
// holds mu.
func (r *Registry) early() {
	if r.warned {
		return
	}
	r.warned = true
	r.logger.Warn("more is issued by upstreams than is remembered: the oldest responses cannot be continued any more",
		slog.Int("remembered", r.max))
}

// remove forgets a record. The caller holds mu.
func (r *Registry) remove(k key) {
	delete(r.records, k)
	if r.table != nil {
		r.table.Delete(string(k[:]))
	}
}

// keyOf hashes a thing within the scope of a caller; nil stands for all of them.
func keyOf(c *engine.Caller, i engine.Issue) key {
	var room [256]byte
	text := append(room[:0], byte(i.Kind))
	if c != nil {
		text = append(text, 1)
		for _, level := range [...]string{c.Org, c.Team, c.Key} {
			// The length in front keeps "a"+"bc" and "ab"+"c" apart.
			text = binary.AppendUvarint(text, uint64(len(level)))
			text = append(text, level...)
		}
	} else {
		text = append(text, 0)
	}
	sum := sha256.Sum256(append(text, i.ID...))
	return key(sum[:len(key{})])
}

// seconds is a time in unix seconds, within what a record can hold.
func seconds(t time.Time) uint32 {
	const last = math.MaxUint32 - uint32(Keep/time.Second)
	return uint32(min(max(t.Unix(), 0), int64(last)))
}
