package fake

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuotaOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("quota: {requests: 2, per: 1m, retry_after: true, headers: true}"))
		send := func() reply { return r.send(t, "POST", chatPath, chatBody) }
		limits := func(got reply) []string {
			h := got.header
			return []string{
				h.Get("X-Ratelimit-Limit-Requests"), h.Get("X-Ratelimit-Remaining-Requests"), h.Get("X-Ratelimit-Reset-Requests"), h.Get("Retry-After"),
			}
		}
		for i, want := range [][]string{{"2", "1", "1m0s", ""}, {"2", "0", "50.5s", ""}} {
			got := send()
			if diff := cmp.Diff(want, limits(got)); diff != "" || got.status != 200 {
				t.Errorf("request %d: %d (-want +got):\n%s", i, got.status, diff)
			}
			if i == 0 {
				<-time.After(9500 * time.Millisecond)
			}
		}
		got := send()
		refused(429, "requests", "rate_limit_exceeded")(t, got)
		if diff := cmp.Diff([]string{"2", "0", "50.5s", "51"}, limits(got)); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
		if got := r.send(t, "GET", "/a/v1/models", ""); got.status != 200 {
			t.Errorf("the list of models cost quota: %d", got.status)
		}
		<-time.After(50500*time.Millisecond - 1)
		if got := send(); got.status != 429 {
			t.Errorf("a moment before the window ends: %d", got.status)
		}
		<-time.After(1)
		if got := send(); got.status != 200 || got.header.Get("X-Ratelimit-Remaining-Requests") != "1" {
			t.Errorf("in the new window: %d, %s left", got.status, got.header.Get("X-Ratelimit-Remaining-Requests"))
		}
	})
}

func TestQuotaOfTokens(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {tokens: 10}\nquota: {tokens: 60, per: 1h, headers: true}"), Options{})
	var left []string
	for range 3 { // the messages take 11 tokens, the answer 10
		left = append(left, r.send(t, "POST", chatPath, chatBody).header.Get("X-Ratelimit-Remaining-Tokens"))
	}
	if diff := cmp.Diff([]string{"39", "18", "18"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	got := r.send(t, "POST", chatPath, chatBody)
	refused(429, "tokens", "rate_limit_exceeded")(t, got)
	if got.header.Get("Retry-After") != "" {
		t.Error("Retry-After without having been asked for")
	}
	// A smaller answer still fits.
	small := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hello there"}]}`
	if got := r.send(t, "POST", chatPath, small); got.status != 200 {
		t.Errorf("small request: %d %s", got.status, got.body)
	}
}

func TestQuotaOfConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("latency: {first_token: 1m}\nquota: {concurrent: 2}"))
		done := make(chan int, 2)
		for range 2 {
			go func() { done <- do(t.Context(), r.client, http.MethodPost, r.url+chatPath, chatBody).status }()
		}
		synctest.Wait()
		if n := r.InFlight("a"); n != 2 {
			t.Errorf("%d in flight, want 2", n)
		}
		refused(429, "requests", "rate_limit_exceeded")(t, r.send(t, "POST", chatPath, chatBody))
		if a, b := <-done, <-done; a != 200 || b != 200 {
			t.Errorf("got %d, %d", a, b)
		}
		if got := r.send(t, "POST", chatPath, chatBody); got.status != 200 {
			t.Errorf("after the two: %d", got.status)
		}
	})
}

// A slot comes back however a request ends.
func TestConcurrencySlotComesBack(t *testing.T) {
	r := newRig(t, oneUpstream("script: [reset, http-500, reset-mid-body, close-on-reuse, not-http]\nquota: {concurrent: 1}"), Options{})
	for range 6 {
		got := do(t.Context(), &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, http.MethodPost, r.url+chatPath, streamBody)
		if got.status == 429 {
			t.Fatal("a slot was lost")
		}
	}
}

func TestCompactDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 4 * time.Millisecond: "4ms", time.Second: "1s", 1574 * time.Millisecond: "1.574s",
		6 * time.Minute: "6m0s", time.Hour + 2*time.Minute + 3*time.Second: "1h2m3s", -time.Second: "0ms",
	} {
		if got := compact(d); got != want {
			t.Errorf("%d: got %q, want %q", d, got, want)
		}
	}
}
