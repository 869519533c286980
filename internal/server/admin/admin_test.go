package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/policies"
)

const token = "gwa-secret-of-the-test"

// library is a Library in memory: any text but "broken" compiles.
type library struct {
	mu      sync.Mutex
	state   *policies.State
	sources map[string][]byte
	changes []Change
	fails   error // what every change fails with
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	s, err := policies.NewState([]*policies.Policy{{Name: "filed", Kind: policies.Admission, Managed: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &library{state: s, sources: map[string][]byte{}}
}

func (l *library) State() *policies.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

func (l *library) Upload(ctx context.Context, u *policies.Upload, by Author) (*policies.Policy, *policies.Version, error) {
	if string(u.Body) == "broken" {
		return nil, nil, &policies.SourceError{Name: u.Name, Problems: []policies.Problem{
			{File: "p.rego", Line: 3, Column: 5, Rule: "unknown_field", Message: "input.request.tems is not in the contract", Fix: "write input.request.team"},
		}}
	}
	sum := sha256.Sum256(u.Body)
	v := &policies.Version{Digest: hex.EncodeToString(sum[:]), Format: u.Format, Profile: "opa", Size: len(u.Body), Uploaded: time.Unix(0, 0).UTC()}
	if v.Format == "" {
		v.Format = policies.FormatRego
	}
	err := l.Change(ctx, func(s *policies.State) (*policies.State, error) { return s.Upload(u.Name, u.Kind, v) }, by)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources[v.Digest] = u.Body
	p, err := l.state.Policy(u.Name)
	return p, v, err
}

func (l *library) Source(digest string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sources[digest], nil
}

func (l *library) Change(_ context.Context, op func(*policies.State) (*policies.State, error), by Author) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil {
		return l.fails
	}
	next, err := op(l.state)
	if err != nil {
		return err
	}
	l.state = next
	l.changes = append(l.changes, Change{
		ID: fmt.Sprintf("%03d", len(l.changes)), At: time.Unix(0, 0).UTC(),
		Actor: by.Actor, Address: by.Address, Action: by.Action, Object: by.Object,
	})
	return nil
}

func (l *library) Changes(before string, each func(Change) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range slices.Backward(l.changes) {
		if before != "" && c.ID >= before {
			continue
		}
		if !each(c) {
			return nil
		}
	}
	return nil
}

func (l *library) Status(string, string) policies.Status { return policies.Status{Evaluations: 7} }

func (l *library) Try(_ context.Context, _, _ string, input, _ []byte) (*policies.Trial, error) {
	if !json.Valid(input) {
		return nil, errors.New("not JSON")
	}
	return &policies.Trial{Outcome: "allowed"}, nil
}

// call is one request of a test.
type call struct {
	method, path string
	body         string
	header       map[string]string
}

func serve(h http.Handler, c call) *httptest.ResponseRecorder {
	r := httptest.NewRequest(c.method, "http://127.0.0.1:20129"+Prefix+c.path, strings.NewReader(c.body))
	r.Header.Set("Authorization", "Bearer "+token)
	for k, v := range c.header {
		switch {
		case k == "Host":
			r.Host = v
		case v == "":
			r.Header.Del(k)
		default:
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func handler(l *library) http.Handler {
	return New(Options{
		Logger: slog.New(slog.DiscardHandler), Library: l, Prober: l, Journal: l,
		Token: sha256.Sum256([]byte(token)), Hosts: []string{"gateway.example"},
		Clock: func() time.Time { return time.Unix(0, 0).UTC() },
	})
}

const (
	firstText  = "package gatewright.admission # 1"
	secondText = "package gatewright.admission # 2"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestLifeOfAPolicy(t *testing.T) {
	l := newLibrary(t)
	h := handler(l)
	one, two := digest(firstText), digest(secondText)
	for _, step := range []struct {
		name   string
		call   call
		status int
		says   string
	}{
		{"upload", call{method: "POST", path: "/policies?name=p&kind=admission", body: firstText}, 201, `"version":"` + one + `","state":"draft"`},
		{"upload another", call{method: "POST", path: "/policies?name=p&kind=admission", body: secondText, header: map[string]string{"Content-Type": "text/x-rego"}}, 201, two},
		{"broken", call{method: "POST", path: "/policies?name=p&kind=admission", body: "broken"}, 422, `"problems":[{"file":"p.rego","line":3,"column":5,"rule":"unknown_field"`},
		{"list", call{method: "GET", path: "/policies"}, 200, `"data":[{"name":"filed"`},
		{"list on", call{method: "GET", path: "/policies?limit=1"}, 200, `"next":"filed"`},
		{"list from", call{method: "GET", path: "/policies?limit=1&after=filed"}, 200, `"data":[{"name":"p"`},
		{"activate one", call{method: "POST", path: "/policies/p/activate", body: `{"version":"` + one[:12] + `"}`}, 200, `"active":"` + one},
		{"canary", call{method: "POST", path: "/policies/p/canary", body: `{"share":0.1}`}, 200, `"canary":{"version":"` + two + `","share":0.1}`},
		{"stop", call{method: "POST", path: "/policies/p/stop"}, 200, `"active":"` + one},
		{"shadow", call{method: "POST", path: "/policies/p/shadow"}, 200, `"shadow":"` + two},
		{"activate", call{method: "POST", path: "/policies/p/activate"}, 200, `"active":"` + two},
		{"versions", call{method: "GET", path: "/policies/p/versions"}, 200, `"state":"retired"`},
		{"one version", call{method: "GET", path: "/policies/p/versions/" + one[:8]}, 200, `"state":"retired"`},
		{"source", call{method: "GET", path: "/policies/p/versions/" + one + "/source"}, 200, firstText},
		{"roll back", call{method: "POST", path: "/policies/p/rollback", body: "{}"}, 200, `"active":"` + one},
		{"bind", call{method: "PUT", path: "/bindings/b", body: `{"policy":"p","model":"m","on_fault":"fail_open","parameters":{"from":8},"grant":["last_user"],"order":2}`}, 200, `"parameters":{"from":8},"grant":["last_user"],"order":2`},
		{"bindings", call{method: "GET", path: "/bindings"}, 200, `"id":"b"`},
		{"delete what is bound", call{method: "DELETE", path: "/policies/p"}, 409, `binding \"b\" names it`},
		{"try", call{method: "POST", path: "/policies/p/try", body: `{"input":{"v":1}}`}, 200, `"outcome":"allowed"`},
		{"unbind", call{method: "DELETE", path: "/bindings/b"}, 204, ""},
		{"delete a version", call{method: "DELETE", path: "/policies/p/versions/" + two}, 204, ""},
		{"delete", call{method: "DELETE", path: "/policies/p"}, 204, ""},
		{"gone", call{method: "GET", path: "/policies/p"}, 404, `"code":"not_found"`},
		{"audit", call{method: "GET", path: "/audit?limit=2"}, 200, `"action":"policy.delete","object":"policy/p"`},
	} {
		w := serve(h, step.call)
		if w.Code != step.status || !strings.Contains(w.Body.String(), step.says) {
			t.Fatalf("%s: got %d %s, want %d that says %s", step.name, w.Code, w.Body, step.status, step.says)
		}
	}
	if got, want := len(l.changes), 12; got != want {
		t.Errorf("%d entries of the audit log, want %d: %v", got, want, l.changes)
	}
	if got := l.changes[0]; got.Actor != "token" || got.Address != "192.0.2.1" || got.Action != "policy.upload" || got.Object != "policy/p" {
		t.Errorf("got %+v", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name   string
		call   call
		status int
		says   string
	}{
		{"no token", call{method: "GET", path: "/policies", header: map[string]string{"Authorization": ""}}, 401, "invalid_admin_token"},
		{"another token", call{method: "GET", path: "/policies", header: map[string]string{"Authorization": "Bearer x"}}, 401, "invalid_admin_token"},
		{"an empty token", call{method: "GET", path: "/policies", header: map[string]string{"Authorization": "Bearer"}}, 401, "invalid_admin_token"},
		{"another scheme", call{method: "GET", path: "/policies", header: map[string]string{"Authorization": "Basic " + token}}, 401, "invalid_admin_token"},
		{"no token, no path", call{method: "GET", path: "/nothing", header: map[string]string{"Authorization": ""}}, 401, "invalid_admin_token"},
		{"a name of somebody else", call{method: "GET", path: "/policies", header: map[string]string{"Host": "evil.example:20129"}}, 403, "host_refused"},
		{"a name of its own", call{method: "GET", path: "/policies", header: map[string]string{"Host": "gateway.example:20129"}}, 200, "data"},
		{"localhost", call{method: "GET", path: "/policies", header: map[string]string{"Host": "localhost"}}, 200, "data"},
		{"an IPv6 address", call{method: "GET", path: "/policies", header: map[string]string{"Host": "[::1]:20129"}}, 200, "data"},
		{"no path", call{method: "GET", path: "/nothing"}, 404, "not_found"},
		{"no such method", call{method: "PATCH", path: "/policies"}, 405, "takes GET, POST, not PATCH"},
		{"no name", call{method: "POST", path: "/policies?kind=admission", body: "x"}, 400, "name is missing"},
		{"an unknown parameter", call{method: "POST", path: "/policies?name=p&knd=admission", body: "x"}, 400, `there is no parameter \"knd\"`},
		{"a parameter twice", call{method: "POST", path: "/policies?name=p&name=q", body: "x"}, 400, "stands twice"},
		{"a name that cannot be", call{method: "POST", path: "/policies?name=a%2Fb&kind=admission", body: "x"}, 400, "policy name"},
		{"another type", call{method: "POST", path: "/policies?name=p&kind=admission", body: "x", header: map[string]string{"Content-Type": "text/html"}}, 415, "want text/x-rego"},
		{"too large", call{method: "POST", path: "/policies?name=p&kind=admission", body: strings.Repeat("x", maxUpload+1)}, 413, "larger than 10485760 bytes"},
		{"of the file", call{method: "POST", path: "/policies/filed/activate"}, 409, "managed_by_config"},
		{"an unknown field", call{method: "POST", path: "/policies/filed/activate", body: `{"vresion":"x"}`}, 400, "vresion"},
		{"a wrong type", call{method: "POST", path: "/policies/filed/activate", body: `{"version":1}`}, 400, "version: want string, not a JSON number"},
		{"two objects", call{method: "POST", path: "/policies/filed/activate", body: `{}{}`}, 400, "something follows"},
		{"a share for an activation", call{method: "POST", path: "/policies/filed/activate", body: `{"share":0.5}`}, 400, "only a canary has one"},
		{"a canary without a share", call{method: "POST", path: "/policies/filed/canary"}, 400, "share is missing"},
		{"a binding of nothing", call{method: "PUT", path: "/bindings/b", body: `{}`}, 400, "policy is missing"},
		{"a binding with two ids", call{method: "PUT", path: "/bindings/b", body: `{"id":"c","policy":"filed"}`}, 400, "id:"},
		{"a binding of nobody", call{method: "PUT", path: "/bindings/b", body: `{"policy":"q"}`}, 404, "there are filed"},
		{"a wrong fault mode", call{method: "PUT", path: "/bindings/b", body: `{"policy":"filed","on_fault":"ignore"}`}, 400, "fail_closed or fail_open"},
		{"a wrong grant", call{method: "PUT", path: "/bindings/b", body: `{"policy":"filed","grant":["all"]}`}, 400, "want text, last_user"},
		{"a wrong tolerance", call{method: "PUT", path: "/bindings/b", body: `{"policy":"filed","tolerance":"-1"}`}, 400, "tolerance"},
		{"a page of nothing", call{method: "GET", path: "/policies?after=q"}, 400, "begin again"},
		{"a page without an end", call{method: "GET", path: "/policies?limit=100000"}, 400, "from 1 to 1000"},
		{"try without input", call{method: "POST", path: "/policies/filed/try"}, 400, "input is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLibrary(t)
			before := l.State()
			w := serve(handler(l), tc.call)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("got %d %s, want %d that says %s", w.Code, w.Body, tc.status, tc.says)
			}
			if l.State() != before || len(l.changes) > 0 {
				t.Error("the state has changed")
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
			if strings.Contains(w.Body.String(), token) {
				t.Error("the answer holds the token")
			}
		})
	}
}

// endless is a body that nobody should read to its end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestALargeUploadIsNotRead(t *testing.T) {
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+Prefix+"/policies?name=p&kind=admission", io.NopCloser(body))
	r.ContentLength = 1 << 40
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	handler(newLibrary(t)).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || body.read > 0 {
		t.Errorf("got %d after reading %d bytes", w.Code, body.read)
	}
	r.ContentLength = -1
	w = httptest.NewRecorder()
	handler(newLibrary(t)).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || body.read > 2*maxUpload {
		t.Errorf("of unknown length: got %d after reading %d bytes", w.Code, body.read)
	}
}

func TestAFaultOfTheStoreIsTold(t *testing.T) {
	l := newLibrary(t)
	l.fails = errors.New("write objects: no space left on device")
	w := serve(handler(l), call{method: "POST", path: "/policies?name=p&kind=admission", body: firstText})
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "no space left") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
