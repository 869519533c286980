package provider

import (
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// refusedLog is how often at most the log repeats that one provider refuses
// the gateway's credential: one that serves some models and refuses others
// changes its mind with every request.
const refusedLog = time.Minute

// refusals remembers which providers refuse the gateway's credential: from a
// refusal until a success. It has no effect but to be shown.
type refusals struct {
	logger *slog.Logger
	count  atomic.Int32 // of since; spares the lock on every success

	mu     sync.Mutex
	since  map[string]time.Time
	logged map[string]time.Time
}

func newRefusals(logger *slog.Logger) *refusals {
	return &refusals{logger: logger, since: make(map[string]time.Time), logged: make(map[string]time.Time)}
}

// refused notes a refusal by a provider.
func (r *refusals) refused(provider, deployment string, now time.Time) {
	if !r.add(provider, now) {
		return
	}
	r.logger.Error("provider refuses the credential: check its api_key",
		slog.String("provider", provider), slog.String("deployment", deployment))
}

// add reports whether the log is to tell.
func (r *refusals) add(provider string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.since[provider]; known {
		return false
	}
	r.since[provider] = now
	r.count.Store(int32(len(r.since))) //nolint:gosec // providers come from configuration: few
	if last, told := r.logged[provider]; told && now.Sub(last) < refusedLog {
		return false
	}
	r.logged[provider] = now
	return true
}

// served notes that a provider took the credential.
func (r *refusals) served(provider string) {
	if r.count.Load() == 0 {
		return
	}
	r.mu.Lock()
	_, was := r.since[provider]
	delete(r.since, provider)
	r.count.Store(int32(len(r.since))) //nolint:gosec // as in add
	r.mu.Unlock()
	if was {
		r.logger.Info("provider takes the credential again", slog.String("provider", provider))
	}
}

// list returns who refuses, and since when.
func (r *refusals) list() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.since)
}
