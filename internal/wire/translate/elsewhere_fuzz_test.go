package translate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// fuzzRequest decodes a request of a protocol and encodes what it got for all
// protocols.
func fuzzRequest(t *testing.T, p translate.Protocol, body []byte) {
	t.Helper()
	in, _ := translate.For(p)
	before := bytes.Clone(body)
	r, _, err := in.DecodeRequest(body)
	if !bytes.Equal(before, body) {
		t.Fatal("the body was written to")
	}
	if err != nil {
		_, isInvalid := errors.AsType[*translate.InvalidError](err)
		_, isUnsupported := errors.AsType[*translate.UnsupportedError](err)
		if isInvalid == isUnsupported || err.Error() == "" || r != nil {
			t.Fatalf("got %+v, %v", r, err)
		}
		return
	}
	if !json.Valid(body) {
		t.Fatalf("%q was taken", body)
	}
	for _, up := range []*translate.Upstream{{Model: "gemini-3-pro"}, full} {
		for q := translate.Chat; q <= translate.Responses; q++ {
			c, _ := translate.For(q)
			out, _, err := c.EncodeRequest(r, up)
			if err != nil {
				if _, ok := errors.AsType[*translate.UnsupportedError](err); !ok {
					if _, ok := errors.AsType[*translate.InvalidError](err); !ok {
						t.Fatalf("%v: got %v", q, err)
					}
				}
				continue
			}
			if !json.Valid(out) {
				t.Errorf("%q became %q for %v, which is not valid", body, out, q)
			}
		}
	}
}

func FuzzGeminiRequest(f *testing.F) {
	for _, rec := range recordedElsewhere(f) {
		if rec.protocol == translate.Gemini && len(rec.request) > 0 {
			f.Add(rec.request)
		}
	}
	f.Add([]byte(`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"output":"a"}}},{"text":"\ud83d\ude00"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","allOf":[{"$ref":"#/definitions/a"}],"items":[true]}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) { fuzzRequest(t, translate.Gemini, body) })
}

func FuzzResponsesRequest(f *testing.F) {
	for i := range responsesFields {
		f.Add([]byte(`{"model":"m",` + responsesFields[i].sample + `}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) { fuzzRequest(t, translate.Responses, body) })
}

// fuzzStream decodes a stream of a protocol and encodes what it got for all
// protocols.
func fuzzStream(t *testing.T, p translate.Protocol, body []byte) {
	t.Helper()
	up, _ := translate.For(p)
	r := &translate.Request{Tools: []translate.Tool{{Name: "free", Kind: translate.ToolCustom}}}
	d := up.NewDecoder(r, full)
	var events []translate.Event
	var err error
	for data := range bytes.SplitSeq(body, []byte("\n")) {
		if events, err = d.Event(events, nil, data); err != nil {
			if !errors.Is(err, fault.ErrUndecodable) {
				t.Fatal(err)
			}
			break
		}
	}
	if err == nil {
		events = d.Close(events)
	}
	checkOrder(t, events)
	for q := translate.Chat; q <= translate.Responses; q++ {
		c, _ := translate.For(q)
		e := c.NewEncoder(r, publicModel)
		var out []byte
		for _, ev := range slices.Clone(events) {
			out = e.Event(out, &ev)
		}
		reader := sse.NewReader(bytes.NewReader(out), 1<<30)
		for ev, err := reader.Next(); err == nil; ev, err = reader.Next() {
			if ev.HasData && string(ev.Data) != "[DONE]" && !json.Valid(ev.Data) {
				t.Fatalf("for %v: %q is not valid", q, ev.Data)
			}
		}
	}
	if a, err := up.DecodeAnswer(body, r, full); err == nil {
		for q := translate.Chat; q <= translate.Responses; q++ {
			c, _ := translate.For(q)
			if out := c.EncodeAnswer(nil, a, r, publicModel); !json.Valid(out) {
				t.Errorf("for %v: %q became %q, which is not valid", q, body, out)
			}
		}
	}
}

// addRecordings adds the recorded answers of a protocol, an event a line.
func addRecordings(f *testing.F, p translate.Protocol) {
	f.Helper()
	for _, rec := range recordedElsewhere(f) {
		if rec.protocol != p {
			continue
		}
		if !rec.stream() {
			f.Add(rec.body)
			continue
		}
		var lines [][]byte
		events := sse.NewReader(bytes.NewReader(rec.body), maxEvent)
		for ev, err := events.Next(); err == nil && len(lines) < 12; ev, err = events.Next() {
			if ev.HasData {
				lines = append(lines, bytes.Clone(ev.Data))
			}
		}
		f.Add(bytes.Join(lines, []byte("\n")))
	}
}

func FuzzGeminiAnswer(f *testing.F) {
	addRecordings(f, translate.Gemini)
	f.Add([]byte(geminiChunk(`{"functionCall":{"name":"free","willContinue":true}}`, "") + "\n" + geminiChunk(`{"thoughtSignature":"s"}`, "SAFETY")))
	f.Fuzz(func(t *testing.T, body []byte) { fuzzStream(t, translate.Gemini, body) })
}

func FuzzResponsesAnswer(f *testing.F) {
	addRecordings(f, translate.Responses)
	f.Add([]byte(added("0", `{"type":"function_call","call_id":"a","name":"free"}`) + "\n" + added("1", `{"type":"custom_tool_call","name":"g"}`) + "\n" + textPiece("output_text", "2", `\ud83d`) + "\n" + completed))
	f.Fuzz(func(t *testing.T, body []byte) { fuzzStream(t, translate.Responses, body) })
}
