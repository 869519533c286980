package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gatewright/internal/wire/recorded"
)

// recordedErrorsHead is the beginning of a configuration with a provider for each
// request, which knows nothing of the failures of others.
const recordedErrorsHead = `
listen: 127.0.0.1:0
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 60, failure_threshold: 0, cooldown_seconds: 0}
session: {affinity: off}
keys:
  test: {secret: "KEY"}
`

// errorCase is one request that is given an error.
type errorCase struct {
	recorded.Error

	model, path string
	headers     []string
	ask         recorded.Ask
	body        string
}

// errorCases are the requests of every client, whole and streamed, that each error
// is given to.
func errorCases(t *testing.T) (all []errorCase) {
	t.Helper()
	list, err := recorded.Errors(os.DirFS(material))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Kind == "embeddings" {
			c := errorCase{Error: e, model: fmt.Sprintf("m%d", len(all)), path: "/v1/embeddings", headers: recordedClients[recorded.Chat].headers, ask: recorded.Ask{Client: recorded.Chat}}
			c.body = fmt.Sprintf(`{"model":%q,"input":"x"}`, c.model)
			all = append(all, c)
			continue
		}
		for client, how := range recordedClients {
			for _, stream := range []bool{false, true} {
				c := errorCase{Error: e, model: fmt.Sprintf("m%d", len(all)), path: how.path, headers: how.headers, ask: recorded.Ask{Client: client, Stream: stream}}
				c.body = c.ask.Body(c.model, "say something", &recorded.Answer{})
				all = append(all, c)
			}
		}
	}
	return all
}

// provider is what the configuration says of the provider that gives the error.
func (c *errorCase) provider(address string) string {
	base := fmt.Sprintf("http://%s/%s/v1", address, c.model)
	switch c.Upstream {
	case recorded.Messages:
		return fmt.Sprintf("{protocol: anthropic, base_url: %q, auth: none}", base)
	case recorded.Gemini:
		return fmt.Sprintf("{protocol: gemini, base_url: %q, auth: none}", base+"beta")
	case recorded.Responses:
		return fmt.Sprintf("{protocol: openai, base_url: %q, auth: none, endpoints: [responses]}", base)
	case recorded.Chat:
	}
	return fmt.Sprintf("{protocol: openai, base_url: %q, auth: none}", base)
}

// ServeHTTP implements [http.Handler]. What came with status 200 came in a stream,
// if one is asked for.
func (c *errorCase) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), c.Header)
	body := string(c.Body)
	if c.Status == http.StatusOK && c.ask.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		body = "event: error\ndata: " + strings.ReplaceAll(body, "\n", "\ndata: ") + "\n\n"
	}
	w.WriteHeader(c.Status)
	_, _ = w.Write([]byte(body)) // if the gateway has gone, its log tells
}

// TestRecordedErrors gives every client the error of every recorded error answer:
// it is classed by what it says, and the client reads an error of its own protocol
// that tells what is wrong.
func TestRecordedErrors(t *testing.T) {
	t.Parallel()
	cases := errorCases(t)
	mux := http.NewServeMux()
	for i := range cases {
		mux.Handle("/"+cases[i].model+"/", &cases[i])
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	var providers, models strings.Builder
	for i := range cases {
		c := &cases[i]
		fmt.Fprintf(&providers, "  p-%s: %s\n", c.model, c.provider(strings.TrimPrefix(server.URL, "http://")))
		fmt.Fprintf(&models, "  %s: {deployments: [{provider: p-%s, upstream_model: up-model, %s}]}\n", c.model, c.model, able)
	}
	r := recordedGateway(t, recordedErrorsHead+"providers:\n"+providers.String()+"models:\n"+models.String())
	for i := range cases {
		c := &cases[i]
		name := c.Name + " to " + c.ask.String()
		got, broken := r.post(t, c.path, c.headers, c.body, func(t *testing.T, line loggedLine) {
			t.Helper()
			if len(line.Attempts) != 1 || line.Attempts[0].Class != c.Class {
				t.Errorf("%s: the log tells of the attempts %+v, want one of class %s", name, line.Attempts, c.Class)
			}
		})
		if broken != nil {
			t.Errorf("%s: %v", name, broken)
		}
		c.check(t, name, got)
	}
	r.readLog(t)
	if len(cases) < 300 {
		t.Errorf("only %d errors were given", len(cases))
	}
}

// errorStatuses are the lowest and the highest status that clients may see, by the
// class of the attempt. What is the gateway's own trouble is none of the client's.
var errorStatuses = map[string][2]int{
	"client": {400, 400}, "context_window": {400, 400}, "content_policy": {400, 400}, "rate_limit": {429, 429}, "rate_limit_timed": {429, 429},
	"server": {500, 599}, "auth": {502, 502}, "not_found": {502, 502}, "quota": {429, 502},
}

// check checks what the client sees of the error.
func (c *errorCase) check(t *testing.T, name string, got answer) {
	t.Helper()
	code, message := checkError(t, name, c.ask, got)
	want, known := errorStatuses[c.Class]
	if !known || got.status < want[0] || got.status > want[1] {
		t.Errorf("%s: status %d for the class %s, want %v", name, got.status, c.Class, want)
	}
	if (c.Class == "context_window") != (code == "context_length_exceeded") {
		t.Errorf("%s: code %q for the class %s", name, code, c.Class)
	}
	if after := got.header.Get("Retry-After"); c.Class == "rate_limit_timed" && after == "" {
		t.Errorf("%s: the client is not told when to come again", name)
	}
	masked := c.Class == "auth" || c.Class == "not_found" || c.Class == "quota" // it tells of the gateway's account
	if !masked && !strings.Contains(message, c.Message) {
		t.Errorf("%s: the client reads %q, want %q", name, message, c.Message)
	}
}
