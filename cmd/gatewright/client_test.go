package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// cli runs a command line in this process.
func cli(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(t.Output())
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

// fakeAPI answers what a test says.
func fakeAPI(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	t.Setenv("GATEWRIGHT_ADMIN_TOKEN", testToken)
	return s.URL
}

func TestExitStatus(t *testing.T) {
	t.Setenv("GATEWRIGHT_ADMIN_TOKEN", testToken)
	devNull, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = devNull.Close() }()
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = devNull, devNull
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	for _, tt := range []struct {
		args string
		want int
	}{
		{"policy", 0},
		{"policy inspect ../../testdata/wasm/guests/rank.wasm", 0},
		{"policy inspect doc.go/absent.wasm", exitFailed},
		{"policy list --admin http://127.0.0.1:1", exitFailed},
		{"policy list --admin http://", exitUsage},
		{"policy list --nope", exitUsage},
		{"policy canary p --share 2", exitUsage},
		{"policy new p --kind neither", exitUsage},
		{"bind b", exitUsage},
		{"bind", exitUsage},
	} {
		if got := run(context.Background(), strings.Fields(tt.args)); got != tt.want {
			t.Errorf("gatewright %s: status %d, want %d", tt.args, got, tt.want)
		}
	}
}

// A list is read to its end, page by page.
func TestListReadsAllPages(t *testing.T) {
	var asked []string
	url := fakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		if r.URL.Query().Get("after") == "" {
			_, _ = fmt.Fprint(w, `{"data":[{"name":"a","kind":"admission"},{"name":"b","kind":"ranking"}],"next":"b"}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"data":[{"name":"c","kind":"ranking","canary":{"version":"0123456789abcdef","share":0.25}}]}`)
	})
	out, err := cli(t, "policy", "list", "--admin", url+"/", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Data []policyView }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Data) != 3 || list.Data[2].Name != "c" {
		t.Errorf("%v, %s", err, out)
	}
	if want := []string{"/admin/v1/policies?limit=1000", "/admin/v1/policies?after=b&limit=1000"}; strings.Join(asked, " ") != strings.Join(want, " ") {
		t.Errorf("asked %v, want %v", asked, want)
	}
	if out, err = cli(t, "policy", "list", "--admin", url); err != nil || !strings.Contains(out, "0123456789ab 25%") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A proxy's path stays in front, and a name stays one segment.
func TestPathsAreEscaped(t *testing.T) {
	var asked string
	url := fakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.EscapedPath()
		w.WriteHeader(http.StatusNoContent)
	})
	if _, err := cli(t, "bind", "delete", "a/b c?", "--admin", url+"/behind/admin/v1"); err != nil {
		t.Fatal(err)
	}
	if want := "DELETE /behind/admin/v1/bindings/a%2Fb%20c%3F"; asked != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// What is not the admin API is told so, and gets the token at most once.
func TestAnswersOfOthers(t *testing.T) {
	tests := []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprint(w, "<html>sorry</html>")
		}, "502 Bad Gateway, which is not the admin API"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("the redirect is followed")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "307 Temporary Redirect"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") }, "read the answer of the admin API"},
		{"the listener of clients", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"error":{"message":"there is no path /admin/v1/policies","type":"invalid_request_error","param":null,"code":null}}`)
		}, "there is no path /admin/v1/policies"},
		{"a connection that breaks", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the admin API at http://127.0.0.1:"},
		{"text that steers a terminal", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": "x", "message": "a\x1b[2Jb"}})
		}, "a?[2Jb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := fakeAPI(t, tt.handle)
			_, err := cli(t, "policy", "list", "--admin", url)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), testToken) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if _, ok := errors.AsType[usageError](err); ok {
				t.Error("it counts as wrong usage")
			}
		})
	}
}

// A trial that is a fault fails, after it was shown.
func TestTryShowsFaults(t *testing.T) {
	url := fakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Input, Parameters json.RawMessage
			Version           string
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || string(body.Input) != `{"v":1}` || string(body.Parameters) != `{"a":1.50}` || body.Version != "abcdef012" {
			t.Errorf("asked with %v: %s %s %s", err, body.Input, body.Parameters, body.Version)
		}
		_, _ = fmt.Fprint(w, `{"outcome":"fault","fault":"over budget","micros":5000,"order":[{"id":"a","score":1.5},{"id":"b"}]}`)
	})
	input := t.TempDir() + "/input.json"
	if err := os.WriteFile(input, []byte(`{"v":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := cli(t, "policy", "try", "p", "--admin", url, "--input", input, "--param", "a=1.50", "--version", "abcdef012")
	if !errors.Is(err, errSaid) {
		t.Errorf("error = %v", err)
	}
	for _, want := range []string{"fault in 5ms", "fault: over budget", "1      a          1.5", "2      b          -"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
