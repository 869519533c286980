package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/sse"
)

func FuzzScanRequest(f *testing.F) {
	for _, body := range clientRequests(f) {
		f.Add(true, []byte(body))
	}
	f.Add(false, []byte(`{"disable_fallbacks":true,"model":"m","system":[{"text":"\u00e9"}],"messages":[{"content":[{"type":"image","source":{}},{"type":"document","source":{"type":"text","data":"x"}}],"role":"user"}],"tools":[{"name":"f"}],"metadata":{"user_id":"{\"session_id\":\"x\"}"}}`))
	f.Fuzz(func(t *testing.T, generate bool, body []byte) {
		e := anthropic.CountTokens
		if generate {
			e = anthropic.Messages
		}
		before := bytes.Clone(body)
		r, err := anthropic.ScanRequest(e, body, jsonDepth)
		if err != nil {
			if re, ok := errors.AsType[*request.Error](err); !ok || re.Message == "" || re.Code == "" || r != nil {
				t.Fatalf("got %v, %#v", r, err)
			}
			return
		}
		if !json.Valid(body) || r.Model == "" || r.MaxOutput < 0 || r.MaxOutput > anthropic.MaxOutput || r.TextBytes < 0 || r.TextBytes > int64(len(body)) {
			t.Fatalf("%q was taken: %+v", body, r)
		}
		var opening, again bytes.Buffer
		r.HashOpening(&opening)
		out := r.Rewrite(nil, body, anthropic.Rewrite{Model: "other"})
		if !bytes.Equal(before, body) {
			t.Error("the body was written to")
		}
		r2, err := anthropic.ScanRequest(e, out, jsonDepth)
		if err != nil {
			t.Fatalf("%q became %q: %v", body, out, err)
		}
		if r2.Model != "other" || r2.DisableFallbacks || r2.LitellmSessionID != "" || r2.TextBytes != r.TextBytes || r2.Tools != r.Tools || r2.Vision != r.Vision || r2.MaxOutput != r.MaxOutput {
			t.Errorf("%q became %q, which means something else", body, out)
		}
		if r2.HashOpening(&again); !bytes.Equal(opening.Bytes(), again.Bytes()) {
			t.Errorf("%q became %q, which begins another conversation", body, out)
		}
	})
}

func FuzzEvent(f *testing.F) {
	for _, rec := range recordings(f, ".sse") {
		var data [][]byte
		r := sse.NewReader(bytes.NewReader(readFile(f, rec.File)), maxEvent)
		for ev, err := r.Next(); err == nil && len(data) < 12; ev, err = r.Next() {
			data = append(data, bytes.Clone(ev.Data))
		}
		f.Add("", bytes.Join(data, []byte("\n")))
	}
	f.Add("message_start", []byte(`{"message":{"usage":null,"content":7,"x":1}}`))
	f.Add("message_delta", []byte(`{}`+"\n"+start+"\n{}\n"+over))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		s := anthropic.NewStream(public)
		var whole []byte
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			before := bytes.Clone(data)
			out, info, err := s.Event([]byte("kept"), []byte(name), data)
			if !bytes.Equal(before, data) || !bytes.HasPrefix(out, []byte("kept")) {
				t.Fatalf("%q: something was overwritten", data)
			}
			if (err != nil) != info.Malformed || err != nil && !errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("%q: malformed %v, error %v", data, info.Malformed, err)
			}
			if info.Drop != (len(out) == 4) || (info.Malformed || info.Fault != nil) && !info.Drop || (info.Finish || info.Refusal) && !info.Content {
				t.Errorf("%q: got %+v and %q", data, info, out)
			}
			whole = append(whole, out[4:]...)
		}
		whole = s.AppendStop(whole)
		checkFrames(t, whole)
		u := s.Usage()
		if u.CachedTokens+u.CacheWriteTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens || u.CacheWriteLongTokens > u.CacheWriteTokens || min(u.InputTokens, u.OutputTokens, u.CachedTokens) < 0 {
			t.Errorf("got usage %+v", u)
		}
		if !s.Finished() {
			return
		}
		// What a client got is whole and passes through again unchanged.
		again, r := anthropic.NewStream(public), sse.NewReader(bytes.NewReader(whole), 2*maxEvent)
		var out []byte
		for ev, err := r.Next(); err == nil; ev, err = r.Next() {
			if out, _, err = again.Event(out, ev.Name, ev.Data); err != nil {
				t.Fatalf("%q: %v", whole, err)
			}
		}
		if !again.Finished() || !bytes.Equal(out, whole) {
			t.Errorf("%q became %q", whole, out)
		}
	})
}

// checkFrames checks what holds for everything that is sent to a client.
func checkFrames(t *testing.T, out []byte) {
	t.Helper()
	r := sse.NewReader(bytes.NewReader(out), 2*maxEvent)
	for ev, err := r.Next(); err == nil; ev, err = r.Next() {
		var v struct{ Type string }
		if err := json.Unmarshal(ev.Data, &v); err != nil || v.Type == "" {
			t.Fatalf("%q: %v, type %q", ev.Data, err, v.Type)
		}
	}
}

func FuzzCheckAnswer(f *testing.F) {
	for _, rec := range recordings(f, ".json") {
		_, body := rec.body(f)
		f.Add(rec.Protocol != "other", body)
	}
	f.Add(true, []byte(`{"content":[{"type":"text","text":""}],"stop_reason":"refusal","model":null,"model":1}`))
	f.Fuzz(func(t *testing.T, generate bool, body []byte) {
		e := anthropic.CountTokens
		if generate {
			e = anthropic.Messages
		}
		a, err := anthropic.CheckAnswer(e, body)
		if err != nil {
			if _, isFault := errors.AsType[*fault.InsideError](err); isFault == errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q was taken", body)
		}
		out := a.AppendWithModel(nil, body, public)
		b, err := anthropic.CheckAnswer(e, out)
		if err != nil || b.Usage != a.Usage || b.Refused != a.Refused || b.StopReason != a.StopReason {
			t.Fatalf("%q became %q: %+v, %v", body, out, b, err)
		}
		if again := b.AppendWithModel(nil, out, public); !bytes.Equal(out, again) {
			t.Errorf("%q became %q and then %q", body, out, again)
		}
	})
}
