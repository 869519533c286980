package health

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gatewright/engine"
)

// busy returns a tracker with n deployments that have statistics.
func busy(tb testing.TB, n int) (*Tracker, []engine.Candidate) {
	tb.Helper()
	tracker, err := New(Options{})
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	pool := make([]engine.Candidate, n)
	for i := range pool {
		pool[i].Deployment = deployment(fmt.Sprintf("provider-%d/model-of-some-length", i))
		for k := range 200 {
			c, _ := tracker.Begin(pool[i].Deployment, time.Now(), false)
			c.End(successful(time.Now(), k))
		}
	}
	return tracker, pool
}

func successful(now time.Time, k int) Outcome {
	return Outcome{
		Stream: true, TTFT: time.Duration(200+k%300) * time.Millisecond, Duration: 3 * time.Second,
		Usage: engine.Usage{Known: true, Input: 1000, Output: 300}, Policy: policy, Now: now,
	}
}

// TestAllocations guards the request path.
func TestAllocations(t *testing.T) {
	tracker, pool := busy(t, 20)
	now := time.Now()
	if n := testing.AllocsPerRun(100, func() { tracker.Signals(now, pool) }); n != 0 {
		t.Errorf("Signals allocates %v times, want 0", n)
	}
	withQuota(t, tracker, pool)
	now = time.Now()
	if n := testing.AllocsPerRun(100, func() { tracker.Signals(now, pool) }); n != 0 {
		t.Errorf("Signals with quotas that have not changed allocates %v times, want 0", n)
	}
	call := func() {
		c, _ := tracker.Begin(pool[0].Deployment, now, false)
		c.Answered(http.StatusOK, manyHeaders, now)
		c.Committed(now, time.Second)
		c.End(successful(now, 1))
	}
	if n := testing.AllocsPerRun(100, call); n > 1 {
		t.Errorf("a call allocates %v times, want once", n)
	}
}

func BenchmarkSignals20(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		tracker.Signals(now, pool)
	}
}

// withQuota gives every deployment of a pool three windows that upstreams
// report and two of the configuration.
func withQuota(tb testing.TB, tracker *Tracker, pool []engine.Candidate) {
	tb.Helper()
	var list []ProviderQuota
	for i := range pool {
		p := &engine.Provider{ID: fmt.Sprintf("provider-%d", i), Enabled: true}
		d := *pool[i].Deployment
		d.Provider, d.Model, d.UpstreamModel = p, "model-of-some-length", "upstream-model-of-some-length"
		pool[i].Deployment = &d
		list = append(list, ProviderQuota{Provider: p.ID, Windows: []QuotaLimit{
			{Name: "weekly", Period: 7 * 24 * time.Hour, Unit: QuotaTokens, Limit: 1 << 50},
			{Name: "daily", Period: 24 * time.Hour, Unit: QuotaRequests, Limit: 1 << 50},
		}})
	}
	tracker.Configure(list)
	for i := range pool {
		now := time.Now()
		c, _ := tracker.Begin(pool[i].Deployment, now, false)
		c.Answered(http.StatusOK, manyHeaders, now)
		c.End(successful(now, 1))
	}
}

// manyHeaders are those of an answer, with three windows among them.
var manyHeaders = http.Header{
	"Content-Type": {"application/json"}, "Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}, "Server": {"cloudflare"},
	"Cf-Ray": {"8f-AMS"}, "Openai-Version": {"2020-10-01"}, "Openai-Processing-Ms": {"547"}, "X-Request-Id": {"req_1"},
	"X-Ratelimit-Limit-Requests": {"15000"}, "X-Ratelimit-Limit-Tokens": {"40000000"},
	"X-Ratelimit-Remaining-Requests": {"14999"}, "X-Ratelimit-Remaining-Tokens": {"39999826"},
	"X-Ratelimit-Reset-Requests": {"4ms"}, "X-Ratelimit-Reset-Tokens": {"6m0s"},
	"X-Ratelimit-Limit-Requests-Day": {"1000000"}, "X-Ratelimit-Remaining-Requests-Day": {"999999"},
	"X-Ratelimit-Reset-Requests-Day": {"33011.382867"},
}

func BenchmarkSignals20WithQuota(b *testing.B) {
	tracker, pool := busy(b, 20)
	withQuota(b, tracker, pool)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		tracker.Signals(now, pool)
	}
}

// BenchmarkSignals20AfterAnswers reads a pool of which one quota has changed.
func BenchmarkSignals20AfterAnswers(b *testing.B) {
	tracker, pool := busy(b, 20)
	withQuota(b, tracker, pool)
	now := time.Now()
	c, _ := tracker.Begin(pool[3].Deployment, now, false)
	b.ReportAllocs()
	for b.Loop() {
		c.Answered(http.StatusOK, manyHeaders, now)
		tracker.Signals(now, pool)
	}
}

func BenchmarkAnswered(b *testing.B) {
	tracker, pool := busy(b, 1)
	withQuota(b, tracker, pool)
	now := time.Now()
	c, _ := tracker.Begin(pool[0].Deployment, now, false)
	b.ReportAllocs()
	for b.Loop() {
		c.Answered(http.StatusOK, manyHeaders, now)
	}
}

func BenchmarkCallWithQuota(b *testing.B) {
	tracker, pool := busy(b, 20)
	withQuota(b, tracker, pool)
	now := time.Now()
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		c, _ := tracker.Begin(pool[k%len(pool)].Deployment, now, false)
		c.Answered(http.StatusOK, manyHeaders, now)
		c.End(successful(now, k))
	}
}

func BenchmarkSignals20Parallel(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mine := append([]engine.Candidate(nil), pool...)
		for pb.Next() {
			tracker.Signals(now, mine)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		c, _ := tracker.Begin(pool[k%len(pool)].Deployment, now, false)
		c.End(successful(now, k))
	}
}

func BenchmarkCallParallelOneDeployment(b *testing.B) {
	tracker, pool := busy(b, 1)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for k := 0; pb.Next(); k++ {
			c, _ := tracker.Begin(pool[0].Deployment, now, false)
			c.End(successful(now, k))
		}
	})
}

// BenchmarkLoad starts from a day of statistics of 100 deployments.
func BenchmarkLoad(b *testing.B) {
	clock, table := newClock(), newTable()
	tracker, err := New(Options{Clock: clock.now, Statistics: table})
	if err != nil {
		b.Fatalf("New: %v", err)
	}
	for range slotCount {
		for i := range 100 {
			for k := range 50 {
				c, _ := tracker.Begin(deployment(fmt.Sprintf("p/%d", i)), clock.now(), false)
				c.End(successful(clock.now(), k*7))
			}
		}
		clock.move(slotLength)
	}
	if err := tracker.Close(); err != nil {
		b.Fatalf("Close: %v", err)
	}
	for b.Loop() {
		tracker, err := New(Options{Clock: clock.now, Statistics: table})
		if err != nil {
			b.Fatalf("New: %v", err)
		}
		if err := tracker.Close(); err != nil {
			b.Fatalf("Close: %v", err)
		}
	}
}
