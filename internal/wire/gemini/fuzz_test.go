package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/gemini"
	"gatewright/internal/wire/sse"
)

func FuzzCheckAnswer(f *testing.F) {
	for _, rec := range recordings(f, ".json") {
		f.Add(rec.body(f))
	}
	f.Add([]byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
	f.Add([]byte(`[{"error":{"code":429,"details":[{"retryDelay":"1.5s"},{"violations":[{"quotaId":"PerDay"}]}]}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		a, err := gemini.CheckAnswer(body)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}
		if fa, wait := gemini.ParseError(429, body); fa.Kind < fault.ContextLength || fa.Message == "" || wait < 0 || wait > gemini.MaxRetryDelay {
			t.Errorf("got fault %+v after %v", fa, wait)
		}
		if err != nil {
			_, isFault := errors.AsType[*fault.InsideError](err)
			if isFault == errors.Is(err, fault.ErrUndecodable) || a != nil {
				t.Fatalf("got %v, %v", a, err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q was taken", body)
		}
		checkParts(t, a)
		checkUsage(t, a.Usage)
		// As a stream it says the same, unless that sees a call that is still open.
		var s gemini.Stream
		chunk, info, err := s.Chunk(body)
		if err != nil || info.Fault != nil {
			return
		}
		if len(chunk.Candidates) != len(a.Candidates) || s.Usage() != a.Usage {
			t.Errorf("%q: as a chunk %+v, as an answer %+v", body, chunk, a)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, rec := range recordings(f, ".sse") {
		var data [][]byte
		r := sse.NewReader(bytes.NewReader(readFile(f, rec.File)), maxEvent)
		for ev, err := r.Next(); err == nil; ev, err = r.Next() {
			data = append(data, bytes.Clone(ev.Data))
		}
		f.Add(bytes.Join(data, []byte("\n")))
	}
	f.Add([]byte(piece("f", `{"jsonPath":"$.a[1]['b c']","stringValue":"x\n"}`) + "\n" + piece("", `{"jsonPath":"$.a[1]['b c']","stringValue":"y"}`) + "\n" + candidate("", "STOP")))
	f.Fuzz(func(t *testing.T, body []byte) {
		var s gemini.Stream
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			before := bytes.Clone(data)
			a, info, err := s.Chunk(data)
			if !bytes.Equal(before, data) {
				t.Fatal("the chunk was written to")
			}
			switch {
			case err != nil:
				if !errors.Is(err, fault.ErrUndecodable) || a != nil {
					t.Fatalf("got %v, %v", a, err)
				}
				return
			case info.Fault != nil:
				if a != nil || info.Fault.Message == "" || info.Fault.Status < 400 {
					t.Errorf("got fault %+v", info.Fault)
				}
				return
			}
			checkParts(t, a)
			if info.Finish && !info.Content {
				t.Errorf("%q: got %+v", data, info)
			}
		}
		checkUsage(t, s.Usage())
	})
}

func checkParts(t *testing.T, a *gemini.Answer) {
	t.Helper()
	for _, c := range a.Candidates {
		for _, p := range c.Parts {
			if p.Kind == gemini.PartCall && (p.Call.Name == "" || !json.Valid(p.Call.Args) || p.Call.Args[0] != '{') {
				t.Errorf("got call %q with %s", p.Call.Name, p.Call.Args)
			}
		}
	}
}

func checkUsage(t *testing.T, u gemini.Usage) {
	t.Helper()
	if u.CachedTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens || min(u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens, u.InputAudioTokens, u.OutputAudioTokens) < 0 {
		t.Errorf("got usage %+v", u)
	}
}
