package fake

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A client that leaves ends the work at once, wherever it stands.
func TestClientLeaves(t *testing.T) {
	for _, c := range []struct {
		name, behaviour, body string
		status                int // recorded
	}{
		{"before the headers", "latency: {headers: 1h}", streamBody, 0},
		{"before a plain answer", "latency: {first_token: 1h}", chatBody, 0},
		{"before the first token", "latency: {first_token: 1h}", streamBody, 200},
		{"in mid-stream", "latency: {per_token: 1m}\nanswer: {tokens: 100}", streamBody, 200},
		{"on a connection that was taken over", "always: {fault: headers-dripped, delay: 1m}", streamBody, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubble(t, oneUpstream(c.behaviour))
				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
				defer cancel()
				done := make(chan reply, 1)
				go func() { done <- do(ctx, r.client, http.MethodPost, r.url+chatPath, c.body) }()
				synctest.Wait()
				if n := r.InFlight("a"); n != 1 {
					t.Errorf("%d in flight, want 1", n)
				}
				if got := <-done; got.err == nil && got.readErr == nil {
					t.Errorf("answered %d in time", got.status)
				}
				synctest.Wait()
				s := r.Requests("a")[0]
				if !s.Cancelled || s.Finished || s.Status != c.status || s.Ended.Sub(s.Time) != 150*time.Second {
					t.Errorf("recorded %+v, want it cancelled after 150s with status %d", s, c.status)
				}
				if n := r.InFlight("a"); n != 0 {
					t.Errorf("%d in flight, want 0", n)
				}
			})
		})
	}
}

// Close ends what would never end, and a broken answer never looks whole.
func TestCloseCutsAnswers(t *testing.T) {
	for _, fault := range []string{"silent", "stall", "stall-after-headers", "headers-dripped", "comments-only", "stall-after-finish", "gaps"} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubble(t, oneUpstream("answer: {tokens: 5}\nalways: "+fault))
				done := make(chan reply, 1)
				go func() { done <- do(t.Context(), r.client, http.MethodPost, r.url+chatPath, streamBody) }()
				synctest.Wait()
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				if got := <-done; got.err == nil && got.readErr == nil {
					t.Errorf("the client saw a clean end: %d %q", got.status, got.body)
				}
				s := r.Requests("a")[0]
				if s.Cancelled || s.Finished || s.Ended.IsZero() || r.InFlight("a") != 0 {
					t.Errorf("recorded %+v, %d in flight; want neither cancelled nor finished", s, r.InFlight("a"))
				}
			})
		})
	}
}

func TestClosedRefuses(t *testing.T) {
	r := newRig(t, oneUpstream("{}"), Options{})
	answered(t, r.send(t, "POST", chatPath, chatBody))
	for range 2 { // twice is as good as once
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got := r.send(t, "POST", chatPath, chatBody)
	if got.status != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", got.status)
	}
	if n := r.Calls("a"); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

// A client that does not read must not keep Close waiting.
func TestCloseWithReaderThatStalls(t *testing.T) {
	u := New(mustParse(t, oneUpstream("always: {fault: huge-body, size: 1GiB}")), Options{})
	srv := httptest.NewServer(u)
	defer srv.Close()
	defer srv.Client().CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+chatPath, strings.NewReader(chatBody))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, resp.Body)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if n := u.InFlight("a"); n != 0 {
		t.Errorf("%d in flight", n)
	}
}
