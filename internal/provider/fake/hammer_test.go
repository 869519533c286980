package fake

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestHammer does everything at once; the race detector judges it.
func TestHammer(t *testing.T) {
	const script = `
seed: 3
upstreams:
  a:
    latency: {first_token: 1ms, per_token: 100us, jitter: 50%}
    answer: {tokens: 10}
    script: [{times: 5, fault: reset}, close-on-reuse]
    repeat: true
    fail: {rate: 50%, with: [http-500, stall, reset-mid-body, gzip-corrupt, byte-writes, close, sse-cr]}
    quota: {requests: 50, per: 10ms, concurrent: 6, headers: true}
  b:
    fail: {rate: 30%, with: [http-429, eof-after-role, trailers, {fault: headers-dripped, delay: 10us}]}
`
	r := newRig(t, script, Options{Keep: 16})
	deadline, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := 0; deadline.Err() == nil && n < 200; n++ {
				ctx, stop := context.WithTimeout(deadline, time.Duration(1+n%20)*time.Millisecond)
				body := []string{chatBody, streamBody}[n%2]
				do(ctx, r.client, http.MethodPost, fmt.Sprintf("%s/%c/v1/chat/completions", r.url, 'a'+rune(i%2)), body)
				stop()
			}
		})
	}
	wg.Go(func() {
		for n := 0; deadline.Err() == nil && n < 100; n++ {
			if err := r.Set("a", Behaviour{Fail: Fail{Rate: Million / 2, With: []Fault{{Name: "stall"}, {Name: "http-503"}}}}); err != nil {
				t.Error(err)
			}
			do(deadline, r.client, http.MethodPost, r.url+"/_sim/upstreams/b", "always: sse-crlf")
			do(deadline, r.client, http.MethodGet, r.url+"/_sim/upstreams/a", "")
			for _, name := range r.Names() {
				if len(r.Requests(name)) > 16 {
					t.Error("the ring overflowed")
				}
				if n := r.InFlight(name); n < 0 {
					t.Errorf("%d in flight", n)
				}
				r.Calls(name)
			}
			if n%10 == 9 {
				r.Reset()
			}
		}
	})
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range r.Names() {
		if n := r.InFlight(name); n != 0 {
			t.Errorf("%s: %d in flight at the end", name, n)
		}
	}
}

func TestQuotaHammer(t *testing.T) {
	q := newQuota(Quota{Requests: 1000, Per: time.Hour, Concurrent: 1000})
	var wg sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 16 {
		wg.Go(func() {
			for range 100 {
				if l := q.take(time.Now(), 1); l.admitted {
					q.release()
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if admitted != 1000 || q.running != 0 {
		t.Errorf("%d admitted, %d running; want 1000 and 0", admitted, q.running)
	}
}
