package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"gatewright/engine"
)

// MaxSecret is the longest secret that can belong to a key, in bytes. A longer
// one that a client presents is refused after the same work.
const MaxSecret = 1024

// Key is one API key as configuration describes it.
type Key struct {
	ID       string            // unique, not empty
	Hash     [sha256.Size]byte // SHA-256 of the secret
	Disabled bool              // refused as if the key did not exist
	Caller   engine.Caller     // who asks with it; Caller.Key is ID, or empty to become it
}

// Directory is the table of API keys of one snapshot. It is immutable, so its
// methods may run in parallel.
type Directory struct {
	entries   map[[sha256.Size]byte]*entry
	decoy     entry // compared when nothing is found
	anonymous *engine.Caller
}

// entry is one key: what its digest is compared with, and whom it stands for.
type entry struct {
	hash     [sha256.Size]byte
	disabled bool
	caller   engine.Caller
}

var _ engine.CallerTable = (*Directory)(nil)

// New makes a directory of the keys. It returns every fault of the list joined
// into one error: an id that is empty or defined twice, a hash that two keys
// share or that belongs to no secret.
func New(keys []Key) (*Directory, error) {
	d := &Directory{entries: make(map[[sha256.Size]byte]*entry, len(keys))}
	if len(keys) == 0 {
		d.anonymous = &engine.Caller{ExposeRouting: true}
	}
	var errs []error
	fail := func(i int, format string, a ...any) {
		errs = append(errs, fmt.Errorf("keys[%d]: %s", i, fmt.Sprintf(format, a...)))
	}
	empty := sha256.Sum256(nil)
	ids := make(map[string]int, len(keys))
	for i := range keys {
		k := &keys[i]
		first, twice := ids[k.ID]
		ids[k.ID] = i
		switch {
		case k.ID == "":
			fail(i, "the id is empty")
		case twice:
			fail(i, "the id %q is taken by keys[%d]: choose another", k.ID, first)
		case k.Caller.Key != "" && k.Caller.Key != k.ID:
			fail(i, "the caller is named %q and the key %q: use one name", k.Caller.Key, k.ID)
		case k.Hash == [sha256.Size]byte{} || k.Hash == empty:
			fail(i, "key %q has no secret: set the SHA-256 of one", k.ID)
		case d.entries[k.Hash] != nil:
			fail(i, "key %q has the same secret as key %q: give each its own", k.ID, d.entries[k.Hash].caller.Key)
		default:
			e := &entry{hash: k.Hash, disabled: k.Disabled, caller: k.Caller}
			e.caller.Key = k.ID
			d.entries[k.Hash] = e
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return d, nil
}

// Lookup returns the caller that the secret belongs to. A secret that nobody
// has and one whose key is disabled give the same answer after the same work:
// the table is entered by digest, so nothing about the secrets that exist can be
// learnt from the time, and a miss compares with a decoy.
func (d *Directory) Lookup(secret string) (*engine.Caller, bool) {
	digest, fits := digestOf(secret)
	e := d.entries[digest]
	found := 1
	if e == nil {
		e, found = &d.decoy, 0
	}
	found &= subtle.ConstantTimeCompare(digest[:], e.hash[:])
	if found != 1 || e.disabled || !fits {
		return nil, false
	}
	return &e.caller, true
}

// Anonymous returns the caller that requests get when no key is defined at all,
// disabled ones included. It sees routing, because only callers on the same
// machine may use it.
func (d *Directory) Anonymous() (*engine.Caller, bool) { return d.anonymous, d.anonymous != nil }

// digestOf hashes the secret without an allocation. fits is false for one that
// is longer than MaxSecret; then the digest is that of its beginning.
func digestOf(secret string) (digest [sha256.Size]byte, fits bool) {
	var buf [MaxSecret]byte
	n := copy(buf[:], secret)
	return sha256.Sum256(buf[:n]), n == len(secret)
}
