package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/sse"
)

func FuzzScanRequest(f *testing.F) {
	f.Add(uint8(0), []byte(`{"disable_fallbacks":true,"model":"m","stream":true,"stream_options":{"include_usage":false},"messages":[{"role":"user","content":[{"type":"text","text":"\u00e9"},{"type":"image_url","image_url":{"url":"u"}}]}],"tools":[{"function":{"name":"f"}}],"metadata":{"user_id":"{\"session_id\":\"x\"}"}}`))
	f.Add(uint8(1), []byte(`{"model":"m","prompt":["a",[1,2],3],"n":2,"max_tokens":1e3}`))
	f.Add(uint8(2), []byte(`{"model":"m","input":[[1],[2]],"litellm_session_id":"s"}`))
	f.Add(uint8(0), []byte(`{"stream_options":null,"model":"m","messages":[{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}],"litellm_session_id":null}`))
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		e := openai.Endpoint(endpoint % 3)
		before := bytes.Clone(body)
		r, err := openai.ScanRequest(e, body, jsonDepth)
		if err != nil {
			if re, ok := errors.AsType[*request.Error](err); !ok || re.Message == "" || re.Code == "" || r != nil {
				t.Fatalf("got %v, %#v", r, err)
			}
			return
		}
		if !json.Valid(body) || r.Model == "" || r.N < 1 || r.N > openai.MaxChoices || r.MaxOutput < 0 || r.MaxOutput > openai.MaxOutput {
			t.Fatalf("%q was taken: %+v", body, r)
		}
		if r.TextBytes < 0 || r.TextBytes > openai.TokenBytes*int64(len(body)) {
			t.Errorf("%q holds %d bytes of text", body, r.TextBytes)
		}
		var opening bytes.Buffer
		r.HashOpening(&opening)

		w := openai.Rewrite{Model: "other", AddStreamUsage: e != openai.Embeddings}
		out := r.Rewrite(nil, body, w)
		if !bytes.Equal(before, body) {
			t.Error("the body was written to")
		}
		again, err := openai.ScanRequest(e, out, jsonDepth)
		if err != nil {
			t.Fatalf("%q became %q: %v", body, out, err)
		}
		if again.Model != w.Model || again.IncludeUsage != (w.AddStreamUsage || r.IncludeUsage) || again.DisableFallbacks || again.LitellmSessionID != "" {
			t.Errorf("%q became %q", body, out)
		}
		if again.TextBytes != r.TextBytes || again.Tools != r.Tools || again.Vision != r.Vision || again.Stream != r.Stream {
			t.Errorf("%q became %q, which means something else", body, out)
		}
		var opening2 bytes.Buffer
		if again.HashOpening(&opening2); !bytes.Equal(opening.Bytes(), opening2.Bytes()) {
			t.Errorf("%q became %q, which begins another conversation", body, out)
		}
	})
}

func FuzzChunk(f *testing.F) {
	for _, rec := range recordings(f, ".sse") {
		var data [][]byte
		r := sse.NewReader(bytes.NewReader(readFile(f, rec.File)), maxEvent)
		for ev, err := r.Next(); err == nil && len(data) < 6; ev, err = r.Next() {
			data = append(data, bytes.Clone(ev.Data))
		}
		f.Add(uint8(len(data)), bytes.Join(data, []byte("\n")))
	}
	f.Add(uint8(1), []byte(`{"choices":[{"text":"a","index":3}]}`+"\n[DONE]\n{}"))
	f.Add(uint8(0), []byte(`{"choices":[{"message":{"content":[{"text":"a","thinking":"\n"}],"tool_calls":[{"id":"","function":{"name":"f","arguments":null}}]},"finish_reason":"x"}],"usage":null}`))
	f.Fuzz(func(t *testing.T, flags uint8, body []byte) {
		e := openai.Endpoint(flags % 2)
		s := openai.NewStream(e, public, flags&2 != 0)
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			before := bytes.Clone(data)
			out, info, err := s.Chunk([]byte("kept"), data)
			if !bytes.Equal(before, data) || !bytes.HasPrefix(out, []byte("kept")) {
				t.Fatalf("%q: something was overwritten", data)
			}
			checkChunk(t, data, out[4:], info, err)
		}
		if out := s.AppendFinish(nil); len(out) > 0 && !json.Valid(out) {
			t.Errorf("the last chunk is not valid: %s", out)
		}
		u := s.Usage()
		if u.CachedTokens+u.CacheWriteTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens || min(u.InputTokens, u.OutputTokens, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0 {
			t.Errorf("got usage %+v", u)
		}

		// The same as one answer, and the answer as a stream again.
		var events []byte
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			events = sse.Append(events, "", data)
		}
		whole, err := openai.FoldStream(e, sse.NewReader(bytes.NewReader(events), maxEvent), public, maxAnswer)
		if err != nil {
			return
		}
		if !json.Valid(whole) {
			t.Errorf("the folded answer is not valid: %s", whole)
		}
		for _, c := range openai.UnfoldAnswer(whole, public, true) {
			if !json.Valid(c) {
				t.Errorf("a chunk is not valid: %s", c)
			}
		}
	})
}

// checkChunk checks what holds for every chunk.
func checkChunk(t *testing.T, data, out []byte, info openai.ChunkInfo, err error) {
	t.Helper()
	if (err != nil) != info.Malformed || err != nil && !errors.Is(err, fault.ErrUndecodable) {
		t.Fatalf("%q: malformed %v, error %v", data, info.Malformed, err)
	}
	if quiet := info.Drop || info.Done; quiet != (len(out) == 0) || (info.Malformed || info.Fault != nil) && !info.Drop {
		t.Errorf("%q: got %+v and %q", data, info, out)
	}
	if info.Fault != nil && (info.Fault.Kind < fault.ContextLength || info.Fault.Message == "") {
		t.Errorf("%q: got fault %+v", data, info.Fault)
	}
	if (info.Finish || info.Refusal) && !info.Content {
		t.Errorf("%q: got %+v", data, info)
	}
	if len(out) == 0 {
		return
	}
	if !json.Valid(out) {
		t.Errorf("%q became %q, which is not valid", data, out)
	}
	var chunk map[string]json.RawMessage
	if err := json.Unmarshal(out, &chunk); err != nil {
		t.Fatalf("%q became %q: %v", data, out, err)
	}
	if model := string(chunk["model"]); len(chunk) > 0 && model != `"`+public+`"` && !strings.Contains(string(data), "\\u") {
		t.Errorf("%q became %q", data, out)
	}
}

func FuzzCheckAnswer(f *testing.F) {
	for _, rec := range recordings(f, ".json") {
		if rec.Protocol != "chat" {
			continue
		}
		_, body := rec.body(f)
		f.Add(uint8(0), body)
	}
	f.Add(uint8(1), []byte(`{"choices":[{"text":"a"}]}`))
	f.Add(uint8(2), []byte(`{"data":[{"embedding":"AAAA"}]}`))
	f.Add(uint8(0), []byte(`{"choices":[{"message":{"content":[{"text":"a","thinking":[{"text":"b"}]}],"tool_calls":[{"id":"","function":{"arguments":null}}]}}]}`))
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		e := openai.Endpoint(endpoint % 3)
		a, err := openai.CheckAnswer(e, body)
		if err != nil {
			_, isFault := errors.AsType[*fault.InsideError](err)
			if isFault == errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q was taken", body)
		}
		out := a.AppendWithModel(nil, body, public)
		b, err := openai.CheckAnswer(e, out)
		if err != nil || b.Usage != a.Usage || b.Refused != a.Refused || b.FinishReason != a.FinishReason {
			t.Fatalf("%q became %q: %+v, %v", body, out, b, err)
		}
		if again := b.AppendWithModel(nil, out, public); !bytes.Equal(out, again) {
			t.Errorf("%q became %q and then %q", body, out, again)
		}
	})
}
