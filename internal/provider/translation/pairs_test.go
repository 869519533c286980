package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"gatewright/engine"
	wireanthropic "gatewright/internal/wire/anthropic"
	wireopenai "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/translate"
)

// TestText sends a plain question from each client to each upstream.
func TestText(t *testing.T) {
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, says("an answer"))
		r := newRig(t, s.upstream("a"))
		members := ""
		if client == translate.Chat && streams {
			members = `"stream_options":{"include_usage":true}`
		}
		out, d, err := r.ask(client, body(client, streams, members))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		got := out.read(t, client, streams)
		if got.Text != "an answer" || !got.Over || got.Failed || got.Input != 11 || got.Output != 7 {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
		if u := d.Result.Usage; !u.Known || u.Input != 11 || u.Output != 7 {
			t.Errorf("usage %+v", u)
		}
		if asked := s.last(); len(asked.request.Turns) != 1 || asked.request.Turns[0].Parts[0].Text != "say something" {
			t.Errorf("asked %s", asked.body)
		}
	})
}

// TestHeaders: each upstream gets its own credential and what belongs to its
// protocol, at the right address, and nothing of the client's.
func TestHeaders(t *testing.T) {
	paths := map[translate.Protocol][2]string{
		translate.Chat:      {"/v1/chat/completions", "/v1/chat/completions"},
		translate.Responses: {"/v1/responses", "/v1/responses"},
		translate.Messages:  {"/v1/messages", "/v1/messages"},
		translate.Gemini:    {"/v1beta/models/up-model:generateContent", "/v1beta/models/up-model:streamGenerateContent?alt=sse"},
	}
	want := map[translate.Protocol]map[string]string{
		translate.Chat:      {"Authorization": "Bearer " + secretKey},
		translate.Responses: {"Authorization": "Bearer " + secretKey},
		translate.Messages:  {"X-Api-Key": secretKey, "Anthropic-Version": "2023-06-01"},
		translate.Gemini:    {"X-Goog-Api-Key": secretKey},
	}
	secrets := []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Openai-Beta", "Anthropic-Version", "Anthropic-Beta"}
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, says("x"))
		r := newRig(t, s.upstream("a"))
		req := request(t, client, body(client, streams, ""))
		setHeader(req, http.Header{
			"Authorization": {"Bearer client"}, "X-Api-Key": {"client"}, "Cookie": {"client"}, "Traceparent": {"00-1-1-00"},
		})
		if _, d, err := r.serve(t.Context(), req); err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		asked := s.last()
		index := 0
		if streams {
			index = 1
		}
		if asked.path != paths[up][index] {
			t.Errorf("asked at %s", asked.path)
		}
		for _, name := range secrets {
			if got := asked.header.Get(name); got != want[up][name] {
				t.Errorf("%s: %q, want %q", name, got, want[up][name])
			}
		}
		if asked.header.Get("Traceparent") != "00-1-1-00" {
			t.Error("the trace is lost")
		}
	})
}

// setHeader gives a request headers of its client.
func setHeader(r *engine.Request, h http.Header) {
	switch p := r.Payload.(type) {
	case *wireopenai.Payload:
		p.Header = h
	case *wireanthropic.Payload:
		p.Header = h
	case *responses.Payload:
		p.Header = h
	}
}

// offers are the same two tools in each client's words, one of which must be called.
var offers = map[translate.Protocol]string{
	translate.Chat: `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}},
		{"type":"function","function":{"name":"time","parameters":{"type":"object"}}}],"tool_choice":"required"`,
	translate.Messages: `"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}},
		{"name":"time","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}`,
	translate.Responses: `"tools":[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}},
		{"type":"function","name":"time","parameters":{"type":"object"}}],"tool_choice":"required"`,
}

// calls is an answer of a text and two calls at once.
func calls(*translate.Request) *translate.Answer {
	return &translate.Answer{
		ID: "answer-1",
		Parts: []translate.Part{
			{Kind: translate.KindText, Text: "let me see"},
			{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789abcdef0", Name: "weather", Arguments: `{"city":"Rome"}`}},
			{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789abcdef1", Name: "time", Arguments: `{}`}},
		},
		End: translate.End{Finish: translate.FinishCalls}, Usage: translate.Usage{Known: true, Input: 11, Output: 7},
	}
}

// TestTools calls two tools at once, from each client at each upstream.
func TestTools(t *testing.T) {
	reasons := map[translate.Protocol]string{translate.Chat: "tool_calls", translate.Messages: "tool_use", translate.Responses: "completed"}
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, calls)
		r := newRig(t, s.upstream("a"))
		out, d, err := r.ask(client, body(client, streams, offers[client]))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		got := out.read(t, client, streams)
		if got.Text != "let me see" || got.Reason != reasons[client] || !got.Over || len(got.Calls) != 2 {
			t.Fatalf("got %+v of %s", got, out.out.String())
		}
		if a, b := got.Calls[0], got.Calls[1]; a.Name != "weather" || a.Arguments != `{"city":"Rome"}` || b.Name != "time" || b.Arguments != `{}` || a.ID == b.ID || a.ID == "" {
			t.Errorf("calls %+v", got.Calls)
		}
		asked := s.last().request
		if len(asked.Tools) != 2 || asked.Tools[0].Name != "weather" || asked.ToolChoice.Mode != translate.ChoiceRequired {
			t.Errorf("asked %s", s.last().body)
		}
	})
}

// TestStructuredOutput: a schema reaches every upstream in one form or another, and
// the answer's text is what it describes.
func TestStructuredOutput(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	formats := map[translate.Protocol]string{
		translate.Chat:      `"response_format":{"type":"json_schema","json_schema":{"name":"number","strict":true,"schema":` + schema + `}}`,
		translate.Messages:  `"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`,
		translate.Responses: `"text":{"format":{"type":"json_schema","name":"number","strict":true,"schema":` + schema + `}}`,
	}
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, func(r *translate.Request) *translate.Answer {
			a := says(`{"n":1}`)(r)
			if len(r.Tools) == 1 { // the schema came as that of a tool
				a.Parts = []translate.Part{{Kind: translate.KindCall, Call: translate.Call{ID: "c", Name: r.Tools[0].Name, Arguments: `{"n":1}`}}}
				a.End.Finish = translate.FinishCalls
			}
			return a
		})
		r := newRig(t, s.upstream("a"))
		out, d, err := r.ask(client, body(client, streams, formats[client]))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if got := out.read(t, client, streams); got.Text != `{"n":1}` || len(got.Calls) != 0 || !got.Over {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
		asked := s.last().request
		if asked.Format.Kind != translate.FormatSchema && len(asked.Tools) != 1 {
			t.Errorf("asked %s", s.last().body)
		}
	})
}

// thinks are the words in which clients ask for reasoning.
var thinks = map[translate.Protocol]string{
	translate.Chat:      `"reasoning_effort":"high"`,
	translate.Messages:  `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`,
	translate.Responses: `"reasoning":{"effort":"high","summary":"auto"}`,
}

// TestReasoning shows what the model thought to every client.
func TestReasoning(t *testing.T) {
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, func(r *translate.Request) *translate.Answer {
			a := says("an answer")(r)
			a.Parts = append([]translate.Part{{Kind: translate.KindReasoning, Text: "hm"}}, a.Parts...)
			a.Usage.Reasoning = 3
			return a
		})
		served := s.upstream("a")
		served.about = translate.Upstream{Full: true, Reasons: true, Adaptive: true}
		r := newRig(t, served)
		out, d, err := r.ask(client, body(client, streams, thinks[client]))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if got := out.read(t, client, streams); got.Text != "an answer" || got.Reasoning != "hm" || !got.Over {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
		if asked := s.last().request.Thinking; asked.Effort != translate.EffortHigh && asked.Budget == 0 && up != translate.Gemini {
			t.Errorf("asked %s", s.last().body)
		}
	})
}

// TestRefusal passes an answer on that is nothing but a refusal, and asks another
// model instead where the configuration names one.
func TestRefusal(t *testing.T) {
	refuses := func(*translate.Request) *translate.Answer {
		return &translate.Answer{ID: "r", End: translate.End{Finish: translate.FinishFilter, Reason: "SAFETY"}, Usage: translate.Usage{Known: true, Input: 1}}
	}
	reasons := map[translate.Protocol]string{
		translate.Chat: "content_filter", translate.Messages: "refusal", translate.Responses: "incomplete, content_filter",
	}
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		r := newRig(t, speaks(t, up, refuses).upstream("a"))
		out, d, err := r.ask(client, body(client, streams, ""))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if got := out.read(t, client, streams); got.Text != "" || got.Reason != reasons[client] || !got.Over {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
		other := speaks(t, translate.Chat, says("instead"))
		r = newRigWith(t, map[engine.Chain][]string{engine.ChainContent: {"other"}}, speaks(t, up, refuses).upstream("a"), other.upstream("b"))
		out, d, err = r.ask(client, body(client, streams, ""))
		if err != nil || attempts(d) != "a:content_policy b:ok" {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if !strings.Contains(out.out.String(), "instead") {
			t.Errorf("got %s", out.out.String())
		}
	})
}

// TestRefusalInOtherForm: one that comes whole where a stream was asked for is one
// all the same.
func TestRefusalInOtherForm(t *testing.T) {
	for _, up := range []translate.Protocol{translate.Messages, translate.Gemini} {
		s := speaks(t, up, func(*translate.Request) *translate.Answer {
			return &translate.Answer{ID: "r", End: translate.End{Finish: translate.FinishFilter, Reason: "SAFETY"}}
		})
		whole := upstream{id: "a", protocol: up, handler: status(200, nil, string(s.whole(&translate.Request{})))}
		r := newRigWith(t, map[engine.Chain][]string{engine.ChainContent: {"other"}}, whole, speaks(t, translate.Chat, says("instead")).upstream("b"))
		if _, d, err := r.ask(translate.Chat, body(translate.Chat, true, "")); err != nil || attempts(d) != "a:content_policy b:ok" {
			t.Errorf("%v: %v (%s)", up, err, attempts(d))
		}
	}
}

// TestOtherForm: an upstream that streams where it should not, or the reverse.
func TestOtherForm(t *testing.T) {
	eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
		t.Helper()
		s := speaks(t, up, calls)
		r := newRig(t, upstream{id: "a", protocol: up, handler: func(w http.ResponseWriter, _ *http.Request) {
			asked := &translate.Request{IncludeUsage: true, Thinking: translate.Thinking{Adaptive: true}}
			if streams {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(s.whole(asked))
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(s.streamed(asked))
		}})
		out, d, err := r.ask(client, body(client, streams, offers[client]))
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if got := out.read(t, client, streams); got.Text != "let me see" || len(got.Calls) != 2 || !got.Over {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
		if u := d.Result.Usage; !u.Known || u.Input != 11 {
			t.Errorf("usage %+v", u)
		}
	})
}
