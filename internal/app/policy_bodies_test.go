package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
)

// Two policies that look at everything that a client can write into a request.
const textReader = `package gatewright.admission

deny contains {"code": "text", "message": substring(input.request.text, 0, 20)} if contains(input.request.text, "forbidden")

deny contains {"code": "pattern"} if regex.match("(?i)pass(word|phrase)", input.request.text)
`

const reader = `package gatewright.admission

deny contains {"code": "user", "message": concat(" ", ["no user", object.get(input.request.metadata, "user", "")])} if {
	regex.match("^(blocked|k[0-9]+|é)", object.get(input.request.metadata, "user", ""))
}

deny contains {"code": "same"} if {
	some key, value in input.request.metadata
	key == value
}

deny contains {"code": "many", "message": sprintf("%d entries", [count(input.request.metadata)])} if count(input.request.metadata) > 60

deny contains {"code": "header", "message": sprintf("no %q", [object.get(input.request.headers, "x-team", "")])} if {
	endswith(trim_space(object.get(input.request.headers, "x-team", "")), "!")
}

deny contains {"code": "tag"} if {
	some value in input.request.tags
	value == "blocked"
}

deny contains {"code": "large"} if input.request.input_tokens + input.request.max_output_tokens > 900000

deny contains {"code": "model"} if split(input.request.model, "/")[0] == "locked"
`

// closing refuses what comes to it, so that no upstream is called.
const closing = `package gatewright.admission

deny contains {"code": "end", "status": 402} if input.request.model != "?"
`

// verdicts counts what policies did.
type verdicts struct {
	asked, busy atomic.Int64
	mu          sync.Mutex
	faults      []string
}

// Record implements engine.Recorder.
func (v *verdicts) Record(d *engine.Decision) {
	for i := range d.Policies {
		p := &d.Policies[i]
		switch {
		case p.Outcome == engine.OutcomeAllowed || p.Outcome == engine.OutcomeRemoved || p.Outcome == engine.OutcomeRefused:
			v.asked.Add(1)
		case strings.Contains(p.Detail, "busy: "): // of no body
			v.busy.Add(1)
		default:
			v.mu.Lock()
			v.faults = append(v.faults, fmt.Sprintf("%+v", *p))
			v.mu.Unlock()
		}
	}
}

// bodies makes bodies that a client may send, and many that it should not.
type bodies struct{ dice *rand.Rand }

// text is a string in JSON.
func (b *bodies) text() string {
	list := [...]string{
		`""`, `"hello"`, `"forbidden fruit"`, `"blocked"`, `"a\u0000b"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"\u2028\u2029"`, "\"\xff\xfe\"",
		"\"\xed\xa0\x80\"", `"{{7*7}} %s %d %!"`, `"\\\"\/\b\f\n\r\t"`, "\"\x7f\"", `"é"`, "\"\x01\"", `"p/q/r"`, `"1e99999"`,
	}
	switch n := b.dice.IntN(len(list) + 3); n {
	case len(list):
		return `"` + strings.Repeat("forbiddeN ", b.dice.IntN(6000)) + `"`
	case len(list) + 1:
		return `"` + strings.Repeat("é", 500+b.dice.IntN(40)) + `"`
	case len(list) + 2:
		return fmt.Sprintf(`"k%d"`, b.dice.IntN(100))
	default:
		return list[n]
	}
}

// value is any value.
func (b *bodies) value(depth int) string {
	switch b.dice.IntN(12) {
	case 0, 1, 2, 3:
		return b.text()
	case 4:
		return [...]string{"1e99999", "-1e99999", "-0", "0.1e-400", strings.Repeat("9", 1000), "1", "18446744073709551616", "01", "+1", "NaN"}[b.dice.IntN(10)]
	case 5:
		return [...]string{"null", "true", "false", "nul", ""}[b.dice.IntN(5)]
	case 6:
		n := b.dice.IntN(200)
		return strings.Repeat("[", n) + strings.Repeat("]", n)
	case 7:
		n := b.dice.IntN(200)
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	if depth > 3 {
		return "{}"
	}
	return b.object(b.dice.IntN(5), depth+1)
}

// object is an object of so many members, some of which stand twice.
func (b *bodies) object(n, depth int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = b.text() + ":" + b.value(depth)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// metadata is mostly a map of texts.
func (b *bodies) metadata() string {
	n := b.dice.IntN(6)
	switch b.dice.IntN(40) {
	case 0:
		n = 5000
	case 1:
		return b.value(0)
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = b.text() + ":" + b.text()
		if b.dice.IntN(4) == 0 {
			parts[i] = `"user":` + b.text()
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// request is a path and a body for it.
func (b *bodies) request() (path, body string) {
	members := []string{`"model":"m"`, `"metadata":` + b.metadata()}
	content := [...]string{b.text(), `[{"type":"text","text":` + b.text() + `}]`, b.value(0)}[b.dice.IntN(3)]
	messages := `[{"role":"user","content":` + content + `}]`
	switch b.dice.IntN(4) {
	case 0:
		path = "/v1/responses"
		members = append(members, `"input":`+messages)
	case 1:
		path = "/v1/messages"
		members = append(members, `"max_tokens":7`, `"messages":`+messages)
	case 2:
		path = "/v1/completions"
		members = append(members, `"prompt":`+b.text())
	default:
		path = "/v1/chat/completions"
		members = append(members, `"messages":`+messages)
	}
	if b.dice.IntN(4) == 0 {
		members = append(members, b.text()+":"+b.value(0))
	}
	if b.dice.IntN(10) == 0 {
		members = append(members, `"max_tokens":`+b.value(0))
	}
	b.dice.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	body = "{" + strings.Join(members, ",") + "}"
	if b.dice.IntN(20) == 0 {
		broken := []byte(body)
		broken[b.dice.IntN(len(broken))] = byte(b.dice.Uint32())
		body = string(broken)
	}
	return path, body
}

// readingGateway is a gateway whose policies look at everything; no upstream is
// called.
func readingGateway(t *testing.T, v *verdicts) (address string) {
	t.Helper()
	dir := t.TempDir()
	admit, err := os.ReadFile(filepath.Join("../../testdata/wasm/guests", "admit.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"text.rego": textReader, "reader.rego": reader, "closing.rego": closing, "admit.wasm": string(admit)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ReplaceAll(configOf("http://127.0.0.1:1", `
policies:
  text: {file: DIR/text.rego}
  reader: {file: DIR/reader.rego}
  admit: {file: DIR/admit.wasm}
  closing: {file: DIR/closing.rego}
bindings:
  - {policy: text, grant: [text]}
  - {policy: reader, grant: [header.x-team], order: 1}
  - {policy: admit, grant: [text, header.x-team, header.user-agent], order: 2}
  - {policy: closing, order: 3}
`), "DIR", dir)
	address, _ = run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: dir, Recorder: v})
	return address
}

// sendBody sends a body and returns the status.
func sendBody(ctx context.Context, client *http.Client, url, body, team string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Team", team)
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// Nothing that a client writes into a request makes a policy fail.
func TestSoakBodiesBreakNoPolicy(t *testing.T) {
	v := &verdicts{}
	address := readingGateway(t, v)
	n := 8_000
	switch {
	case os.Getenv("GATEWRIGHT_SOAK") != "":
		n = 1_000_000
	case testing.Short():
		n = 2000
	}
	const workers = 4
	transport := &http.Transport{MaxIdleConnsPerHost: workers}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	teams := []string{"", "web", "no!", strings.Repeat("é", 2000), "\xff\xfe!", "a\tb", `"quoted"`}
	var statuses [600]atomic.Int64
	var running sync.WaitGroup
	for w := range uint64(workers) {
		running.Go(func() {
			b := &bodies{rand.New(rand.NewPCG(w, 11))}
			for range n / workers {
				path, body := b.request()
				status, err := sendBody(t.Context(), client, "http://"+address+path, body, teams[b.dice.IntN(len(teams))])
				if err != nil || status >= 500 {
					t.Errorf("%s: status %d, %v for %.2000q", path, status, err, body)
					return
				}
				statuses[status].Add(1)
			}
		})
	}
	running.Wait()
	for name, body := range largeBodies() {
		began := time.Now()
		status, err := sendBody(t.Context(), client, "http://"+address+"/v1/chat/completions", body, "web")
		if err != nil || status >= 500 {
			t.Errorf("%s: status %d, %v", name, status, err)
		}
		t.Logf("%s: status %d after %s", name, status, time.Since(began))
	}
	for _, f := range v.faults {
		t.Errorf("a fault: %s", f)
	}
	for status := range statuses {
		if n := statuses[status].Load(); n > 0 {
			t.Logf("%d times %d", n, status)
		}
	}
	t.Logf("policies were asked %d times, %d times none was free", v.asked.Load(), v.busy.Load())
	if v.asked.Load() < int64(n) {
		t.Errorf("policies were asked %d times about %d bodies", v.asked.Load(), n)
	}
}

// largeBodies are bodies of much of one thing.
func largeBodies() map[string]string {
	var keys strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&keys, `"k%d":"v",`, i)
	}
	const messages = `"messages":[{"role":"user","content":"x"}]`
	return map[string]string{
		"a million keys":             `{"model":"m","metadata":{` + keys.String() + `"z":""},` + messages + `}`,
		"a million keys beside":      `{"model":"m",` + keys.String() + messages + `}`,
		"the same key 100,000 times": `{"model":"m","metadata":{` + strings.Repeat(`"user":"x",`, 100_000) + `"user":"y"},` + messages + `}`,
		"a text of 4 MB":             `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("é", 2<<20) + `"}]}`,
		"100,000 messages":           `{"model":"m","messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, 100_000) + `{"role":"user","content":""}]}`,
		"depth":                      `{"model":"m","metadata":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,` + messages + `}`,
	}
}
