package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const responsesPath = "/a/v1/responses"

// response is what the tests read of one.
type response struct {
	ID, Object, Status, Model string
	Background                bool
	Output                    []outputItem
	Conversation              *struct{ ID string }
	PreviousResponseID        *string                  `json:"previous_response_id"`
	IncompleteDetails         *struct{ Reason string } `json:"incomplete_details"`
	Usage                     *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
	Error *struct{ Code, Message string }
}

type outputItem struct {
	ID, Type, Name, Arguments string
	CallID                    string `json:"call_id"`
	Content                   []struct{ Type, Text, Refusal string }
	Summary                   []struct{ Text string }
	EncryptedContent          string `json:"encrypted_content"`
}

func (r *response) text() string {
	for _, item := range r.Output {
		if item.Type == "message" && len(item.Content) > 0 {
			return item.Content[0].Text
		}
	}
	return ""
}

// ask sends a body to the Responses endpoint and reads the whole answer.
func (r *rig) ask(t *testing.T, members string) response {
	t.Helper()
	got := r.send(t, "POST", responsesPath, `{"model":"m",`+members+`}`)
	return readResponse(t, got)
}

func readResponse(t *testing.T, got reply) response {
	t.Helper()
	var out response
	if err := json.Unmarshal(got.body, &out); err != nil || got.status != http.StatusOK {
		t.Fatalf("status %d, body %s: %v", got.status, got.body, err)
	}
	return out
}

// responseEvent is what the tests read of an event.
type responseEvent struct {
	name     string
	Type     string
	Sequence int `json:"sequence_number"`
	Delta    string
	Text     string
	ItemID   string `json:"item_id"`
	Response *response
	Error    *struct{ Type, Code, Message string }
}

// responseEvents reads a stream of the Responses endpoint strictly.
func responseEvents(t *testing.T, stream []byte) []responseEvent {
	t.Helper()
	var out []responseEvent
	for block := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(block, "\ndata: ")
		var ev responseEvent
		if err := json.Unmarshal([]byte(data), &ev); err != nil || !ok {
			t.Fatalf("event %q: %v", block, err)
		}
		if ev.name = strings.TrimPrefix(name, "event: "); ev.name != ev.Type {
			t.Errorf("event %q tells the type %q", ev.name, ev.Type)
		}
		out = append(out, ev)
	}
	return out
}

func TestResponsesWhole(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {text: one two three, reasoning: hmm well}"), Options{})
	got := r.ask(t, `"input":"hello"`)
	if !strings.HasPrefix(got.ID, "resp_") || got.Object != "response" || got.Status != statusCompleted || got.Model != "m" {
		t.Errorf("response %+v", got)
	}
	if got.text() != "one two three" || len(got.Output) != 2 || got.Output[0].Summary[0].Text != "hmm well" || got.Output[0].EncryptedContent != "" {
		t.Errorf("output %+v", got.Output)
	}
	if got.Usage == nil || got.Usage.Output != 5 || got.Usage.Input == 0 || got.Usage.Total != got.Usage.Input+5 {
		t.Errorf("usage %+v", got.Usage)
	}
	sealed := r.ask(t, `"input":"hello","include":["reasoning.encrypted_content"]`)
	if !strings.HasPrefix(sealed.Output[0].EncryptedContent, sealOf("a")) {
		t.Errorf("output %+v", sealed.Output)
	}
	short := r.ask(t, `"input":"hello","max_output_tokens":2`)
	if short.Status != statusIncomplete || short.IncompleteDetails.Reason != "max_output_tokens" || short.text() != "one two" {
		t.Errorf("short %+v", short)
	}
	call := r.ask(t, `"input":"hello","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}]`)
	if last := call.Output[len(call.Output)-1]; last.Type != "function_call" || last.Name != "f" || last.CallID == "" || !json.Valid([]byte(last.Arguments)) {
		t.Errorf("call %+v", call.Output)
	}
	after := r.ask(t, `"input":[{"type":"function_call_output","call_id":"c","output":"1"}],"tools":[{"type":"function","name":"f"}]`)
	if after.text() == "" {
		t.Errorf("after a tool's result %+v", after.Output)
	}
	object := r.ask(t, `"input":"x","text":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`)
	if !strings.HasPrefix(object.text(), `{"n":`) {
		t.Errorf("structured %q", object.text())
	}
}

func TestResponsesStream(t *testing.T) {
	cases := []struct {
		name, answer, members string
		deltas                string // of which event
		text, last            string
	}{
		{"text", "text: one two three", "", "response.output_text.delta", "one two three", "response.completed"},
		{"reasoning", "text: one, reasoning: hmm well", "", "response.reasoning_summary_text.delta", "hmm well", "response.completed"},
		{"cut", "text: one two three", `,"max_output_tokens":1`, "response.output_text.delta", "one", "response.incomplete"},
		{
			"a call", "text: one", `,"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"a":{"enum":["x"]}},"required":["a"]}}]`,
			"response.function_call_arguments.delta", `{"a":"x"}`, "response.completed",
		},
		{
			"two calls", "tool_calls: all", `,"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`,
			"response.function_call_arguments.delta", `{}{}`, "response.completed",
		},
		{
			"one call at a time", "tool_calls: all", `,"parallel_tool_calls":false,"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`,
			"response.function_call_arguments.delta", `{}`, "response.completed",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, oneUpstream("answer: {"+tc.answer+"}"), Options{})
			got := r.send(t, "POST", responsesPath, `{"model":"m","stream":true,"input":"hello"`+tc.members+`}`)
			events := responseEvents(t, got.body)
			var text strings.Builder
			for i, ev := range events {
				if ev.Sequence != i {
					t.Errorf("event %d has the number %d", i, ev.Sequence)
				}
				if ev.name == tc.deltas {
					text.WriteString(ev.Delta)
				}
			}
			first, last := events[0], events[len(events)-1]
			if first.name != "response.created" || first.Response.Status != statusInProgress || len(first.Response.Output) != 0 {
				t.Errorf("first event %+v", first)
			}
			if text.String() != tc.text || last.name != tc.last || last.Response.Usage == nil || last.Response.ID != first.Response.ID || len(last.Response.Output) == 0 {
				t.Errorf("text %q, last event %+v", text.String(), last)
			}
		})
	}
}

func TestResponsesAreKept(t *testing.T) {
	r := newRig(t, "upstreams: {a: {answer: {text: one two}}, b: {}}", Options{})
	first := r.ask(t, `"input":"hello"`)
	second := r.ask(t, `"input":"more","previous_response_id":"`+first.ID+`"`)
	if second.PreviousResponseID == nil || *second.PreviousResponseID != first.ID {
		t.Errorf("second %+v", second)
	}
	again := readResponse(t, r.send(t, "GET", responsesPath+"/"+second.ID, ""))
	if diff := cmp.Diff(second, again); diff != "" {
		t.Errorf("fetched (-created +fetched):\n%s", diff)
	}
	items := r.send(t, "GET", responsesPath+"/"+second.ID+"/input_items", "")
	var list struct {
		Object string
		Data   []struct{ ID, Role string }
	}
	if err := json.Unmarshal(items.body, &list); err != nil || list.Object != "list" || len(list.Data) != 1 || list.Data[0].Role != "user" {
		t.Fatalf("items %s: %v", items.body, err)
	}
	for _, id := range []string{second.Output[0].ID, list.Data[0].ID} {
		if got := r.ask(t, `"input":[{"type":"item_reference","id":"`+id+`"}]`); got.Status != statusCompleted {
			t.Errorf("reference to %s: %+v", id, got)
		}
	}
	if got := r.send(t, "DELETE", responsesPath+"/"+second.ID, ""); got.status != http.StatusOK || !strings.Contains(string(got.body), `"deleted":true`) {
		t.Errorf("deleted: %d %s", got.status, got.body)
	}
	if got := r.ask(t, `"input":"x","conversation":{"id":"conv_a_1"}`); got.Conversation == nil || got.Conversation.ID != "conv_a_1" {
		t.Errorf("conversation %+v", got)
	}
	unkept := r.ask(t, `"input":"hello","store":false`)
	reference := `[{"type":"item_reference","id":"` + second.Output[0].ID + `"}]`
	refusals := []struct {
		name, method, path, body string
		status                   int
		code, param              any
	}{
		{"deleted", "GET", responsesPath + "/" + second.ID, "", 404, nil, nil},
		{"not kept", "GET", responsesPath + "/" + unkept.ID, "", 404, nil, nil},
		{"of another upstream", "GET", "/b/v1/responses/" + first.ID, "", 404, nil, nil},
		{"unknown previous", "POST", responsesPath, `"input":"x","previous_response_id":"resp_0"`, 400, "previous_response_not_found", "previous_response_id"},
		{"unknown item", "POST", responsesPath, `"input":` + reference, 404, nil, "input"},
		{"foreign conversation", "POST", responsesPath, `"input":"x","conversation":"conv_b_1"`, 404, nil, nil},
		{"foreign content", "POST", responsesPath, `"input":[{"type":"reasoning","encrypted_content":"sealed.b.1"}]`, 400, "invalid_encrypted_content", nil},
		{"cancelled in vain", "POST", responsesPath + "/" + first.ID + "/cancel", "", 400, nil, nil},
		{"no input", "POST", responsesPath, `"store":true`, 400, "missing_required_parameter", "input"},
		{"two pasts", "POST", responsesPath, `"input":"x","conversation":"c","previous_response_id":"r"`, 400, nil, "previous_response_id"},
		{"background unkept", "POST", responsesPath, `"input":"x","background":true,"store":false`, 400, nil, "background"},
		{"wrong item", "POST", responsesPath, `"input":[1]`, 400, nil, "input[0]"},
		{"no tokens", "POST", responsesPath, `"input":"x","max_output_tokens":0`, 400, "integer_below_min_value", "max_output_tokens"},
	}
	for _, tc := range refusals {
		t.Run(tc.name, func(t *testing.T) {
			body := tc.body
			if body != "" {
				body = `{"model":"m",` + body + `}`
			}
			got := r.send(t, tc.method, tc.path, body)
			e := errorObject(t, got.body)
			if got.status != tc.status || e["code"] != tc.code || e["param"] != tc.param {
				t.Errorf("status %d, error %v", got.status, e)
			}
		})
	}
}

func TestResponsesRoutes(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]\napi_key: sk-a"), Options{})
	key := []string{"Authorization", "Bearer sk-a"}
	count := r.send(t, "POST", responsesPath+"/input_tokens", `{"model":"m","input":"hello there"}`, key...)
	if want := `{"object":"response.input_tokens","input_tokens":4}`; string(count.body) != want {
		t.Errorf("count %s, want %s", count.body, want)
	}
	short := r.send(t, "POST", responsesPath+"/compact", `{"model":"m","input":"hello there"}`, key...)
	if !strings.Contains(string(short.body), `"object":"response.compaction"`) || !strings.Contains(string(short.body), sealOf("a")) {
		t.Errorf("compacted %s", short.body)
	}
	azure := r.send(t, "POST", "/a/openai/v1/responses", `{"model":"m","input":"hi"}`, "Api-Key", "sk-a")
	id := readResponse(t, azure).ID
	if got := r.send(t, "GET", "/a/openai/v1/responses/"+id, "", "Api-Key", "sk-a"); got.status != http.StatusOK {
		t.Errorf("Azure: %d %s", got.status, got.body)
	}
	for _, tc := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/a/v1/responses/" + id, "", 405},
		{"GET", "/a/v1/responses/" + id + "/cancel", "", 405},
		{"GET", "/a/v1/responses/" + id + "/other", "", 404},
		{"GET", "/a/v1/responses", "", 405},
		{"POST", responsesPath, `{"model":"absent","input":"x"}`, 400},
	} {
		if got := r.send(t, tc.method, tc.path, tc.body, key...); got.status != tc.status {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, got.status, got.body)
		}
	}
	if got := r.send(t, "GET", "/a/v1/responses/"+id, ""); got.status != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got.status)
	}
}

func TestResponsesInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("answer: {text: one two three four}\nlatency: {first_token: 10s, per_token: 1s}"))
		status := func(id string) string {
			return readResponse(t, r.send(t, "GET", responsesPath+"/"+id, "")).Status
		}
		queued := `{"model":"m","input":"x","background":true}`
		first := readResponse(t, r.send(t, "POST", responsesPath, queued))
		if first.Status != statusQueued || !first.Background || len(first.Output) != 0 || first.Usage != nil {
			t.Errorf("created %+v", first)
		}
		if got := status(first.ID); got != statusInProgress {
			t.Errorf("at once: %s", got)
		}
		second := readResponse(t, r.send(t, "POST", responsesPath, queued))
		if got := readResponse(t, r.send(t, "POST", responsesPath+"/"+second.ID+"/cancel", "")); got.Status != statusCancelled || len(got.Output) != 0 {
			t.Errorf("cancelled %+v", got)
		}
		<-time.After(time.Minute)
		if got := status(second.ID); got != statusCancelled {
			t.Errorf("after the cancel: %s", got)
		}
		done := readResponse(t, r.send(t, "GET", responsesPath+"/"+first.ID, ""))
		if done.Status != statusCompleted || done.text() != "one two three four" || done.Usage == nil {
			t.Errorf("done %+v", done)
		}
	})
}

func TestResponsesStreamResumes(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {text: one two three four}"), Options{})
	got := r.send(t, "POST", responsesPath, `{"model":"m","stream":true,"background":true,"input":"hello"}`)
	events := responseEvents(t, got.body)
	if events[1].name != "response.queued" {
		t.Errorf("second event %+v", events[1])
	}
	id := events[0].Response.ID
	for _, after := range []int{0, 5, len(events) - 2, len(events) - 1} {
		rest := r.send(t, "GET", fmt.Sprintf("%s/%s?stream=true&starting_after=%d", responsesPath, id, after), "")
		if after == len(events)-1 {
			if len(rest.body) != 0 {
				t.Errorf("after the last event: %s", rest.body)
			}
			continue
		}
		if diff := cmp.Diff(events[after+1:], responseEvents(t, rest.body), cmp.AllowUnexported(responseEvent{})); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
}

func TestResponsesFaults(t *testing.T) {
	streamed := func(t *testing.T, fault string) []responseEvent {
		t.Helper()
		r := newRig(t, oneUpstream("answer: {text: one two three four}\nalways: "+fault), Options{})
		return responseEvents(t, r.send(t, "POST", responsesPath, `{"model":"m","stream":true,"input":"x"}`).body)
	}
	for fault, before := range map[string]int{
		"{fault: error-first, code: rate_limit_exceeded}":                  0,
		"{fault: role-then-error, code: rate_limit_exceeded}":              4,
		"{fault: content-then-error, after: 2, code: rate_limit_exceeded}": 6,
	} {
		events := streamed(t, fault)
		if len(events) != before+2 {
			t.Errorf("%s: %d events", fault, len(events))
			continue
		}
		e, failed := events[before], events[before+1]
		if e.name != "error" || e.Error.Code != "rate_limit_exceeded" || e.Sequence != before || failed.name != "response.failed" || failed.Response.Status != statusFailed {
			t.Errorf("%s: %+v, %+v", fault, e, failed)
		}
	}
	if events := streamed(t, "{fault: eof-after-content, after: 2}"); events[len(events)-1].name != "response.output_text.delta" {
		t.Errorf("cut: %+v", events[len(events)-1])
	}
	for fault, check := range map[string]func(*response) bool{
		"refusal": func(r *response) bool { return r.Output[0].Content[0].Refusal != "" },
		"filtered": func(r *response) bool {
			return r.Status == statusIncomplete && r.IncompleteDetails.Reason == finishFilter
		},
		"empty-content": func(r *response) bool { return r.Status == statusCompleted && r.text() == "" },
		"choices-null":  func(r *response) bool { return r.Output == nil && r.Status == statusCompleted },
	} {
		r := newRig(t, oneUpstream("always: "+fault), Options{})
		if got := r.ask(t, `"input":"x"`); !check(&got) {
			t.Errorf("%s: %+v", fault, got)
		}
	}
	r := newRig(t, oneUpstream("script: [http-500]"), Options{})
	r.send(t, "POST", responsesPath, `{"model":"m","input":"x"}`)
	if n := len(r.byName["a"].memory.byID); n != 0 {
		t.Errorf("%d responses are kept that were refused", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for i := range maxKept + 10 {
		m.put(fmt.Sprint("r", i), &keptResponse{items: []string{fmt.Sprint("i", i)}})
	}
	if len(m.byID) != maxKept || len(m.items) != maxKept || m.get("r9") != nil || m.get("r10") == nil || m.hasItem("i9") || !m.hasItem("i10") {
		t.Errorf("%d responses, %d items", len(m.byID), len(m.items))
	}
	r := newRig(t, oneUpstream("{}"), Options{})
	id := r.ask(t, `"input":"x"`).ID
	r.Reset()
	if got := r.send(t, "GET", responsesPath+"/"+id, ""); got.status != http.StatusNotFound {
		t.Errorf("after a reset: %d", got.status)
	}
}
