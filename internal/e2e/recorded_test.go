package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/internal/wire/recorded"
)

const recordedConfig = `
listen: 127.0.0.1:0
providers:
  chat: {protocol: openai, base_url: "http://UP/chat/v1", auth: none}
  messages: {protocol: anthropic, base_url: "http://UP/messages/v1", auth: none, endpoints: [messages, messages_count_tokens]}
  gemini: {protocol: gemini, base_url: "http://UP/gemini/v1beta", auth: none}
  responses: {protocol: openai, base_url: "http://UP/responses/v1", auth: none, endpoints: [responses]}
models:
  on-chat: {deployments: [{provider: chat, upstream_model: up-model, ABLE}]}
  on-messages: {deployments: [{provider: messages, upstream_model: claude-opus-4-8, ABLE}]}
  on-gemini: {deployments: [{provider: gemini, upstream_model: gemini-3-pro, ABLE}]}
  on-responses: {deployments: [{provider: responses, upstream_model: up-model, ABLE}]}
  embeds: {deployments: [{provider: chat, upstream_model: up-embeds}]}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 60, failure_threshold: 0, cooldown_seconds: 0}
session: {affinity: off}
keys:
  test: {secret: "KEY"}
`

// recordedClients is how the clients ask.
var recordedClients = map[recorded.Protocol]struct {
	path    string
	headers []string
}{
	recorded.Chat:      {"/v1/chat/completions", []string{"Authorization", "Bearer " + sdkKey}},
	recorded.Messages:  {"/v1/messages", []string{"X-Api-Key", sdkKey, "Anthropic-Version", "2023-06-01"}},
	recorded.Responses: {"/v1/responses", []string{"Authorization", "Bearer " + sdkKey}},
}

// recordedCase is what was asked for in one request.
type recordedCase struct {
	upstream recorded.Protocol
	framing  string
	ask      recorded.Ask
}

// recordedRun is a gateway, what was asked of it and what it logged.
type recordedRun struct {
	gw     *process
	client *http.Client

	mu     sync.Mutex
	logged map[string]loggedLine // by the request's id
	asked  map[string]func(*testing.T, loggedLine)
	cases  map[recordedCase]int // that were judged
}

// loggedLine is what the log tells of a request.
type loggedLine struct {
	ID, Msg  string
	Attempts []struct{ Class string }
	Result   struct {
		Status int
		Code   string
		Usage  *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		}
	}
}

// recordedGateway starts a gateway with the configuration.
func recordedGateway(t *testing.T, config string) *recordedRun {
	t.Helper()
	r := &recordedRun{logged: map[string]loggedLine{}, asked: map[string]func(*testing.T, loggedLine){}, cases: map[recordedCase]int{}}
	r.gw = start(t, "serve", "--config", write(t, "gatewright.yaml", strings.ReplaceAll(config, "KEY", sdkKey)), "--data-dir", t.TempDir())
	r.gw.listen(func(text string, _ map[string]any) {
		var line loggedLine
		if json.Unmarshal([]byte(text), &line) != nil || line.Msg != "request" {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.logged[line.ID] = line
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	r.client = &http.Client{Transport: transport}
	return r
}

// ask sends a request in the name of a client and reads the answer to its end,
// which broken tells if it is not one. judge is called with the line of the log,
// once the log is read.
func (r *recordedRun) ask(t *testing.T, q recorded.Ask, body string, judge func(*testing.T, loggedLine)) (got answer, broken error) {
	t.Helper()
	how := recordedClients[q.Client]
	return r.post(t, how.path, how.headers, body, judge)
}

func (r *recordedRun) post(t *testing.T, path string, headers []string, body string, judge func(*testing.T, loggedLine)) (got answer, broken error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.gw.url(path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return r.send(t, req, judge)
}

func (r *recordedRun) send(t *testing.T, req *http.Request, judge func(*testing.T, loggedLine)) (got answer, broken error) {
	t.Helper()
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if judge != nil {
		id := resp.Header.Get("X-Request-Id")
		r.mu.Lock()
		if id == "" || r.asked[id] != nil {
			t.Errorf("request id %q", id)
		}
		r.asked[id] = judge
		r.mu.Unlock()
	}
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

// get fetches a path.
func (r *recordedRun) get(t *testing.T, path string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.gw.url(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+sdkKey)
	got, broken := r.send(t, req, nil)
	if broken != nil {
		t.Fatal(broken)
	}
	return got
}

// readLog waits until every request is in the log and judges what it tells.
func (r *recordedRun) readLog(t *testing.T) {
	t.Helper()
	eventually(t, 20*time.Second, "every request is in the log", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for id := range r.asked {
			if r.logged[id].ID == "" {
				return false
			}
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, judge := range r.asked {
		judge(t, r.logged[id])
	}
}

// TestRecorded gives every recorded answer of a model to every client, in the form
// in which it came, however it is framed and cut, and in the other form: the client
// reads what the index expects, and the log tells what it cost.
func TestRecorded(t *testing.T) {
	t.Parallel()
	upstream := playRecordings(t)
	r := recordedGateway(t, strings.NewReplacer("UP", upstream.address, "ABLE", able).Replace(recordedConfig))
	t.Run("all", func(t *testing.T) { // over when all of them are
		for i := range upstream.answers {
			a := &upstream.answers[i]
			for client := range recordedClients {
				t.Run(fmt.Sprintf("%s %s to %s", a.Upstream, a.File, client), func(t *testing.T) {
					t.Parallel()
					if a.Odd != "" {
						t.Skip(a.Odd)
					}
					for n, f := range framingsOf(&a.Entry) {
						r.give(t, a, f.Name, promptFor(i, n), recorded.Ask{Client: client, Stream: a.Stream(), Usage: true})
						if f.Name == recorded.Whole || f.Name == oneByteHTTP {
							r.give(t, a, f.Name, promptFor(i, n), recorded.Ask{Client: client, Stream: !a.Stream(), Usage: true})
						}
					}
				})
			}
		}
	})
	r.readLog(t)
	r.checkCases(t)
}

// give asks for a recording in a framing and judges what the client reads.
func (r *recordedRun) give(t *testing.T, a *recorded.Answer, framing, prompt string, q recorded.Ask) {
	t.Helper()
	model := "on-" + string(a.Upstream)
	name := fmt.Sprintf("%s from %s, %s, to %s", a.File, a.Upstream, framing, q)
	got, broken := r.ask(t, q, q.Body(model, prompt, a), func(t *testing.T, line loggedLine) {
		t.Helper()
		checkLine(t, name, a, line)
	})
	fault := func(format string, args ...any) {
		t.Errorf("%s: %s\n%d %.3000s", name, fmt.Sprintf(format, args...), got.status, got.body)
	}
	reading := recorded.Read(q, got.body, q.Client == a.Upstream)
	for _, one := range reading.Faults {
		fault("%s", one)
	}
	kind := "application/json"
	if q.Stream && got.status == http.StatusOK {
		kind = "text/event-stream"
	}
	if got := got.header.Get("Content-Type"); got != kind {
		fault("content type %q", got)
	}
	switch {
	case broken != nil:
		fault("%v", broken)
	case a.Fails && got.status == http.StatusOK:
		if !q.Stream || reading.Over || !reading.Failed {
			fault("served")
		}
	case a.Fails:
		checkError(t, name, q, got)
	case got.status != http.StatusOK:
		fault("no answer")
	default:
		for _, one := range a.Faults(q, reading) {
			fault("%s", one)
		}
		if reading.Model != model {
			fault("the client sees the model %q", reading.Model)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cases[recordedCase{a.Upstream, framing, q}]++
}

// checkLine checks what the log tells of a request that was given a recording.
func checkLine(t *testing.T, name string, a *recorded.Answer, line loggedLine) {
	t.Helper()
	if len(line.Attempts) != 1 || (line.Attempts[0].Class == "ok") == a.Fails {
		t.Errorf("%s: the log tells of the attempts %+v", name, line.Attempts)
	}
	if a.Fails {
		return
	}
	switch u := line.Result.Usage; {
	case line.Result.Status != http.StatusOK:
		t.Errorf("%s: the log tells of status %d %s", name, line.Result.Status, line.Result.Code)
	case (u == nil) != (a.Usage == nil):
		t.Errorf("%s: the log tells of the usage %+v, want %+v", name, u, a.Usage)
	case u != nil && (u.Input != a.Usage.Input || u.Output != a.Usage.Output):
		t.Errorf("%s: the log tells of the usage %+v, want %+v", name, *u, *a.Usage)
	}
}

// checkError checks an error that a client got before anything else, and returns
// its code and message.
func checkError(t *testing.T, name string, q recorded.Ask, got answer) (code, message string) {
	t.Helper()
	var body struct {
		Type  string
		Error struct {
			Message, Type, Code string
			Details             struct {
				Code string `json:"error_code"`
			}
		}
	}
	err := json.Unmarshal([]byte(got.body), &body)
	code = body.Error.Code
	if q.Client == recorded.Messages {
		code = body.Error.Details.Code
	}
	e := &body.Error
	if err != nil || got.status < 400 || (body.Type == "error") != (q.Client == recorded.Messages) || e.Type == "" || e.Message == "" || strings.ContainsAny(e.Message, "{}") {
		t.Errorf("%s: no error of %s: %d %q, %v", name, q.Client, got.status, got.body, err)
	}
	return code, e.Message
}

// checkCases wants every client to have been given something of every upstream in
// every framing, as it came and in the other form.
func (r *recordedRun) checkCases(t *testing.T) {
	t.Helper()
	total := 0
	for _, n := range r.cases {
		total += n
	}
	streams := []string{recorded.Whole, recorded.OneByte, recorded.InsideCharacters, recorded.CRLF, recorded.BetweenCRLF, recorded.Comments, oneByteHTTP}
	for _, upstream := range []recorded.Protocol{recorded.Chat, recorded.Messages, recorded.Gemini, recorded.Responses} {
		for client := range recordedClients {
			for _, framing := range streams {
				c := recordedCase{upstream, framing, recorded.Ask{Client: client, Stream: true, Usage: true}}
				if r.cases[c] == 0 {
					t.Errorf("nothing was judged: %+v", c)
				}
			}
			for _, framing := range []string{recorded.Whole, recorded.OneByte, oneByteHTTP} {
				c := recordedCase{upstream, framing, recorded.Ask{Client: client, Usage: true}}
				if r.cases[c] == 0 {
					t.Errorf("nothing was judged: %+v", c)
				}
			}
		}
	}
	const least = 1500
	if t.Logf("%d answers were judged", total); total < least {
		t.Errorf("%d answers were judged, want %d", total, least)
	}
}
