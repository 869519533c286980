package health

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
)

// TestQuotaHammer lets many goroutines call, read and configure at once. No call
// may be lost, and no quota that was handed out may change.
func TestQuotaHammer(t *testing.T) {
	clock, table := newClock(), newTable()
	options := Options{Clock: clock.now, Statistics: newTable(), Quotas: table}
	tracker, err := New(options)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	const workers, rounds, most = 32, 300, 1 << 40
	var pool []engine.Candidate
	for i := range 6 {
		pool = append(pool, engine.Candidate{Deployment: served(fmt.Sprintf("p%d", i%2), fmt.Sprintf("m%d", i), fmt.Sprintf("up%d", i%3))})
	}
	windows := func(limit int64) (list []ProviderQuota) {
		for i := range 2 {
			list = append(list, ProviderQuota{Provider: fmt.Sprintf("p%d", i), Windows: []QuotaLimit{
				{Name: "requests", Period: 24 * time.Hour, Unit: QuotaRequests, Limit: limit},
				{Name: "tokens", Period: 24 * time.Hour, Unit: QuotaTokens, Limit: limit, Covers: func(model, _ string) bool { return model != "m1" }},
			}})
		}
		return list
	}
	tracker.Configure(windows(most))
	var calls, tokens [2]atomic.Int64
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(worker)))
			mine := append([]engine.Candidate(nil), pool...)
			for range rounds {
				now := clock.move(time.Duration(rng.IntN(50)) * time.Millisecond)
				tracker.Signals(now, mine)
				i := rng.IntN(len(mine))
				q := mine[i].Quota
				if q == nil {
					t.Errorf("%s has no quota", mine[i].ID)
					continue
				}
				before := q.Windows[len(q.Windows)-1]
				c, ok := tracker.Begin(mine[i].Deployment, now, false)
				if !ok {
					continue
				}
				remaining := strconv.Itoa(rng.IntN(100))
				c.Answered(http.StatusOK, http.Header{
					"X-Ratelimit-Limit-Requests": {"100"}, "X-Ratelimit-Remaining-Requests": {remaining}, "X-Ratelimit-Reset-Requests": {"1s"},
					"Anthropic-Ratelimit-Unified-5h-Utilization": {"0." + remaining},
				}, now)
				c.End(Outcome{Now: clock.now(), Usage: engine.Usage{Known: true, Input: 3, Output: 4}})
				calls[i%2].Add(1)
				if i != 1 {
					tokens[i%2].Add(7)
				}
				if after := q.Windows[len(q.Windows)-1]; after != before {
					t.Errorf("a quota that was handed out changed from %+v to %+v", before, after)
				}
			}
		})
	}
	wait.Go(func() {
		for i := range rounds {
			tracker.Configure(windows(most + int64(i%2)))
			tracker.flush()
		}
	})
	wait.Wait()
	if err := tracker.Close(); err != nil {
		t.Fatal(err)
	}
	tracker, err = New(options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		a := tracker.quotas.accounts[fmt.Sprintf("p%d", i)]
		for name, want := range map[string]int64{"requests": calls[i].Load(), "tokens": tokens[i].Load()} {
			if c := find(a.counters, name); c == nil || c.used != want {
				t.Errorf("provider p%d: %+v, want %d %s", i, c, want, name)
			}
		}
	}
	if err := tracker.Close(); err != nil {
		t.Fatal(err)
	}
}
