package translate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/translate"
)

// declaredName returns the name under which Gemini is offered a tool.
func declaredName(t *testing.T, r *translate.Request, i int) string {
	t.Helper()
	asked := *r
	asked.Turns = []translate.Turn{{Parts: []translate.Part{{Text: "hi"}}}}
	body, _, err := codecOf(t, translate.Gemini).EncodeRequest(&asked, anyUpstream)
	if err != nil {
		t.Fatal(err)
	}
	var declared struct {
		Tools []struct{ FunctionDeclarations []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &declared); err != nil {
		t.Fatal(err)
	}
	return declared.Tools[0].FunctionDeclarations[i].Name
}

// TestGeminiNames offers tools whose names do not fit: each goes under another
// name that does, and calls of it come back under its own.
func TestGeminiNames(t *testing.T) {
	fits := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
	names := []string{"f", "ns.f:g-1", "_x", "9 lives", "-x", "é", strings.Repeat("x", 65), strings.Repeat("x", 66), "a/b", "a b"}
	r := &translate.Request{}
	for _, name := range names {
		r.Tools = append(r.Tools, translate.Tool{Name: name})
	}
	seen := map[string]bool{}
	for i, name := range names {
		declared := declaredName(t, r, i)
		if !fits.MatchString(declared) || seen[declared] || fits.MatchString(name) && declared != name {
			t.Errorf("%q is declared as %q", name, declared)
		}
		seen[declared] = true
		a, err := codecOf(t, translate.Gemini).DecodeAnswer([]byte(geminiChunk(`{"functionCall":{"name":"`+declared+`"}}`, "STOP")), r, anyUpstream)
		if err != nil || a.Parts[0].Call.Name != name {
			t.Errorf("%q comes back as %+v, %v", name, a, err)
		}
	}
}

// geminiChunk returns a chunk, or a whole answer, with the given parts.
func geminiChunk(parts, reason string) string {
	if reason != "" {
		reason = `,"finishReason":"` + reason + `"`
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + reason + `}],"responseId":"r1"}`
}

func TestGeminiAnswers(t *testing.T) {
	r := &translate.Request{Tools: []translate.Tool{{Name: "free text", Kind: translate.ToolCustom}, {Name: "f"}}}
	c := codecOf(t, translate.Gemini)
	body := geminiChunk(`{"text":"a","thought":true},{"text":"b"},{"text":"c"},{"text":"","thoughtSignature":"s1"},{"text":"d"},{"functionCall":{"name":"f","args":{}}},`+
		`{"functionCall":{"name":"`+declaredName(t, r, 0)+`","args":{"input":"raw"}},"thoughtSignature":"s2"},{"functionCall":{"name":"f","args":{},"id":"own"}},{"executableCode":{"code":"1"}},`+
		`{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"inlineData":{"mimeType":"audio/wav","data":"BBBB"}},{"fileData":{"mimeType":"application/pdf","fileUri":"u"}},{"thoughtSignature":"s3"}`, "STOP")
	a, err := c.DecodeAnswer([]byte(body), r, anyUpstream)
	if err != nil {
		t.Fatal(err)
	}
	google := func(data string) translate.Signature {
		return translate.Signature{Origin: translate.OriginGoogle, Data: data}
	}
	call := func(id, name, arguments string) translate.Part {
		return translate.Part{Kind: translate.KindCall, Call: translate.Call{ID: id, Name: name, Arguments: arguments}}
	}
	want := []translate.Part{
		{Kind: translate.KindReasoning, Text: "a"},
		{Text: "bc", Signature: google("s1")},
		{Text: "d"},
		call("", "f", "{}"),
		call("", "free text", "raw"),
		call("own", "f", "{}"),
		{Kind: translate.KindImage, Media: translate.Media{Data: "AAAA", MIME: "image/png"}},
		{Kind: translate.KindAudio, Media: translate.Media{Data: "BBBB", MIME: "audio/wav"}},
		{Kind: translate.KindDocument, Media: translate.Media{URL: "u", MIME: "application/pdf"}},
		{Kind: translate.KindReasoning, Redacted: true, Signature: google("s3")},
	}
	want[4].Call.Custom, want[4].Signature = true, google("s2")
	first, second := a.Parts[3].Call.ID, a.Parts[4].Call.ID
	if !strings.HasPrefix(first, "call_") || first == second {
		t.Errorf("got ids %q and %q", first, second)
	}
	want[3].Call.ID, want[4].Call.ID = first, second
	if diff := cmp.Diff(want, a.Parts); diff != "" || a.End.Finish != translate.FinishCalls || a.ID != "r1" {
		t.Errorf("got %+v, parts (-want +got):\n%s", a.End, diff)
	}
	// The same as one event of a stream.
	f := fold(t, c, r, anyUpstream, strings.NewReader("data: "+body+"\n\n"))
	if diff := cmp.Diff(a, f.answer); diff != "" || !f.whole {
		t.Errorf("as a stream (-whole +stream):\n%s", diff)
	}
	// Another answer makes up other ids.
	b, err := c.DecodeAnswer([]byte(strings.Replace(body, `"r1"`, `"r2"`, 1)), r, anyUpstream)
	if err != nil || b.Parts[3].Call.ID == first {
		t.Errorf("got id %q again, %v", first, err)
	}
}

func TestGeminiEnds(t *testing.T) {
	c := codecOf(t, translate.Gemini)
	const text, call = `{"text":"a"}`, `{"functionCall":{"name":"f"}}`
	for body, want := range map[string]translate.End{
		geminiChunk(text, "STOP"):                                {Finish: translate.FinishStop, Reason: "STOP"},
		geminiChunk(text+`,`+call, "STOP"):                       {Finish: translate.FinishCalls, Reason: "STOP"},
		geminiChunk(text, "MAX_TOKENS"):                          {Finish: translate.FinishLength, Reason: "MAX_TOKENS"},
		geminiChunk(call, "MAX_TOKENS"):                          {Finish: translate.FinishLength, Reason: "MAX_TOKENS"},
		geminiChunk(text, "RECITATION"):                          {Finish: translate.FinishFilter, Reason: "RECITATION"},
		geminiChunk(text, "LANGUAGE"):                            {Finish: translate.FinishStop, Reason: "LANGUAGE"},
		geminiChunk(text, "MALFORMED_FUNCTION_CALL"):             {Finish: translate.FinishStop, Reason: "MALFORMED_FUNCTION_CALL"},
		geminiChunk(text, "WHATEVER"):                            {Finish: translate.FinishStop, Reason: "WHATEVER"},
		`{"promptFeedback":{"blockReason":"JAILBREAK"}}`:         {Finish: translate.FinishFilter, Reason: "JAILBREAK"},
		`{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}]}`: {Finish: translate.FinishFilter, Reason: "PROHIBITED_CONTENT"},
	} {
		a, err := c.DecodeAnswer([]byte(body), anyRequest, anyUpstream)
		if err != nil || a.End != want {
			t.Errorf("%s: got %+v, %v; want %+v", body, a, err, want)
			continue
		}
		f := fold(t, c, anyRequest, anyUpstream, strings.NewReader("data: "+body+"\n\n"))
		if f.answer.End != want || !f.whole {
			t.Errorf("%s, as a stream: got %+v, whole %v", body, f.answer.End, f.whole)
		}
	}
	for _, body := range []string{
		`{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"no"},"responseId":"r1"}`,
		`{"candidates":[{"finishReason":"SAFETY","finishMessage":"no"}],"responseId":"r1"}`,
	} {
		a, err := c.DecodeAnswer([]byte(body), anyRequest, anyUpstream)
		f := fold(t, c, anyRequest, anyUpstream, strings.NewReader("data: "+body+"\n\n"))
		if err != nil || inShort(a.Parts) != "refusal no" || inShort(f.answer.Parts) != "refusal no" {
			t.Errorf("%s: got %+v, %+v, %v", body, a, f.answer, err)
		}
	}
	var inside *fault.InsideError
	if _, err := c.DecodeAnswer([]byte(`{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}}`), anyRequest, anyUpstream); !errors.As(err, &inside) || inside.Fault.Kind != fault.RateLimit {
		t.Errorf("an error: got %v", err)
	}
	if _, err := c.DecodeAnswer([]byte(geminiChunk("", "MALFORMED_FUNCTION_CALL")), anyRequest, anyUpstream); !errors.As(err, &inside) || inside.Fault.Kind != fault.Server {
		t.Errorf("an answer that cannot be read: got %v", err)
	}
	for _, body := range []string{"", "{}"} {
		if _, err := c.DecodeAnswer([]byte(body), anyRequest, anyUpstream); !errors.Is(err, fault.ErrUndecodable) || strings.Count(err.Error(), "undecodable") != 1 {
			t.Errorf("%s: got %v", body, err)
		}
	}
}

func TestGeminiStreams(t *testing.T) {
	c := codecOf(t, translate.Gemini)
	stream := func(chunks ...string) string {
		var b strings.Builder
		for _, chunk := range chunks {
			b.WriteString("data: " + chunk + "\r\n\r\n")
		}
		return b.String()
	}
	read := func(chunks ...string) folded {
		return fold(t, c, anyRequest, anyUpstream, strings.NewReader(stream(chunks...)))
	}
	if f := read(geminiChunk(`{"text":"a"}`, "")); f.whole || f.err != nil || len(f.answer.Parts) != 1 {
		t.Errorf("broken off: got %+v", f)
	}
	if f := read(geminiChunk(`{"text":"a"}`, "STOP"), geminiChunk(`{"text":"b"}`, "STOP")); !errors.Is(f.err, fault.ErrUndecodable) {
		t.Errorf("going on behind its end: got %v", f.err)
	}
	if f := read(geminiChunk(`{"text":"a"}`, ""), `{"promptFeedback":{"blockReason":"OTHER"}}`); !f.whole || f.answer.End.Finish != translate.FinishFilter || len(f.answer.Parts) != 1 {
		t.Errorf("blocked half-way: got %+v", f.answer)
	}
	f := read(geminiChunk(`{"text":"a"}`, ""), `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`, geminiChunk(`{"text":"b"}`, "STOP"))
	if last := f.events[len(f.events)-1]; f.whole || last.Kind != translate.EventError || last.Fault.Kind != fault.Overloaded {
		t.Errorf("an error: got %+v", last)
	}
	// Arguments that come in pieces are told when they are whole.
	f = read(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}]}`)
	if !f.whole || len(f.answer.Parts) != 1 || f.answer.Parts[0].Call.Arguments != `{"a":"x"}` {
		t.Errorf("arguments in pieces: got %+v", f.answer.Parts)
	}
	// A client is told of usage as it grows.
	usage := 0
	f = read(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":3}}`, `{"usageMetadata":{"promptTokenCount":3}}`,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`)
	for _, ev := range f.events {
		if ev.Kind == translate.EventUsage {
			usage++
		}
	}
	if usage != 2 || f.answer.Usage.Output != 2 {
		t.Errorf("got %d usages, %+v", usage, f.answer.Usage)
	}
}

// TestGeminiErrorsForClients writes errors of an upstream for a client.
func TestGeminiErrorsForClients(t *testing.T) {
	for status, want := range map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 502: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	} {
		e := codecOf(t, translate.Gemini).NewEncoder(anyRequest, publicModel)
		out := e.Event(nil, &translate.Event{Kind: translate.EventError, Fault: &fault.Fault{Status: status, Message: "m"}})
		got := strings.TrimSpace(strings.TrimPrefix(string(out), "data: "))
		compareJSON(t, fmt.Sprintf(`{"error":{"code":%d,"message":"m","status":%q}}`, status, want), got)
		if out := e.Event(nil, &translate.Event{Kind: translate.EventPart}); len(out) > 0 {
			t.Errorf("got %s behind the error", out)
		}
	}
}
