package responses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/sse"
)

const maxAnswer = 4 << 20

func fold(body []byte) ([]byte, error) {
	return responses.FoldStream(sse.NewReader(bytes.NewReader(body), maxEvent), maxAnswer)
}

func TestFoldRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		if rec.Expect.StreamError != nil {
			continue
		}
		t.Run(rec.File, func(t *testing.T) {
			body := readFile(t, rec.File)
			whole, err := fold(body)
			if err != nil {
				t.Fatal(err)
			}
			a, err := responses.CheckAnswer(responses.Create, whole)
			if err != nil || a.Usage != rec.Expect.Usage.wire() || a.Status != rec.Expect.Status {
				t.Fatalf("got %+v, %v", a, err)
			}
			if rec.Expect.Text.sha256 == "" && !strings.Contains(text(t, whole), rec.Expect.Text.text) {
				t.Errorf("got text %q, want %q", text(t, whole), rec.Expect.Text.text)
			}
			// Unfolded again it reads the same.
			r := readStream(t, bytes.NewReader(responses.UnfoldAnswer(whole)))
			if got, want := r.client.text("message"), text(t, whole); got != want || !r.finished || r.usage != a.Usage {
				t.Errorf("unfolded: got text %q, want %q; finished %v", got, want, r.finished)
			}
			again, err := fold(responses.UnfoldAnswer(whole))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, whole), decoded(t, again)); diff != "" {
				t.Errorf("unfolded and folded (-want +got):\n%s", diff)
			}
			// Without its output in the final event it is put together.
			if bare := withoutOutput(t, body); bare != nil {
				put, err := fold(bare)
				if err != nil || text(t, put) != text(t, whole) {
					t.Errorf("put together: got %q, %v", text(t, put), err)
				}
			}
		})
	}
}

// withoutOutput empties the output of the final event.
func withoutOutput(t *testing.T, body []byte) []byte {
	t.Helper()
	var out []byte
	events := sse.NewReader(bytes.NewReader(body), maxEvent)
	for {
		ev, err := events.Next()
		if err != nil {
			return out
		}
		var e map[string]any
		if !ev.HasData || json.Unmarshal(ev.Data, &e) != nil {
			continue
		}
		if response, ok := e["response"].(map[string]any); ok && e["type"] == "response.completed" {
			response["output"] = []any{}
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = sse.Append(out, string(ev.Name), data)
	}
}

func decoded(t *testing.T, body []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// text returns the texts of the messages of an answer.
func text(t *testing.T, body []byte) string {
	t.Helper()
	var out strings.Builder
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatal(err)
	}
	for _, it := range a.Output {
		if it.Type != "message" {
			continue
		}
		for _, c := range it.Content {
			out.WriteString(c.Text + c.Refusal)
		}
	}
	return out.String()
}

func TestFoldErrors(t *testing.T) {
	const created = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n"
	const final = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[]}}\n\n"
	var inside *fault.InsideError
	if _, err := fold([]byte(created + "event: error\ndata: {\"type\":\"error\",\"message\":\"boom\"}\n\n" + final)); !errors.As(err, &inside) {
		t.Errorf("an error: got %v", err)
	}
	for name, body := range map[string]string{
		"empty": "", "cut": created, "malformed": created + "data: x\n\n" + final,
		"no answer": "data: {\"type\":\"response.completed\"}\n\n", "large": "data: {\"type\":\"a\",\"x\":\"" + strings.Repeat("x", maxAnswer/8) + "\"}\n\n",
	} {
		if name == "large" {
			body = strings.Repeat(body, 9) + final
		}
		if _, err := fold([]byte(body)); !errors.Is(err, fault.ErrUndecodable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	broken := errors.New("broken")
	if _, err := responses.FoldStream(sse.NewReader(iotest.ErrReader(broken), maxEvent), maxAnswer); !errors.Is(err, broken) {
		t.Errorf("a broken body: got %v", err)
	}
	if whole, err := fold([]byte(strings.TrimSuffix(created+final, "\n"))); err != nil || len(whole) == 0 {
		t.Errorf("a last event that no blank line closed: got %s, %v", whole, err)
	}
}

func TestUnfold(t *testing.T) {
	const body = `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[` +
		`{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"e"},` +
		`{"id":"fc","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{\"a\":1}"},` +
		`{"id":"ct","type":"custom_tool_call","call_id":"d","name":"g","input":"free"},` +
		`{"id":"ws","type":"web_search_call","status":"completed"},` +
		`{"id":"msg","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"<a> &","annotations":[]},{"type":"refusal","refusal":"no"},{"type":"unknown","x":1}]}],` +
		`"usage":{"input_tokens":1,"output_tokens":2}}`
	r := readStream(t, bytes.NewReader(responses.UnfoldAnswer([]byte(body))))
	c := r.client
	if !r.finished || c.status != "incomplete" || !c.types["response.incomplete"] || r.usage.OutputTokens != 2 {
		t.Errorf("got status %q, finished %v, usage %+v", c.status, r.finished, r.usage)
	}
	if got := c.text("reasoning") + "|" + c.text("message"); got != "hmso|<a> &no" {
		t.Errorf("got texts %q", got)
	}
	want := []expectedCall{{CallID: "c", Name: "f", Arguments: `{"a":1}`}, {CallID: "d", Name: "g", Input: "free"}}
	if diff := cmp.Diff(want, c.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for id, it := range c.items {
		if !it.done {
			t.Errorf("%s has no end", id)
		}
	}
	for _, bad := range []string{"", "x", `{"output":null}`, `{"status":"queued"}`, `{"status":"failed","error":{"message":"x"},"output":[]}`} {
		if out := responses.UnfoldAnswer([]byte(bad)); out != nil {
			t.Errorf("%s: got %s", bad, out)
		}
	}
}
