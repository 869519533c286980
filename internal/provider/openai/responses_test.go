package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
)

// TestResponsesPassThrough changes the model's name in requests and answers, and
// nothing else.
func TestResponsesPassThrough(t *testing.T) {
	r, _ := answersRig(t, rigOptions{}, "{}", "{}")
	body := answersBody(false, `,"disable_fallbacks":true`)
	s, _, err := r.serve(t.Context(), answersRequest(t, responses.Create, body))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(body, publicModel, "up-model", 1), `,"disable_fallbacks":true`, "", 1)
	seen := r.fake.Requests("a")[0]
	if string(seen.Body) != want || seen.Path != "/v1/responses" || seen.Method != http.MethodPost {
		t.Errorf("%s %s %s, want the body %s", seen.Method, seen.Path, seen.Body, want)
	}
	if h := s.answer.Header["Content-Length"]; len(h) != 1 || h[0] != strconv.Itoa(s.out.Len()) {
		t.Errorf("length %q of %d bytes", h, s.out.Len())
	}
}

// TestResponsesMaterial takes recorded streams through the adapter.
func TestResponsesMaterial(t *testing.T) {
	for file, want := range map[string]struct{ attempts, text, last string }{
		"openai/responses-basic-stream.sse":             {"a:ok", "pong", "completed"},
		"openai/responses-error-insufficient-quota.sse": {"a:quota b:ok", "from b", "completed"},
		"openai/responses-conversation-stream.sse":      {"a:ok", "streamed", "completed"},
		"azure/responses-text.sse":                      {"a:ok", "", "completed"},
		"openrouter/responses-raw-cot.sse":              {"a:ok", "", "completed"},
		"deepseek/responses-text-stream.sse":            {"a:ok", "", "completed"},
		"github-copilot/responses-id-rotation.sse":      {"a:ok", "", "completed"},
	} {
		t.Run(file, func(t *testing.T) {
			recorded, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "wire", "responses", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(recorded)
			}))
			defer up.Close()
			r, remembered := answersRig(t, rigOptions{}, "{}", "answer: {text: from b}")
			o := rigOptions{config: func(id string, c *Config) {
				c.Issues = remembered
				if id == "a" {
					c.BaseURL = up.URL + "/v1"
				}
			}}
			urls := map[string]string{"a": "http://127.0.0.1:1", "b": r.baseURL}
			r = newEngine(t, o, r.client, urls)
			s, d, err := r.create(t.Context(), true, "")
			if err != nil || attempts(d) != want.attempts {
				t.Fatalf("%s: %v", attempts(d), err)
			}
			got := s.readAnswers(t, true)
			if (want.text != "" && got.Text != want.text) || got.Events[len(got.Events)-1] != want.last || strings.Contains(s.out.String(), "[DONE]") {
				t.Errorf("reply %+v", got)
			}
			if len(got.Models) != 1 || got.Models[0] != publicModel || !d.Result.Usage.Known {
				t.Errorf("models %v, usage %+v", got.Models, d.Result.Usage)
			}
		})
	}
}

// TestIssued remembers what an answer names, and no more than means something
// later.
func TestIssued(t *testing.T) {
	const thinking = "answer: {text: hi, reasoning: hmm}"
	for _, tc := range []struct {
		name, members string
		want          []string // %s is the answer's id without its kind
	}{
		{"kept", "", []string{"response:resp_%s", "item:rs_%s", "item:msg_%s"}},
		{"not kept", `,"store":false`, nil},
		{"sealed and not kept", `,"store":false,"include":["reasoning.encrypted_content"]`, []string{"sealed:8 bytes"}},
		{"sealed", `,"include":["reasoning.encrypted_content"]`, []string{"response:resp_%s", "item:rs_%s", "item:msg_%s", "sealed:8 bytes"}},
		{
			"in a conversation", `,"store":false,"conversation":"conv_a_1"`,
			[]string{"response:resp_%s", "conversation:conv_a_1", "item:rs_%s", "item:msg_%s"},
		},
	} {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tc.name, streams), func(t *testing.T) {
				r, remembered := answersRig(t, rigOptions{}, thinking, "{}")
				s, _, err := r.create(t.Context(), streams, tc.members)
				if err != nil {
					t.Fatal(err)
				}
				id := strings.TrimPrefix(s.readAnswers(t, streams).ID, "resp_")
				var want []string
				for _, one := range tc.want {
					want = append(want, "k a "+strings.Replace(one, "%s", id, 1))
				}
				got := remembered.all()
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("remembered (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// earlySink checks with each write that what it shows has been remembered.
type earlySink struct {
	sink
	t          *testing.T
	remembered *issued
}

// Write implements [engine.Sink].
func (s *earlySink) Write(p []byte) (int, error) {
	if i := strings.Index(string(p), `"id":"resp_`); i >= 0 {
		id := string(p)[i+len(`"id":"`):]
		id = id[:strings.IndexByte(id, '"')]
		if !slices.Contains(s.remembered.all(), "k a response:"+id) {
			s.t.Errorf("the client sees %s before it is remembered", id)
		}
	}
	return s.sink.Write(p)
}

// TestIssuedIsRememberedFirst writes nothing that cannot be continued yet.
func TestIssuedIsRememberedFirst(t *testing.T) {
	for _, streams := range []bool{false, true} {
		r, remembered := answersRig(t, rigOptions{}, "{}", "{}")
		s := &earlySink{t: t, remembered: remembered}
		req := answersRequest(t, responses.Create, answersBody(streams, ""))
		if _, err := r.engine.Serve(t.Context(), r.snapshot, req, s, time.Now); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.out.String(), `"id":"resp_`) {
			t.Error("nothing was seen")
		}
	}
}

// TestBackgroundIsNotOrderedTwice gives up a creation that the upstream may have
// begun, and takes another one where it has not.
func TestBackgroundIsNotOrderedTwice(t *testing.T) {
	for fault, want := range map[string]string{
		"http-503":            "a:server b:ok",
		"http-401":            "a:auth b:ok",
		"insufficient-quota":  "a:quota b:ok",
		"reset":               "a:connect",
		"close":               "a:connect",
		"silent":              "a:timeout",
		"stall-after-headers": "a:timeout",
		"truncated-json":      "a:server",
		"html":                "a:server",
		"http-504":            "a:server",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r, _ := answersRig(t, rigOptions{}, "always: "+fault, "{}")
			_, d, err := r.create(t.Context(), false, `,"background":true`)
			if got := attempts(d); got != want || (err == nil) != strings.HasSuffix(want, "ok") {
				t.Errorf("attempts %q, error %v; want %q", attempts(d), err, want)
			}
			if calls := r.fake.Calls("a"); err != nil && calls != 1 {
				t.Errorf("a was called %d times", calls)
			}
		})
	}
	r, _ := answersRig(t, rigOptions{}, "always: reset", "{}")
	if _, d, err := r.create(t.Context(), false, ""); err != nil || attempts(d) != "a:connect b:ok" {
		t.Errorf("an answer that is waited for: %s, %v", attempts(d), err)
	}
	s, d, err := r.create(t.Context(), false, `,"background":true`)
	if err == nil || s.commits != 0 || d.Attempts[0].Note == "" {
		t.Errorf("error %v, note %q", err, d.Attempts[0].Note)
	}
}

// TestBackgroundGoesElsewhereWithoutAConnection tries the next deployment when
// the first cannot have got anything.
func TestBackgroundGoesElsewhereWithoutAConnection(t *testing.T) {
	r, i := answersRig(t, rigOptions{}, "{}", "{}")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r = newEngine(t, rigOptions{config: func(_ string, c *Config) { c.Issues = i }}, r.client, map[string]string{"a": gone.URL, "b": r.baseURL})
	if _, d, err := r.create(t.Context(), false, `,"background":true`); err != nil || attempts(d) != "a:connect b:ok" {
		t.Errorf("%s, %v", attempts(d), err)
	}
}

// TestStateThatIsGone is the caller's affair: no other deployment has it, and
// this one is well.
func TestStateThatIsGone(t *testing.T) {
	for _, tc := range []struct {
		name, members string
		status        int
		code, param   string
	}{
		{"a response", `,"previous_response_id":"resp_68c42de022c881948db7ed1cc2529f2e"`, 400, "previous_response_not_found", "previous_response_id"},
		{"a conversation", `,"conversation":"conv_68c42de022c881948db7ed1cc2529f2e"`, 404, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := answersRig(t, rigOptions{}, "{}", "{}")
			_, d, err := r.create(t.Context(), false, tc.members)
			u := upstreamError(t, err)
			if attempts(d) != "a:client" || u.Status != tc.status || u.Code != tc.code || u.Param != tc.param {
				t.Errorf("%s: %+v", attempts(d), u)
			}
			if n := r.stats("a").FailuresInRow; n != 0 {
				t.Errorf("%d failures in a row", n)
			}
		})
	}
	r, _ := answersRig(t, rigOptions{}, "{}", "{}")
	body := strings.Replace(answersBody(false, ""), `"say something"`, `[{"type":"item_reference","id":"msg_gone"}]`, 1)
	_, d, err := r.serve(t.Context(), answersRequest(t, responses.Create, body))
	if u := upstreamError(t, err); attempts(d) != "a:client" || u.Status != 404 || u.Param != "input" {
		t.Errorf("%s: %+v", attempts(d), u)
	}
}

// TestClientLeavesResponses calls nobody else when the client has hung up.
func TestClientLeavesResponses(t *testing.T) {
	r, _ := answersRig(t, rigOptions{}, "always: {fault: stall, after: 2}", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for r.fake.InFlight("a") == 0 {
			<-time.After(time.Millisecond)
		}
		cancel()
	}()
	_, d, err := r.create(ctx, true, "")
	if !errors.Is(err, context.Canceled) || attempts(d) != "a:cancelled" || r.fake.Calls("b") != 0 {
		t.Errorf("%s: %v", attempts(d), err)
	}
}

// TestCounting asks for a count, which is no consumption.
func TestCounting(t *testing.T) {
	r, remembered := answersRig(t, rigOptions{}, "{}", "{}")
	s, d, err := r.serve(t.Context(), answersRequest(t, responses.InputTokens, answersBody(false, "")))
	if err != nil || d.Result.Usage.Known || len(remembered.all()) != 0 {
		t.Fatalf("error %v, usage %+v, remembered %v", err, d.Result.Usage, remembered.all())
	}
	if got := s.out.String(); !strings.Contains(got, `"input_tokens":`) || strings.Contains(got, "model") {
		t.Errorf("answer %s", got)
	}
	if got := r.fake.Requests("a")[0].Path; got != "/v1/responses/input_tokens" {
		t.Errorf("path %s", got)
	}
	s, d, err = r.serve(t.Context(), answersRequest(t, responses.Compact, answersBody(false, "")))
	if err != nil || !d.Result.Usage.Known || !strings.Contains(s.out.String(), "response.compaction") {
		t.Errorf("error %v, usage %+v, answer %s", err, d.Result.Usage, s.out.String())
	}
	if got := remembered.all(); !slices.Contains(got, "k a sealed:8 bytes") {
		t.Errorf("remembered %v", got)
	}
}

// TestResponsesAtAzure uses one path for all deployments, and no version.
func TestResponsesAtAzure(t *testing.T) {
	key, err := provider.NewCredential("api-key", "", "azure-key-0123")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"by deployment": func(c *Config) { c.DeploymentPaths, c.APIVersion = true, "2024-10-21" },
		"newer":         func(c *Config) { c.BaseURL += "/openai/v1" },
	} {
		t.Run(name, func(t *testing.T) {
			o := rigOptions{config: func(_ string, c *Config) {
				c.BaseURL = strings.TrimSuffix(c.BaseURL, "/v1")
				c.Model, c.Keys = "my gpt", provider.NewKeyring(key)
				change(c)
			}}
			r := newRig(t, o, "api_key: azure-key-0123", "{}")
			s, d, err := r.create(t.Context(), true, "")
			if err != nil || attempts(d) != "a:ok" {
				t.Fatalf("%s, %v", attempts(d), err)
			}
			if _, _, err := r.stored(t.Context(), wire.StoredGet, s.readAnswers(t, true).ID, ""); err != nil {
				t.Error(err)
			}
			for i, path := range []string{"/openai/v1/responses", "/openai/v1/responses/" + s.readAnswers(t, true).ID} {
				if seen := r.fake.Requests("a")[i]; seen.Path != path || seen.Query != "" || seen.Header.Get("Authorization") != "" {
					t.Errorf("path %s, query %q, headers %v", seen.Path, seen.Query, seen.Header)
				}
			}
			if seen := r.fake.Requests("a")[0]; !strings.Contains(string(seen.Body), `"model":"my gpt"`) {
				t.Errorf("body %s", seen.Body)
			}
		})
	}
}
