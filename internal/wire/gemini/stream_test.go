package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/gemini"
	"gatewright/internal/wire/sse"
)

const maxEvent = 1 << 20

// streamed is what came of a stream.
type streamed struct {
	reading
	usage           gemini.Usage
	chunks, content int
	finished        bool
}

func readStream(t *testing.T, body io.Reader) *streamed {
	t.Helper()
	r := &streamed{}
	var s gemini.Stream
	events := sse.NewReader(body, maxEvent)
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !ev.HasData {
			continue
		}
		if string(ev.Data) != "[DONE]" {
			r.chunks++
		}
		a, info, err := s.Chunk(ev.Data)
		if err != nil || info.Fault != nil {
			t.Fatalf("chunk %d: %v, %+v", r.chunks, err, info.Fault)
		}
		if info.Content {
			r.content++
		}
		r.take(t, a)
	}
	r.usage, r.finished = s.Usage(), s.Finished()
	return r
}

func TestStreamRecordings(t *testing.T) {
	signed := map[string]int{"gemini/stream-thought-signature.sse": 1, "gemini/tool-call.sse": 1, "gemini/reasoning.sse": 1, "gemini/native-output-function-tools-stream.sse": 1}
	for _, rec := range recordings(t, ".sse") {
		t.Run(rec.File, func(t *testing.T) {
			body := readFile(t, rec.File)
			got := readStream(t, bytes.NewReader(body))
			rec.Expect.check(t, &got.reading, got.usage)
			if got.chunks != rec.Expect.JSONChunks || got.content != got.chunks || !got.finished {
				t.Errorf("got %+v, want %d chunks, all with content, and an end", got, rec.Expect.JSONChunks)
			}
			if got.signatures != signed[rec.File] {
				t.Errorf("got %d signatures", got.signatures)
			}
			for name, other := range variants(body) {
				if diff := cmp.Diff(got, readStream(t, other), cmp.AllowUnexported(streamed{}, reading{})); diff != "" {
					t.Errorf("%s (-whole +got):\n%s", name, diff)
				}
			}
			// Cut after any event but the last it is not whole.
			events := bytes.SplitAfter(body, []byte("\r\n\r\n"))
			for n := 1; n < rec.Expect.JSONChunks; n++ {
				if cut := readStream(t, bytes.NewReader(bytes.Join(events[:n], nil))); cut.finished {
					t.Errorf("cut after event %d it is finished", n)
				}
			}
		})
	}
}

// variants are the same stream in other framings and cut in other places.
func variants(body []byte) map[string]io.Reader {
	bare := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	return map[string]io.Reader{
		"one byte a read": iotest.OneByteReader(bytes.NewReader(body)),
		"halves":          iotest.HalfReader(bytes.NewReader(body)),
		"LF":              bytes.NewReader(bare),
		"CR":              bytes.NewReader(bytes.ReplaceAll(bare, []byte("\n"), []byte("\r"))),
		"between CR and LF": io.MultiReader(
			bytes.NewReader(body[:bytes.IndexByte(body, '\r')+1]), bytes.NewReader(body[bytes.IndexByte(body, '\r')+1:])),
		"comments":        bytes.NewReader(bytes.ReplaceAll(bare, []byte("data: "), []byte(": keep-alive\n\n: again\ndata: "))),
		"DONE at the end": io.MultiReader(bytes.NewReader(body), strings.NewReader("data: [DONE]\n\n")),
	}
}

// take gives chunks to a stream and returns what came of the last.
func take(t *testing.T, s *gemini.Stream, chunks ...string) (*gemini.Answer, gemini.ChunkInfo, error) {
	t.Helper()
	for _, c := range chunks[:len(chunks)-1] {
		if _, info, err := s.Chunk([]byte(c)); err != nil || info.Fault != nil {
			t.Fatalf("%s: %v, %+v", c, err, info.Fault)
		}
	}
	return s.Chunk([]byte(chunks[len(chunks)-1]))
}

func TestChunkInfo(t *testing.T) {
	const text = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`
	ended := gemini.ChunkInfo{Content: true, Finish: true}
	tests := []struct {
		name   string
		chunks []string
		want   gemini.ChunkInfo
		whole  bool
	}{
		{"text", []string{text}, gemini.ChunkInfo{Content: true}, false},
		{"an empty text", []string{`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"}}]}`}, gemini.ChunkInfo{}, false},
		{"usage alone", []string{`{"usageMetadata":{"promptTokenCount":3}}`}, gemini.ChunkInfo{}, false},
		{"nothing", []string{``}, gemini.ChunkInfo{}, false},
		{"DONE", []string{`[DONE]`}, gemini.ChunkInfo{}, false},
		{"the end", []string{text, candidate(``, "STOP")}, ended, true},
		{"the end alone", []string{candidate(``, "STOP")}, ended, true},
		{"usage behind the end", []string{candidate(``, "STOP"), `{"usageMetadata":{"promptTokenCount":3}}`}, gemini.ChunkInfo{}, true},
		{"an unspecified end", []string{candidate(`{"text":"a"}`, "FINISH_REASON_UNSPECIFIED")}, gemini.ChunkInfo{Content: true}, false},
		{"filtered", []string{candidate(``, "SAFETY")}, ended, true},
		{"filtered after text", []string{text, candidate(``, "SAFETY")}, ended, true},
		{"blocked", []string{`{"promptFeedback":{"blockReason":"OTHER"}}`}, ended, true},
		{"blocked after text", []string{text, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`}, ended, true},
		{"feedback that blocks nothing", []string{`{"promptFeedback":{"safetyRatings":[]}}`}, gemini.ChunkInfo{}, false},
		{"a call that cannot be read, after text", []string{text, candidate(``, "MALFORMED_FUNCTION_CALL")}, ended, true},
		{"one of two candidates", []string{text, `{"candidates":[{"index":1,"finishReason":"STOP"}]}`}, ended, false},
		{"both", []string{text, `{"candidates":[{"index":1,"finishReason":"STOP"},{"finishReason":"STOP"}]}`}, ended, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s gemini.Stream
			a, info, err := take(t, &s, tt.chunks...)
			if err != nil || a == nil {
				t.Fatalf("got %v, %v", a, err)
			}
			if info != tt.want || s.Finished() != tt.whole {
				t.Errorf("got %+v, finished %v; want %+v, %v", info, s.Finished(), tt.want, tt.whole)
			}
		})
	}
}

func TestChunkFault(t *testing.T) {
	for chunk, want := range map[string]fault.Kind{
		`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`:    fault.Overloaded,
		`[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]`: fault.RateLimit,
		candidate(``, "MALFORMED_FUNCTION_CALL"):                                                fault.Server,
		candidate(`{"text":""}`, "UNEXPECTED_TOOL_CALL"):                                        fault.Server,
	} {
		var s gemini.Stream
		a, info, err := take(t, &s, `{"usageMetadata":{"promptTokenCount":3}}`, chunk)
		if a != nil || err != nil || info.Fault == nil || info.Fault.Kind != want || info.Fault.Message == "" || info.Fault.Status < 400 {
			t.Errorf("%s: got %v, %+v, %v", chunk, a, info.Fault, err)
		}
		if s.Usage().InputTokens != 3 {
			t.Errorf("got usage %+v", s.Usage())
		}
	}
}

// TestUnreadable: an answer that the model could not write fails with the same
// fault whether it is streamed or not, and without a word of Google's as its code.
func TestUnreadable(t *testing.T) {
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"} {
		body := candidate(``, reason)
		var s gemini.Stream
		_, info, err := take(t, &s, body)
		if err != nil || info.Fault == nil {
			t.Fatalf("%s: got %+v, %v", reason, info, err)
		}
		_, err = gemini.CheckAnswer([]byte(body))
		whole, ok := errors.AsType[*fault.InsideError](err)
		if !ok || whole.Fault != *info.Fault {
			t.Errorf("%s: got %v whole and %+v streamed", reason, err, info.Fault)
		}
		if f := info.Fault; f.Code != "" || f.Kind != fault.Server || f.Status != 502 || !strings.Contains(f.Message, reason) {
			t.Errorf("%s: got %+v", reason, f)
		}
	}
}

func TestChunkUndecodable(t *testing.T) {
	for name, chunks := range map[string][]string{
		"no JSON":                 {`x`},
		"cut":                     {`{"candidates":[`},
		"a number":                {`7`},
		"goes on behind its end":  {candidate(`{"text":"a"}`, "STOP"), candidate(`{"text":"b"}`, "STOP")},
		"goes on after the block": {`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"promptFeedback":{"blockReason":"OTHER"}}`, `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`},
		"no name":                 {candidate(`{"functionCall":{}}`, "")},
		"a piece without a place": {piece("f", `{"jsonPath":"$","stringValue":"a"}`)},
	} {
		var s gemini.Stream
		a, info, err := take(t, &s, chunks...)
		if !errors.Is(err, fault.ErrUndecodable) || a != nil || info != (gemini.ChunkInfo{}) {
			t.Errorf("%s: got %v, %+v, %v", name, a, info, err)
		}
	}
	var s gemini.Stream
	for i := range 17 {
		_, _, err := s.Chunk(fmt.Appendf(nil, `{"candidates":[{"index":%d,"finishReason":"STOP"}]}`, i))
		if (err != nil) != (i == 16) {
			t.Errorf("candidate %d: got %v", i, err)
		}
	}
}

// piece returns a chunk with a piece of the arguments of a call, which goes on.
// Without a name it is not the first.
func piece(name, args string) string {
	if name != "" {
		name = `"name":"` + name + `",`
	}
	return `{"candidates":[{"content":{"parts":[{"functionCall":{` + name + `"partialArgs":[` + args + `],"willContinue":true}}]}}]}`
}

func TestArgumentsInPieces(t *testing.T) {
	const closing = `{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}`
	tests := []struct {
		name   string
		chunks []string
		want   []string // name and arguments of the calls
	}{
		{"strings", []string{
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"s"}]}}]}`,
			piece("", `{"jsonPath":"$.city","stringValue":"San ","willContinue":true}`),
			piece("", `{"jsonPath":"$.city","stringValue":"\"Fran\"","willContinue":true}`),
			piece("", `{"jsonPath":"$.city","stringValue":""}`), closing,
		}, []string{`f {"city":"San \"Fran\""}`}},
		{"all kinds", []string{
			piece("f", `{"jsonPath":"$.n","numberValue":1.5e3},{"jsonPath":"$.b","boolValue":true},{"jsonPath":"$.z","nullValue":"NULL_VALUE"}`),
			piece("", `{"jsonPath":"$.l[1].x","stringValue":"a"},{"jsonPath":"$['a b'].c","numberValue":2}`), closing,
		}, []string{`f {"n":1.5e3,"b":true,"z":null,"l":[null,{"x":"a"}],"a b":{"c":2}}`}},
		{"nothing closed it", []string{piece("f", `{"jsonPath":"$.a","numberValue":1}`), piece("g", `{"jsonPath":"$.b","numberValue":2}`), candidate(``, "STOP")}, []string{`f {"a":1}`, `g {"b":2}`}},
		{"no arguments", []string{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}`, closing}, []string{`f {}`}},
		{"a whole call after it", []string{piece("f", `{"jsonPath":"$.a","numberValue":1}`), candidate(`{"functionCall":{"name":"g","args":{"b":2}}}`, "STOP")}, []string{`f {"a":1}`, `g {"b":2}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s gemini.Stream
			var got []string
			for _, c := range tt.chunks {
				a, info, err := s.Chunk([]byte(c))
				if err != nil || !info.Content {
					t.Fatalf("%s: %v, %+v", c, err, info)
				}
				for _, p := range a.Candidates[0].Parts {
					if !json.Valid(p.Call.Args) {
						t.Errorf("arguments are not valid: %s", p.Call.Args)
					}
					got = append(got, p.Call.Name+" "+string(p.Call.Args))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
	for _, path := range []string{"", "$", "x", "$.", "$.a[", "$[0]", "$[-1]", "$.a[-1]", "$.a[9999]", "$[9999]", "$[1", "$['a", "$..a", "$.a" + strings.Repeat(".b", 40)} {
		var s gemini.Stream
		if _, _, err := s.Chunk([]byte(piece("f", `{"jsonPath":"`+path+`","numberValue":1}`))); !errors.Is(err, fault.ErrUndecodable) {
			t.Errorf("path %q: got %v", path, err)
		}
	}
	var s gemini.Stream
	if _, _, err := take(t, &s, piece("f", `{"jsonPath":"$.a.b","numberValue":1}`), piece("", `{"jsonPath":"$.a[0]","numberValue":1}`)); err == nil {
		t.Error("an object became an array")
	}
}
