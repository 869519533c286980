package gemini_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/gemini"
)

func TestCheckAnswerRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".json") {
		t.Run(rec.File, func(t *testing.T) {
			a, err := gemini.CheckAnswer(rec.body(t))
			if err != nil {
				t.Fatal(err)
			}
			var got reading
			got.take(t, a)
			rec.Expect.check(t, &got, a.Usage)
			if a.ID == "" {
				t.Error("got no id")
			}
		})
	}
}

// candidate returns an answer with one candidate.
func candidate(parts, reason string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"finishReason":"` + reason + `","index":0}]}`
}

func TestCheckAnswer(t *testing.T) {
	tests := []struct {
		name, body string
		err        string // part of it; empty for a good answer
	}{
		{name: "text", body: candidate(`{"text":"a"}`, "STOP")},
		{name: "empty and ended", body: candidate(``, "STOP")},
		{name: "an empty text", body: candidate(`{"text":""}`, "STOP")},
		{name: "no content", body: `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
		{name: "text without an end", body: `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`},
		{name: "prompt blocked", body: `{"promptFeedback":{"blockReason":"SAFETY"}}`},
		{name: "prompt blocked, no candidates", body: `{"candidates":[],"promptFeedback":{"blockReason":"JAILBREAK"}}`},
		{name: "filtered with text", body: candidate(`{"text":"a"}`, "SAFETY")},
		{name: "filtered", body: candidate(``, "PROHIBITED_CONTENT")},
		{name: "image filtered", body: candidate(``, "IMAGE_SAFETY")},
		{name: "image of no kind", body: candidate(``, "NO_IMAGE")},
		{name: "an unknown end", body: candidate(``, "SOMETHING_NEW")},
		{name: "two candidates, one filtered", body: `{"candidates":[{"finishReason":"SAFETY"},{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","index":1}]}`},
		{name: "the same after text", body: candidate(`{"text":"a"}`, "MALFORMED_FUNCTION_CALL")},
		{name: "a call without a name", body: candidate(`{"functionCall":{"args":{}}}`, "STOP"), err: "no name"},
		{name: "neither content nor end", body: `{"candidates":[{"index":0}]}`, err: "neither"},
		{name: "no candidates", body: `{"usageMetadata":{"promptTokenCount":3}}`, err: "no candidates"},
		{name: "candidates null", body: `{"candidates":null}`, err: "no candidates"},
		{name: "an unspecified block", body: `{"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"}}`, err: "no candidates"},
		{name: "empty", body: "", err: "empty"},
		{name: "blank", body: " \n", err: "empty"},
		{name: "no JSON", body: "<html>", err: "not an object"},
		{name: "a text", body: `"a"`, err: "not an object"},
		{name: "an array of answers", body: `[` + candidate(``, "STOP") + `,` + candidate(``, "STOP") + `]`, err: "array"},
		{name: "cut", body: candidate(`{"text":"a"}`, "STOP")[:40], err: "ends too early"},
		{name: "something behind", body: candidate(`{"text":"a"}`, "STOP") + "x", err: "text after"},
		{name: "too deep", body: candidate(`{"functionCall":{"name":"f","args":{"a":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}}}`, "STOP"), err: "nested deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := gemini.CheckAnswer([]byte(tt.body))
			if tt.err != "" {
				if !errors.Is(err, fault.ErrUndecodable) || !strings.Contains(err.Error(), tt.err) || a != nil {
					t.Fatalf("got %v, %v; want an error with %q", a, err, tt.err)
				}
				return
			}
			if err != nil || a == nil {
				t.Fatalf("got %v, %v", a, err)
			}
		})
	}
}

func TestCheckAnswerFault(t *testing.T) {
	for body, kind := range map[string]fault.Kind{
		`{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}`:                            fault.RateLimit,
		`[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`:   fault.Overloaded,
		`{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}`: fault.ContextLength,
		`{"error":"boom"}`: fault.Server,
		`{"error":{"code":500,"message":"x"},"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`: fault.Server,
	} {
		_, err := gemini.CheckAnswer([]byte(body))
		inside, ok := errors.AsType[*fault.InsideError](err)
		if !ok || inside.Fault.Kind != kind || !strings.Contains(err.Error(), inside.Fault.Message) {
			t.Errorf("%s: got %v, want %v", body, err, kind)
		}
	}
}

func TestParts(t *testing.T) {
	a, err := gemini.CheckAnswer([]byte(candidate(
		`{"text":"é\u00e9\ud83d\ude00"},{"text":"hm","thought":true},{"text":"","thoughtSignature":"s1"},`+
			`{"functionCall":{"id":"1","name":"f","args":{"a": [1]}},"thoughtSignature":"s2"},{"functionCall":{"name":"g","args":null}},`+
			`{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"fileData":{"mimeType":"video/mp4","fileUri":"u"}},`+
			`{"executableCode":{"language":"PYTHON","code":"1"}},{"thoughtSignature":"s3"},7`, "STOP")))
	if err != nil {
		t.Fatal(err)
	}
	type part struct {
		Kind                       gemini.PartKind
		Text, ID, Name, Args       string
		MIME, Data, URI, Signature string
	}
	var got []part
	for _, p := range a.Candidates[0].Parts {
		got = append(got, part{p.Kind, p.Text, p.Call.ID, p.Call.Name, string(p.Call.Args), p.MIME, p.Data, p.URI, p.Signature})
	}
	want := []part{
		{Kind: gemini.PartText, Text: "éé😀"},
		{Kind: gemini.PartThought, Text: "hm"},
		{Kind: gemini.PartText, Signature: "s1"},
		{Kind: gemini.PartCall, ID: "1", Name: "f", Args: `{"a": [1]}`, Signature: "s2"},
		{Kind: gemini.PartCall, Name: "g", Args: "{}"},
		{Kind: gemini.PartBlob, MIME: "image/png", Data: "AAAA"},
		{Kind: gemini.PartFile, MIME: "video/mp4", URI: "u"},
		{Kind: gemini.PartOther},
		{Signature: "s3"},
		{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        gemini.Usage
	}{
		{"thoughts are output", `{"promptTokenCount":9,"candidatesTokenCount":29,"totalTokenCount":294,"thoughtsTokenCount":256}`, gemini.Usage{InputTokens: 9, OutputTokens: 285, ReasoningTokens: 256, Known: true}},
		{"the cache is inside the prompt", `{"promptTokenCount":9,"cachedContentTokenCount":4,"candidatesTokenCount":1}`, gemini.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 1, Known: true}},
		{"tools feed the prompt", `{"promptTokenCount":9,"toolUsePromptTokenCount":5,"candidatesTokenCount":1,"totalTokenCount":15}`, gemini.Usage{InputTokens: 14, OutputTokens: 1, Known: true}},
		{"the total tells what is missing", `{"promptTokenCount":9,"totalTokenCount":20,"thoughtsTokenCount":4}`, gemini.Usage{InputTokens: 9, OutputTokens: 11, ReasoningTokens: 4, Known: true}},
		{"sound", `{"promptTokenCount":9,"candidatesTokenCount":7,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4},{"modality":"AUDIO","tokenCount":5}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":7}]}`, gemini.Usage{InputTokens: 9, OutputTokens: 7, InputAudioTokens: 5, OutputAudioTokens: 7, Known: true}},
		{"no counts", `{"totalTokenCount":3}`, gemini.Usage{}},
		{"null", `null`, gemini.Usage{}},
		{"nonsense", `{"promptTokenCount":-1,"candidatesTokenCount":"7","thoughtsTokenCount":1e99}`, gemini.Usage{}},
		{"more cached than sent", `{"promptTokenCount":2,"cachedContentTokenCount":4}`, gemini.Usage{InputTokens: 2, CachedTokens: 2, Known: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"usageMetadata":` + tt.usage + `,` + candidate(`{"text":"a"}`, "STOP")[1:]
			a, err := gemini.CheckAnswer([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if a.Usage != tt.want {
				t.Errorf("got %+v, want %+v", a.Usage, tt.want)
			}
		})
	}
}
