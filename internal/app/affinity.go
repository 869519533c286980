package app

import (
	"crypto/sha256"
	"strings"
	"time"

	"gatewright/engine"
	"gatewright/store"
)

// affinity keeps the engine's session targets in the store.
type affinity struct{ table *store.Affinity }

var _ engine.Affinity = affinity{}

// pathSeparator stands between a deployment and the fallback models that led
// to it. No name can hold it: configuration refuses control bytes.
const pathSeparator = "\x1f"

// Target returns what served the session last.
func (a affinity) Target(k engine.AffinityKey, now time.Time) (engine.Target, bool) {
	value, ok := a.table.Get(affinityKey(k), now)
	if !ok {
		return engine.Target{}, false
	}
	deployment, path, more := strings.Cut(value, pathSeparator)
	t := engine.Target{Deployment: deployment}
	if more {
		t.Path = strings.Split(path, pathSeparator)
	}
	return t, true
}

// Succeeded remembers what served; the store keeps the newer of two.
func (a affinity) Succeeded(k engine.AffinityKey, t engine.Target, began, expires time.Time) {
	value := t.Deployment
	if len(t.Path) > 0 {
		value += pathSeparator + strings.Join(t.Path, pathSeparator)
	}
	a.table.Put(affinityKey(k), value, began, expires)
}

// affinityKey is the store's key: a hash of session, family and model. The
// session is itself a keyed hash, so nothing can be read out of it.
func affinityKey(k engine.AffinityKey) store.Key {
	buf := make([]byte, 0, 128)
	buf = append(buf, k.Session[:]...)
	buf = append(buf, k.Family...)
	buf = append(buf, 0)
	buf = append(buf, k.Model...)
	sum := sha256.Sum256(buf)
	return store.Key(sum[:len(store.Key{})])
}
