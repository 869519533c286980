package translation_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gatewright/engine"
	"gatewright/internal/wire/translate"
)

const material = "../../../testdata/wire"

// recording is a recorded answer and the right reading of it.
type recording struct {
	protocol        translate.Protocol
	file            string
	body            []byte
	text, reasoning digest
	calls           []call
	finish          translate.Finish
	reason          string // in the upstream's own words
	usage           *engine.Usage
	fails           bool   // it ends with an error
	pieces          string // the text that its pieces make, if the recording leaves some out
}

func (r *recording) stream() bool { return strings.HasSuffix(r.file, ".sse") }

// expectation is an entry's right reading, in the words of any protocol.
type expectation struct {
	Text, Reasoning digest
	ToolCalls       []expectedCall `json:"tool_calls"`
	FunctionCalls   []expectedCall `json:"function_calls"`
	FinishReason    string         `json:"finish_reason"`
	StopReason      string         `json:"stop_reason"`
	Status          string
	Usage           *expectedUsage
	Error           any
}

type expectedCall struct {
	Name, Arguments string
	InputJSON       string `json:"input_json"`
	Input, Args     json.RawMessage
}

func (c *expectedCall) call() call {
	free := ""
	if len(c.Input) > 0 && c.Input[0] == '"' { // the free text of a custom tool
		_ = json.Unmarshal(c.Input, &free)
	}
	arguments := cmp.Or(c.Arguments, c.InputJSON, free, string(c.Input), string(c.Args), "{}")
	return call{Name: c.Name, Arguments: canonical(arguments)}
}

type expectedUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`

	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	CacheRead   int64 `json:"cache_read_input_tokens"`
	CacheCreate int64 `json:"cache_creation_input_tokens"`

	PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount int64
}

// tokens returns what was consumed: where the sum is more than its parts, the rest
// was thought.
func (u *expectedUsage) tokens() *engine.Usage {
	out := engine.Usage{
		Input:  u.Prompt + u.Input + u.CacheRead + u.CacheCreate + u.PromptTokenCount,
		Output: u.Completion + u.Output + u.CandidatesTokenCount + u.ThoughtsTokenCount,
	}
	if u.Prompt > 0 && u.Total > out.Input+out.Output {
		out.Output = u.Total - out.Input
	}
	return &out
}

// finishes are the ways to end by the words of upstreams; what is not here ends by
// itself.
var finishes = map[string]translate.Finish{
	"length": translate.FinishLength, "max_tokens": translate.FinishLength, "MAX_TOKENS": translate.FinishLength,
	"tool_calls": translate.FinishCalls, "tool_use": translate.FinishCalls,
	"content_filter": translate.FinishFilter, "refusal": translate.FinishFilter, "SAFETY": translate.FinishFilter, "MODEL_ARMOR": translate.FinishFilter,
}

// endings are the words of clients for the ways to end.
var endings = map[translate.Protocol]map[translate.Finish]string{
	translate.Chat: {
		translate.FinishStop: "stop", translate.FinishLength: "length", translate.FinishCalls: "tool_calls", translate.FinishFilter: "content_filter",
	},
	translate.Messages: {
		translate.FinishStop: "end_turn", translate.FinishLength: "max_tokens", translate.FinishCalls: "tool_use", translate.FinishFilter: "refusal",
	},
	translate.Responses: {
		translate.FinishStop: "completed", translate.FinishLength: "incomplete, max_output_tokens", translate.FinishCalls: "completed", translate.FinishFilter: "incomplete, content_filter",
	},
}

// recordings returns every recorded answer.
func recordings(t *testing.T) (all []recording) {
	t.Helper()
	folders := map[translate.Protocol]string{
		translate.Chat: "openai", translate.Messages: "anthropic", translate.Gemini: "gemini", translate.Responses: "responses",
	}
	for p, folder := range folders {
		text, err := os.ReadFile(filepath.Join(material, folder, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var index struct {
			Files []struct {
				File, Protocol string
				Expect         json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &index); err != nil {
			t.Fatal(err)
		}
		for _, f := range index.Files {
			if f.Protocol == "embeddings" || f.Protocol == "other" {
				continue
			}
			r := recording{protocol: p, file: f.File}
			r.expect(t, f.Expect)
			if r.body, err = os.ReadFile(filepath.Join(material, folder, f.File)); err != nil {
				t.Fatal(err)
			}
			var exchange struct {
				Response struct{ Body json.RawMessage }
			}
			if !r.stream() && json.Unmarshal(r.body, &exchange) == nil && exchange.Response.Body != nil {
				r.body = exchange.Response.Body
			}
			all = append(all, r)
		}
	}
	if len(all) < 70 {
		t.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

// expect takes the right reading.
func (r *recording) expect(t *testing.T, text []byte) {
	t.Helper()
	var e expectation
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", r.file, err)
	}
	r.text, r.reasoning = e.Text, e.Reasoning
	for _, c := range append(e.ToolCalls, e.FunctionCalls...) {
		r.calls = append(r.calls, c.call())
	}
	r.reason = cmp.Or(e.FinishReason, e.StopReason)
	if r.finish = finishes[r.reason]; r.finish == translate.FinishNone {
		r.finish = translate.FinishStop
	}
	if len(r.calls) > 0 && r.finish == translate.FinishStop {
		r.finish = translate.FinishCalls // whatever the word, or without one
	}
	if e.Usage != nil {
		r.usage = e.Usage.tokens()
	}
	r.fails = e.Error != nil || e.Status == "failed" || strings.Contains(r.file, "spliced")
	switch r.file {
	case "openai/responses-phase.sse":
		r.pieces = "Got itHere are a few **AI"
	case "openrouter/stream-error.sse":
		r.fails = false // its error comes when the answer has ended, for which it is the reason
	}
}

// odd are recordings that no client of this kind can be given, and why.
var odd = map[string]string{
	"openai/responses-background-stream-resume.sse": "it begins in the middle, as what is fetched does",
}

// offersFreeText offers the tool with free text that a recording calls.
var offersFreeText = map[translate.Protocol]string{
	translate.Chat:      `"tools":[{"type":"custom","custom":{"name":"write_sql"}}]`,
	translate.Messages:  `"tools":[{"name":"write_sql","input_schema":{"type":"object"}}]`,
	translate.Responses: `"tools":[{"type":"custom","name":"write_sql"}]`,
}

// piecewise cuts a body behind the places for which cut reports true.
func piecewise(body []byte, cut func(i int) bool) (pieces [][]byte) {
	from := 0
	for i := range body {
		if cut(i) || i == len(body)-1 {
			pieces = append(pieces, body[from:i+1])
			from = i + 1
		}
	}
	return pieces
}

// framings are ways in which the same stream comes: the writes of the upstream.
func framings(body []byte) map[string][][]byte {
	lines := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n"))
	all := map[string][][]byte{
		"whole":             {body},
		"one byte a write":  piecewise(body, func(int) bool { return true }),
		"CRLF":              {crlf},
		"between CR and LF": piecewise(crlf, func(i int) bool { return crlf[i] == '\r' }),
		"comments":          {bytes.ReplaceAll(lines, []byte("\n\n"), []byte("\n\n: keep-alive\n\n:\n\n"))},
	}
	if inside := piecewise(body, func(i int) bool { return i+1 < len(body) && !utf8.RuneStart(body[i+1]) }); len(inside) > 1 {
		all["inside characters"] = inside
	}
	return all
}

// answers serves writes as the body of an answer, each sent on its way before the
// next.
func answers(streamed bool, writes [][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		kind := "application/json"
		if streamed {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		for _, piece := range writes {
			if _, err := w.Write(piece); err != nil {
				return
			}
			if len(writes) > 1 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
}

// TestRecordings serves every recorded answer to every client, in the form in
// which it came, however it is framed and cut, and in the other one.
func TestRecordings(t *testing.T) {
	for _, rec := range recordings(t) {
		if odd[rec.file] != "" {
			continue
		}
		framed := map[string][][]byte{"whole": {rec.body}}
		if rec.stream() {
			framed = framings(rec.body)
		}
		for framing, writes := range framed {
			up := upstream{id: "a", protocol: rec.protocol, handler: answers(rec.stream(), writes)}
			up.about = translate.Upstream{Full: true, Reasons: true, Adaptive: true}
			for _, client := range clients {
				t.Run(fmt.Sprintf("%v %s/%s/%v", rec.protocol, rec.file, framing, client), func(t *testing.T) {
					t.Parallel()
					rec.serve(t, newRig(t, up), client, rec.stream())
					if framing == "whole" {
						rec.serve(t, newRig(t, up), client, !rec.stream())
					}
				})
			}
		}
	}
}

// serve asks for the answer and checks what the client reads.
func (r *recording) serve(t *testing.T, rig *rig, client translate.Protocol, streams bool) {
	t.Helper()
	cut, custom := strings.Contains(r.file, "incomplete-partial-json"), strings.Contains(r.file, "custom-tool")
	members := thinks[client]
	if custom {
		members += "," + offersFreeText[client]
	}
	out, d, err := rig.ask(client, body(client, streams, members))
	out.native = client == r.protocol
	switch {
	case r.fails && err == nil:
		t.Fatalf("served: %s", out.out.String())
	case r.fails:
		return
	case cut && !streams && client == translate.Messages, custom && client == translate.Messages:
		return // a whole message holds no arguments that were cut, and no tool takes free text
	case err != nil:
		t.Fatalf("%v (%s)", err, attempts(d))
	}
	got := out.read(t, client, streams)
	if !got.over || got.failed {
		t.Errorf("over %v, failed %v: %.2000s", got.over, got.failed, out.out.String())
	}
	refused := r.finish == translate.FinishFilter // its words have other places
	if whole := r.pieces == "" || out.native && !streams; whole && !r.text.is(got.Text) && !refused || !whole && got.Text != r.pieces {
		t.Errorf("text %q, want %+v", got.Text, r.text)
	}
	if !out.native && !r.reasoning.is(got.Reasoning) {
		t.Errorf("reasoning %q, want %+v", got.Reasoning, r.reasoning)
	}
	r.checkCalls(t, got.Calls, cut)
	want := endings[client][r.finish]
	if r.reason == "stop_sequence" && client == translate.Messages {
		want = r.reason
	}
	if got.Reason != want {
		t.Errorf("ends with %q, want %q", got.Reason, want)
	}
	if r.usage == nil {
		return
	}
	if u := d.Result.Usage; u.Input != r.usage.Input || u.Output != r.usage.Output {
		t.Errorf("usage %+v, want %+v", u, r.usage)
	}
	asked := client != translate.Chat || !streams // it did not ask for the usage of a stream
	if !out.native && asked && (got.Input != r.usage.Input || got.Output != r.usage.Output) {
		t.Errorf("the client sees %d and %d tokens, want %+v", got.Input, got.Output, r.usage)
	}
}

func (r *recording) checkCalls(t *testing.T, got []call, cut bool) {
	t.Helper()
	if len(got) != len(r.calls) {
		t.Fatalf("calls %+v, want %+v", got, r.calls)
	}
	for i, c := range got {
		want := r.calls[i]
		if c.ID == "" || c.Name != want.Name || canonical(c.Arguments) != want.Arguments && !cut || cut && !strings.HasPrefix(c.Arguments, "{") {
			t.Errorf("call %+v, want %+v", c, want)
		}
	}
}

// canonical returns JSON in one form, and any other text as it is.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, _ := json.Marshal(v)
	return string(out)
}
