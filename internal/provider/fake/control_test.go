package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// record answers a request without a network.
func record(t *testing.T, h http.Handler, method, path, body string) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return reply{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
}

func TestSeen(t *testing.T) {
	r := newRig(t, oneUpstream("script: [ok, content-then-error, reset]"), Options{KeepBody: 10})
	before := time.Now()
	r.send(t, "POST", chatPath+"?x=1", chatBody, "X-Mine", "1", "Authorization", "Bearer k")
	r.send(t, "POST", chatPath, streamBody)
	r.send(t, "POST", chatPath, chatBody)
	r.send(t, "GET", "/a/v1/models", "")
	digest := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	want := []Seen{
		{
			Call: 1, Method: "POST", Path: "/v1/chat/completions", Query: "x=1", BodySHA256: digest(chatBody), Body: []byte(chatBody[:10]), Size: int64(len(chatBody)),
			Model: "m", Status: 200, Finished: true,
		},
		{
			Call: 2, Method: "POST", Path: "/v1/chat/completions", BodySHA256: digest(streamBody), Body: []byte(streamBody[:10]), Size: int64(len(streamBody)),
			Model: "m", Stream: true, Status: 200, Fault: "content-then-error", Finished: true,
		},
		{
			Call: 3, Method: "POST", Path: "/v1/chat/completions", BodySHA256: digest(chatBody), Body: []byte(chatBody[:10]), Size: int64(len(chatBody)),
			Model: "m", Fault: "reset", Finished: true,
		},
		{Call: 4, Method: "GET", Path: "/v1/models", BodySHA256: digest(""), Status: 200, Finished: true},
	}
	got := r.Requests("a")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Seen{}, "Time", "Ended", "Header"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := got[0]; s.Time.Before(before) || s.Ended.Before(s.Time) || s.Header.Get("X-Mine") != "1" || s.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("got %+v", s)
	}
	got[0].Header.Set("X-Mine", "2")
	if r.Requests("a")[0].Header.Get("X-Mine") != "1" {
		t.Error("the record shares its headers")
	}
}

func TestSeenIsBounded(t *testing.T) {
	r := newRig(t, oneUpstream("{}"), Options{Keep: 3})
	for range 8 {
		r.send(t, "GET", "/a/v1/models", "")
	}
	var calls []int
	for _, s := range r.Requests("a") {
		calls = append(calls, s.Call)
	}
	if diff := cmp.Diff([]int{6, 7, 8}, calls); diff != "" || r.Calls("a") != 8 {
		t.Errorf("%d calls (-want +got):\n%s", r.Calls("a"), diff)
	}
}

func TestUnknownUpstream(t *testing.T) {
	u := New(mustParse(t, oneUpstream("{}")), Options{})
	defer closing(t, u)
	if u.Calls("x") != 0 || u.InFlight("x") != 0 || u.Requests("x") != nil {
		t.Error("an unknown upstream has a record")
	}
	if err := u.Set("x", Behaviour{}); err == nil || err.Error() != `no upstream "x"; there are: a` {
		t.Errorf("got %v", err)
	}
}

func TestBodyTooLong(t *testing.T) {
	r := newRig(t, oneUpstream("{}"), Options{MaxBody: 50})
	if got := r.send(t, "POST", chatPath, chatBody); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", got.status)
	}
}

func TestSet(t *testing.T) {
	r := newRig(t, oneUpstream("always: http-503"), Options{})
	if got := r.send(t, "POST", chatPath, chatBody); got.status != 503 {
		t.Errorf("got %d", got.status)
	}
	if err := r.Set("a", Behaviour{Script: []Step{{Fault: Fault{Name: "http-429"}}}}); err != nil {
		t.Fatal(err)
	}
	if a, b := r.send(t, "POST", chatPath, chatBody), r.send(t, "POST", chatPath, chatBody); a.status != 429 || b.status != 200 {
		t.Errorf("got %d, %d", a.status, b.status)
	}
	err := r.Set("a", Behaviour{Always: Fault{Name: "nonsense"}})
	if err == nil || !strings.HasPrefix(err.Error(), `behaviour of "a": always: no fault "nonsense"`) {
		t.Errorf("got %v", err)
	}
	if got := r.send(t, "POST", chatPath, chatBody); got.status != 200 || r.Calls("a") != 4 {
		t.Errorf("got %d after %d calls; a refused behaviour must change nothing", got.status, r.Calls("a"))
	}
}

func TestControls(t *testing.T) {
	u := New(mustParse(t, "seed: 7\nupstreams:\n  a: {script: [http-429, ok]}\n  b: {}\n"), Options{})
	defer closing(t, u)
	for range 2 {
		record(t, u, "POST", chatPath, chatBody)
	}
	type state struct {
		Seed      int
		Upstreams map[string]struct {
			Calls    int
			Statuses map[string]int
			Faults   map[string]int
			Script   map[string]any
		}
	}
	read := func(h http.Handler) (s state) {
		t.Helper()
		got := record(t, h, "GET", "/_sim/state", "")
		if err := json.Unmarshal(got.body, &s); err != nil || got.status != 200 {
			t.Fatalf("%d, %v in %s", got.status, err, got.body)
		}
		return s
	}
	s := read(u.Handler("b"))
	a := s.Upstreams["a"]
	if s.Seed != 7 || len(s.Upstreams) != 2 || a.Calls != 2 || a.Statuses["429"] != 1 || a.Statuses["200"] != 1 || a.Faults["http-429"] != 1 || a.Script["decided"] != 2.0 || a.Script["total"] != 2.0 {
		t.Errorf("got %+v", s)
	}

	if got := record(t, u, "POST", "/_sim/upstreams/a", "always: {fault: http-503, code: busy}"); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	refused(503, "service_unavailable_error", "busy")(t, record(t, u, "POST", chatPath, chatBody))
	got := record(t, u, "POST", "/_sim/upstreams/a", "always: http-503\nquote: 1\nfail: {rate: 3}")
	const want = "behaviour:2:1: quote: unknown key; did you mean quota? (known: always, answer, api_key, fail, faults_on, latency, models, quota, repeat, script)\n" +
		`behaviour:3:14: fail.rate: found "3"; write a share from 0 to 1, or from 0% to 100%`
	if e := errorObject(t, got.body); got.status != 400 || e["message"] != want {
		t.Errorf("got %d %v", got.status, e)
	}

	if got := record(t, u, "POST", "/_sim/reset", ""); got.status != 204 || u.Calls("a") != 0 {
		t.Errorf("got %d, %d calls", got.status, u.Calls("a"))
	}
	var faults faultsReply
	if err := json.Unmarshal(record(t, u, "GET", "/_sim/faults", "").body, &faults); err != nil || len(faults.Faults) != len(Faults()) || len(faults.Elsewhere) != len(Elsewhere()) {
		t.Errorf("%v, %d and %d faults", err, len(faults.Faults), len(faults.Elsewhere))
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/_sim/state", "", 405},
		{"GET", "/_sim/reset", "", 405},
		{"DELETE", "/_sim/upstreams/a", "", 405},
		{"GET", "/_sim/upstreams/x", "", 404},
		{"GET", "/_sim/other", "", 404},
		{"POST", "/_sim/upstreams/a", strings.Repeat("#", maxBehaviour+1), 413},
	} {
		if got := record(t, u, c.method, c.path, c.body); got.status != c.status || errorObject(t, got.body)["type"] != "simulator_error" {
			t.Errorf("%s %s: got %d %s, want %d", c.method, c.path, got.status, got.body, c.status)
		}
	}
	if u.Calls("a") != 0 {
		t.Error("the controls count as calls")
	}
}

func TestControlShowsNoKeys(t *testing.T) {
	u := New(mustParse(t, oneUpstream("{}")), Options{})
	defer closing(t, u)
	req := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(chatBody))
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Cookie", "X-Other"} {
		req.Header.Set(name, "sk-canary")
	}
	u.ServeHTTP(httptest.NewRecorder(), req)
	got := string(record(t, u, "GET", "/_sim/upstreams/a", "").body)
	if n := strings.Count(got, "sk-canary"); n != 1 {
		t.Errorf("the key is there %d times, want once, in X-Other: %s", n, got)
	}
	var v struct {
		Requests []struct {
			Call       int
			Status     int
			BodySHA256 string `json:"body_sha256"`
		}
	}
	if err := json.Unmarshal([]byte(got), &v); err != nil || len(v.Requests) != 1 || v.Requests[0].Status != 200 || len(v.Requests[0].BodySHA256) != 64 {
		t.Errorf("%v in %s", err, got)
	}
}

func TestLogLine(t *testing.T) {
	var buf strings.Builder
	r := newRig(t, oneUpstream("always: http-429"), Options{Logger: slog.New(slog.NewJSONHandler(&buf, nil))})
	r.send(t, "POST", chatPath, streamBody)
	if err := r.Close(); err != nil { // the line is written by then
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(buf.String()), &line); err != nil {
		t.Fatalf("%v in %q", err, buf.String())
	}
	delete(line, "time")
	delete(line, "duration")
	delete(line, "bytes")
	want := map[string]any{
		"level": "INFO", "msg": "request", "upstream": "a", "call": 1.0, "method": "POST", "path": "/v1/chat/completions",
		"model": "m", "stream": true, "status": 429.0, "fault": "http-429", "cancelled": false,
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
