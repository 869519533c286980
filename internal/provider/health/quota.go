package health

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

// QuotaUnit is what a window of the configuration counts.
type QuotaUnit uint8

// The units of windows that the tracker counts itself.
const (
	QuotaRequests QuotaUnit = iota // calls that the upstream took up
	QuotaTokens                    // input and output tokens
	QuotaUSD                       // nano-USD: usage at the deployment's price, sales left out
	quotaUnits
)

// QuotaLimit is one quota window of the configuration. It begins with the first
// call that counts and ends Period later; the next call begins another.
type QuotaLimit struct {
	Name   string // once per provider
	Period time.Duration
	Unit   QuotaUnit
	Limit  int64 // in the unit, positive
	// Covers says whether the window holds for a deployment, by its public and
	// its upstream model name; nil = for every one. It may be called in parallel.
	Covers func(model, upstream string) bool
}

// ProviderQuota are the quota windows of one provider; none is well.
type ProviderQuota struct {
	Provider string
	Windows  []QuotaLimit
}

// quotas knows the quota of every provider, by provider id.
type quotas struct {
	epoch atomic.Uint64 // counts the configurations

	mu       sync.Mutex // guards accounts; taken before any account.mu
	accounts map[string]*account
}

// account is what is known of the quota of one provider: one account at a
// maker.
type account struct {
	provider string

	mu       sync.Mutex // guards the rest; never with a state.mu, taken before any table's lock
	counters []*counter
	shared   *board            // what upstreams report of all models
	models   map[string]*board // and of one, by its upstream name
}

func newAccount(provider string) *account {
	return &account{provider: provider, shared: new(board), models: make(map[string]*board)}
}

// account returns that of a provider, made if need be. The caller holds q.mu.
func (q *quotas) account(provider string) *account {
	a := q.accounts[provider]
	if a == nil {
		a = newAccount(provider)
		q.accounts[provider] = a
	}
	return a
}

// board returns that of an upstream model, made if need be. The caller holds
// a.mu.
func (a *account) board(model string) *board {
	b := a.models[model]
	if b == nil {
		b = new(board)
		a.models[model] = b
	}
	return b
}

// sources returns what bears on a deployment.
func (q *quotas) sources(d *engine.Deployment) *sources {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.account(d.Provider.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &sources{
		provider: d.Provider.ID, model: d.Model, upstream: d.UpstreamModel,
		epoch: q.epoch.Load(), account: a, shared: a.shared, own: a.board(d.UpstreamModel),
	}
	for _, c := range a.counters {
		if c.limit > 0 && (c.covers == nil || c.covers(d.Model, d.UpstreamModel)) {
			s.counters = append(s.counters, c)
		}
	}
	return s
}

// list returns every account.
func (q *quotas) list() []*account {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]*account, 0, len(q.accounts))
	for _, a := range q.accounts {
		all = append(all, a)
	}
	return all
}

// Configure makes the given providers, those of the configuration now, all that
// there are, with the windows that they have. A window of the same name and unit
// goes on with what it has counted, under its new limit, period and cover; one of
// another unit begins anew. A window that is not mentioned removes nobody, and is
// remembered until it would have ended, in case it comes back.
func (t *Tracker) Configure(list []ProviderQuota) {
	q, at := &t.quotas, t.at(t.clock())
	q.mu.Lock()
	defer q.mu.Unlock()
	next := make(map[string]*account, len(list))
	for i := range list {
		a := q.account(list[i].Provider)
		a.configure(list[i].Windows, at)
		next[a.provider] = a
	}
	for id, a := range q.accounts {
		if next[id] == nil && a.configure(nil, at) {
			next[id] = a
		}
	}
	q.accounts = next
	q.epoch.Add(1)
}

// configure changes the windows, and forgets what is over. It reports whether
// anything is left.
func (a *account) configure(windows []QuotaLimit, at int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.counters
	a.counters = make([]*counter, 0, len(windows))
	kept := make(map[string]bool, len(windows))
	for i := range windows {
		w := &windows[i]
		c := find(old, w.Name)
		if c == nil || c.unit != w.Unit {
			c = &counter{name: w.Name, unit: w.Unit}
		}
		c.configure(w)
		a.counters = append(a.counters, c)
		kept[w.Name] = true
	}
	for _, c := range old {
		if !kept[c.name] && c.time.active(at) {
			c.limit = 0
			a.counters = append(a.counters, c)
		}
	}
	for model, b := range a.models {
		if !b.fresh(at) {
			delete(a.models, model)
		}
	}
	return len(a.counters)+len(a.models) > 0 || a.shared.fresh(at)
}

// find returns the counter of that name; nil = none.
func find(list []*counter, name string) *counter {
	for _, c := range list {
		if c.name == name {
			return c
		}
	}
	return nil
}

// share returns what part of a limit is left, in ppm. What is left, however
// little, is never 0.
func share(left, limit int64) int64 {
	switch {
	case left <= 0:
		return 0
	case left >= limit:
		return ppm
	}
	return max(mulDiv(left, ppm, limit), 1)
}

const ppm = 1_000_000

// addUpTo is a + b of numbers that are not negative, at most the greatest one.
func addUpTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
