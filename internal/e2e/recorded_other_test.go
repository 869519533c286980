package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/wire/recorded"
)

// TestRecordedOthers gives the recordings of what is no model that generates:
// vectors, a count of tokens, and the rest of a stream that is fetched.
func TestRecordedOthers(t *testing.T) {
	t.Parallel()
	upstream := playRecordings(t)
	r := recordedGateway(t, strings.NewReplacer("UP", upstream.address, "ABLE", able).Replace(recordedConfig))
	seen := map[string]int{}
	for i := range upstream.others {
		e := &upstream.others[i]
		for n, f := range framingsOf(e) {
			prompt := promptForOther(i, n)
			switch {
			case e.Kind == "embeddings":
				r.embed(t, e, f.Name, prompt)
			case strings.Contains(e.Request.Path, "/count_tokens"):
				r.countTokens(t, e, f.Name, prompt)
			case strings.HasSuffix(e.Request.Path, "/models"):
				r.listModels(t, e)
			default:
				t.Errorf("%s is given to nobody", e.File)
			}
			seen[e.File]++
		}
	}
	r.resume(t, upstream)
	r.readLog(t)
	if len(seen) < 4 {
		t.Errorf("only %v was given", seen)
	}
}

// embed asks for recorded vectors in each encoding.
func (r *recordedRun) embed(t *testing.T, e *recorded.Entry, framing, prompt string) {
	t.Helper()
	var expect struct {
		Vectors int
		Usage   struct {
			Prompt int64 `json:"prompt_tokens"`
		}
	}
	want, _, err := recorded.Vectors(e.Body)
	if err != nil || json.Unmarshal(e.Expect, &expect) != nil || len(want) != expect.Vectors || len(want) == 0 {
		t.Fatalf("%s holds %d vectors, %v", e.File, len(want), err)
	}
	for _, encoding := range []string{"", `"encoding_format":"float",`, `"encoding_format":"base64",`} {
		name := fmt.Sprintf("%s, %s, %s", e.File, framing, encoding)
		body := fmt.Sprintf(`{"model":"embeds",%s"input":%q}`, encoding, prompt)
		got, broken := r.post(t, "/v1/embeddings", recordedClients[recorded.Chat].headers, body, func(t *testing.T, line loggedLine) {
			t.Helper()
			if u := line.Result.Usage; u == nil || u.Input != expect.Usage.Prompt || u.Output != 0 || len(line.Attempts) != 1 {
				t.Errorf("%s: the log tells of the usage %+v in %d attempts, want %+v", name, u, len(line.Attempts), expect.Usage)
			}
		})
		vectors, packed, err := recorded.Vectors([]byte(got.body))
		if broken != nil || err != nil || packed != strings.Contains(encoding, "base64") || !recorded.Near(vectors, want) {
			t.Errorf("%s: %d %.300s, %v, %v", name, got.status, got.body, broken, err)
		}
		var told struct {
			Model string
			Usage struct {
				Prompt int64 `json:"prompt_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(got.body), &told); err != nil || told.Model != "embeds" || told.Usage.Prompt != expect.Usage.Prompt {
			t.Errorf("%s: the client sees %+v, %v", name, told, err)
		}
	}
}

// countTokens asks for a recorded count as clients of both protocols do that have
// one.
func (r *recordedRun) countTokens(t *testing.T, e *recorded.Entry, framing, prompt string) {
	t.Helper()
	type count struct {
		Tokens int64 `json:"input_tokens"`
	}
	var want count
	if err := json.Unmarshal(e.Body, &want); err != nil || want.Tokens == 0 {
		t.Fatalf("%s: %v", e.File, err)
	}
	for path, body := range map[string]string{
		"/v1/messages/count_tokens":  `{"model":"on-messages","messages":[{"role":"user","content":%q}]}`,
		"/v1/responses/input_tokens": `{"model":"on-messages","input":%q}`,
	} {
		headers := recordedClients[recorded.Chat].headers
		if strings.Contains(path, "messages") {
			headers = recordedClients[recorded.Messages].headers
		}
		name := fmt.Sprintf("%s, %s, %s", e.File, framing, path)
		got, broken := r.post(t, path, headers, fmt.Sprintf(body, prompt), func(t *testing.T, line loggedLine) {
			t.Helper()
			if line.Result.Status != http.StatusOK || len(line.Attempts) != 1 {
				t.Errorf("%s: the log tells %+v", name, line)
			}
		})
		var tokens count
		err := json.Unmarshal([]byte(got.body), &tokens)
		if broken != nil || err != nil || tokens != want || got.header.Get("X-Gatewright-Estimate") != "" {
			t.Errorf("%s: %d %v %s, %v, %v, want %+v", name, got.status, got.header, got.body, broken, err, want)
		}
	}
}

// listModels wants the gateway's list of models to have what a recorded list has:
// a client that reads one reads the other.
func (r *recordedRun) listModels(t *testing.T, e *recorded.Entry) {
	t.Helper()
	type list struct {
		Object string
		Data   []map[string]any
	}
	var want, got list
	if err := json.Unmarshal(e.Body, &want); err != nil || len(want.Data) == 0 {
		t.Fatalf("%s: %v", e.File, err)
	}
	answer := r.get(t, e.Request.Path)
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil || got.Object != want.Object || len(got.Data) != 5 {
		t.Errorf("the models are %+v, %v", got, err)
	}
	for _, model := range got.Data {
		for member, value := range want.Data[0] {
			if have, ok := model[member]; !ok || fmt.Sprintf("%T", have) != fmt.Sprintf("%T", value) {
				t.Errorf("a model has the %s %v, want one as %v in %s", member, have, value, e.File)
			}
		}
	}
}

// resume fetches the rest of a recorded stream, in every framing, from the upstream
// that gave an answer before.
func (r *recordedRun) resume(t *testing.T, upstream *recordedUpstream) {
	t.Helper()
	rest := upstream.resumed()
	var id string
	for i := range upstream.answers {
		a := &upstream.answers[i]
		if a.Upstream != recorded.Responses || a.Stream() {
			continue
		}
		got, broken := r.post(t, "/v1/responses", recordedClients[recorded.Responses].headers,
			fmt.Sprintf(`{"model":"on-responses","input":%q}`, promptFor(i, 0)), func(*testing.T, loggedLine) {})
		var first struct{ ID string }
		if err := json.Unmarshal([]byte(got.body), &first); err != nil || broken != nil {
			t.Fatalf("%d %s, %v, %v", got.status, got.body, broken, err)
		}
		id = first.ID
	}
	e := &upstream.answers[rest].Entry
	for n, f := range framingsOf(e) {
		got := r.get(t, fmt.Sprintf("/v1/responses/%s?stream=true&starting_after=%d", id, n))
		reading := recorded.Read(recorded.Ask{Client: recorded.Responses, Stream: true}, got.body, true)
		a := &upstream.answers[rest]
		if len(reading.Faults) > 0 || !a.Text.Is(reading.Text) || reading.Reason != "completed" || !reading.Over || reading.Failed || reading.Model != "on-responses" {
			t.Errorf("%s, %s: %d %+v of %s", e.File, f.Name, got.status, *reading, got.body)
		}
	}
}
