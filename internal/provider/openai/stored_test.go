package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/scan"
)

// TestStored asks for what an upstream keeps.
func TestStored(t *testing.T) {
	r, remembered := answersRig(t, rigOptions{}, "answer: {text: one two}", "{}")
	s, _, err := r.create(t.Context(), false, "")
	if err != nil {
		t.Fatal(err)
	}
	created := s.out.String()
	id := s.readAnswers(t, false).ID

	s, d, err := r.stored(t.Context(), wire.StoredGet, id, "include[]=reasoning.encrypted_content&include[]=x")
	if err != nil || s.out.String() != created || d.Result.Usage.Known {
		t.Errorf("fetched %s, usage %+v: %v; created %s", s.out.String(), d.Result.Usage, err, created)
	}
	seen := r.fake.Requests("a")[1]
	if seen.Method != http.MethodGet || seen.Path != "/v1/responses/"+id || seen.Query != "include%5B%5D=reasoning.encrypted_content&include%5B%5D=x" {
		t.Errorf("upstream sees %s %s?%s", seen.Method, seen.Path, seen.Query)
	}
	if h := seen.Header; h.Get("Content-Type") != "" || h.Get("Authorization") != "Bearer "+secretKey || h.Get("Traceparent") == "" || seen.Size != 0 {
		t.Errorf("upstream sees %v and %d bytes", h, seen.Size)
	}

	s, _, err = r.stored(t.Context(), wire.StoredInputItems, id, "limit=5")
	var list struct{ Data []struct{ ID string } }
	if err != nil || json.Unmarshal([]byte(s.out.String()), &list) != nil || len(list.Data) != 1 {
		t.Fatalf("items %s: %v", s.out.String(), err)
	}
	if !slices.Contains(remembered.all(), "k a item:"+list.Data[0].ID) {
		t.Errorf("the item %s is not remembered: %v", list.Data[0].ID, remembered.all())
	}

	s, _, err = r.stored(t.Context(), wire.StoredDelete, id, "")
	if err != nil || !strings.Contains(s.out.String(), `"deleted":true`) || !slices.Contains(remembered.all(), "k forgot "+id) {
		t.Errorf("deleted %s: %v; %v", s.out.String(), err, remembered.all())
	}
	for _, action := range []wire.StoredAction{wire.StoredGet, wire.StoredDelete, wire.StoredCancel, wire.StoredInputItems} {
		_, d, err := r.stored(t.Context(), action, id, "")
		if u := upstreamError(t, err); u.Status != 404 || attempts(d) != "a:client" || !strings.Contains(u.Message, "not found") {
			t.Errorf("action %d: %s, %+v", action, attempts(d), u)
		}
	}
	if got := r.stats("a"); got.FailuresInRow != 0 || got.InFlight != 0 || r.fake.Calls("b") != 0 {
		t.Errorf("health %+v", got)
	}
}

// TestStoredInTheBackground polls, cancels and resumes.
func TestStoredInTheBackground(t *testing.T) {
	r, remembered := answersRig(t, rigOptions{}, "{answer: {text: one two three}, latency: {per_token: 10s}}", "{}")
	s, d, err := r.create(t.Context(), false, `,"background":true`)
	first := s.readAnswers(t, false)
	if err != nil || first.Status != "queued" || d.Result.Usage.Known || !slices.Contains(remembered.all(), "k a response:"+first.ID) {
		t.Fatalf("reply %+v, usage %+v: %v", first, d.Result.Usage, err)
	}
	if s, _, err = r.stored(t.Context(), wire.StoredGet, first.ID, ""); err != nil || s.readAnswers(t, false).Status != "in_progress" {
		t.Errorf("polled %s: %v", s.out.String(), err)
	}
	if s, _, err = r.stored(t.Context(), wire.StoredCancel, first.ID, ""); err != nil || s.readAnswers(t, false).Status != "cancelled" {
		t.Errorf("cancelled %s: %v", s.out.String(), err)
	}
	if seen := r.fake.Requests("a")[2]; seen.Method != http.MethodPost || seen.Path != "/v1/responses/"+first.ID+"/cancel" {
		t.Errorf("upstream sees %s %s", seen.Method, seen.Path)
	}

	r, remembered = answersRig(t, rigOptions{}, "answer: {text: one two three}", "{}")
	s, _, err = r.create(t.Context(), false, `,"background":true`)
	if err != nil {
		t.Fatal(err)
	}
	id := s.readAnswers(t, false).ID
	all, _, err := r.stored(t.Context(), wire.StoredGet, id, "stream=true")
	if err != nil {
		t.Fatal(err)
	}
	rest, d, err := r.stored(t.Context(), wire.StoredGet, id, "stream=true&starting_after=4")
	if err != nil || !strings.HasSuffix(all.out.String(), rest.out.String()) || d.Result.Usage.Known {
		t.Errorf("resumed %s: %v, usage %+v", rest.out.String(), err, d.Result.Usage)
	}
	got := all.readAnswers(t, true)
	resumed := rest.readAnswers(t, true)
	if got.Text != "one two three" || len(resumed.Events) != len(got.Events)-5 || len(resumed.Models) != 1 || resumed.Models[0] != publicModel {
		t.Errorf("whole %+v, resumed %+v", got, resumed)
	}
	if h := rest.answer.Header["Content-Type"]; len(h) != 1 || h[0] != "text/event-stream" {
		t.Errorf("content type %q", h)
	}
	if item := "k a item:msg_" + strings.TrimPrefix(id, "resp_"); !slices.Contains(remembered.all(), item) {
		t.Errorf("%s is not remembered: %v", item, remembered.all())
	}
}

// TestStoredFailures: that an answer failed is what was asked for, and no
// failure of the call.
func TestStoredFailures(t *testing.T) {
	const failed = `{"id":"resp_1","object":"response","status":"failed","model":"up-model","error":{"code":"server_error","message":"it broke"},"output":[]}`
	const events = "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"model\":\"up-model\"}}\n\n" +
		"event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,\"response\":" + failed + "}\n\n"
	begun, _, _ := strings.Cut(events, "event: response.failed")
	cases := []struct {
		name, kind, body, query string
		want                    string // what the client gets; empty: an error
		class                   string
	}{
		{"failed", exchange.TypeJSON, failed, "", strings.ReplaceAll(failed, "up-model", publicModel), "ok"},
		{"failed, streamed", exchange.TypeEvents, events, "stream=true", strings.ReplaceAll(events, "up-model", publicModel), "ok"},
		{"no model", exchange.TypeJSON, `{"id":"resp_1","object":"response.deleted"}`, "", `{"id":"resp_1","object":"response.deleted"}`, "ok"},
		{"an error inside", exchange.TypeJSON, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, "", "", "rate_limit"},
		{"no JSON", exchange.TypeJSON, `{"id":`, "", "", "server"},
		{"no object", exchange.TypeJSON, `["resp_1"]`, "", "", "server"},
		{"a page", "text/html", "<html>", "", "", "server"},
		{"broken off", exchange.TypeEvents, begun, "stream=true", "", "truncated"},
		{"nothing", exchange.TypeEvents, "", "stream=true", "", "server"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer up.Close()
			r, _ := answersRig(t, rigOptions{}, "{}", "{}")
			r = newEngine(t, rigOptions{}, r.client, map[string]string{"a": up.URL, "b": r.baseURL})
			s, d, err := r.stored(t.Context(), wire.StoredGet, "resp_1", tc.query)
			if got := attempts(d); got != "a:"+tc.class || (err == nil) != (tc.class == "ok") {
				t.Errorf("attempts %s: %v", got, err)
			}
			if tc.want != "" && s.out.String() != tc.want {
				t.Errorf("got %s\nwant %s", s.out.String(), tc.want)
			}
		})
	}
}

// TestStoredAddresses keeps ids and queries of clients in their place.
func TestStoredAddresses(t *testing.T) {
	for _, tc := range []struct {
		name, base, id, query string
		want                  string
	}{
		{"plain", "http://up.example/v1", "resp_1", "", "http://up.example/v1/responses/resp_1"},
		{"odd id", "http://up.example/v1", "a/../b?c#d", "x=1", "http://up.example/v1/responses/a%2F..%2Fb%3Fc%23d?x=1"},
		{"configured query", "http://up.example/v1?key=own", "resp_1", "key=other&x=1", "http://up.example/v1/responses/resp_1?key=own&x=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := answersRig(t, rigOptions{}, "{}", "{}")
			a, err := New(Config{BaseURL: tc.base, Model: "m", Client: r.client})
			if err != nil {
				t.Fatal(err)
			}
			q := map[string][]string{}
			for pair := range strings.SplitSeq(tc.query, "&") {
				if name, value, ok := strings.Cut(pair, "="); ok {
					q[name] = []string{value}
				}
			}
			if got := a.storedURL(&wire.Stored{ID: tc.id, Query: q}).String(); got != tc.want {
				t.Errorf("address %s, want %s", got, tc.want)
			}
		})
	}
	r, _ := answersRig(t, rigOptions{}, "{}", "{}")
	for _, id := range []string{"", ".", ".."} {
		_, d, err := r.stored(t.Context(), wire.StoredGet, id, "")
		if u := upstreamError(t, err); u.Status != 404 || attempts(d) != "a:client" || r.fake.Calls("a") != 0 {
			t.Errorf("id %q: %+v", id, u)
		}
	}
}

// TestNews names each thing once, whatever is forgotten of a long stream.
func TestNews(t *testing.T) {
	r, remembered := answersRig(t, rigOptions{}, "{}", "{}")
	x := r.adapter(t).newCall(r.call(), nil)
	s := newEventStream(t.Context(), &x, strings.NewReader(manyItems(200)))
	s.keeps = true
	for range 200 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for i := range 200 {
		want = append(want, "k a item:"+itemID(i))
	}
	if diff := cmp.Diff(want, remembered.all()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}

func FuzzStored(f *testing.F) {
	f.Add([]byte(`{"id":"r","model":"m","error":{"code":"x"},"data":[{"id":"i"},{"id":1},2]}`))
	f.Add([]byte(`{"type":"response.failed","response":{"model":"a","model":"b","x":[1e400]}}`))
	f.Add([]byte(`{"model":null,"response":[],"data":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := readKept(data)
		if err != nil && !k.fault && json.Valid(data) && strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
			if _, tooDeep := errors.AsType[*scan.DepthError](err); !tooDeep {
				t.Errorf("%q is refused: %v", data, err)
			}
		}
		for _, path := range [][]string{nil, {"response"}} {
			out := withModel(nil, data, "public", path...)
			if json.Valid(data) != json.Valid(out) {
				t.Errorf("%q became %q", data, out)
			}
			_ = kindOf(data)
		}
	})
}

// adapter returns the adapter of a.
func (r *rig) adapter(t *testing.T) *Adapter {
	t.Helper()
	d, ok := r.snapshot.Deployment("a")
	if !ok {
		t.Fatal("there is no deployment a")
	}
	a, ok := d.Target.(*provider.Target).Adapter.(*Adapter)
	if !ok {
		t.Fatal("a has another adapter")
	}
	return a
}

// call is one of a by the usual caller.
func (r *rig) call() *provider.Call {
	d, _ := r.snapshot.Deployment("a")
	return &provider.Call{
		Request: &engine.Request{Caller: &engine.Caller{Key: "k"}}, Deployment: d, PublicModel: publicModel, Clock: time.Now, Waiting: func() {},
	}
}

func itemID(i int) string { return fmt.Sprintf("msg_%d", i) }

// manyItems is a stream that ends so many items, each with content.
func manyItems(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "data: {\"type\":\"response.output_item.done\",\"sequence_number\":%d,\"output_index\":%d,"+
			"\"item\":{\"id\":%q,\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"x\"}]}}\n\n", i, i, itemID(i))
	}
	return b.String()
}
