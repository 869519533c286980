package translate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// protocolOf returns one of the protocols of this file for a number.
func protocolOf(n uint8) translate.Protocol {
	return [...]translate.Protocol{translate.Chat, translate.Messages}[n%2]
}

func FuzzDecodeRequest(f *testing.F) {
	for p, folder := range []string{"openai", "anthropic"} {
		files, err := filepath.Glob(filepath.Join(material, folder, "clients", "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			var exchange struct {
				Request struct{ Body json.RawMessage }
			}
			if err := json.Unmarshal(data, &exchange); err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(p), []byte(exchange.Request.Body))
		}
	}
	for p, fields := range requestFields {
		if p > translate.Messages {
			continue
		}
		for i := range fields {
			f.Add(uint8(p), []byte("{"+fields[i].sample+`,"model":"m","max_tokens":5000}`))
		}
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"},"b":{"type":["array","null"],"items":{"enum":["x",1]},"minItems":2}},"required":["a"],"$defs":{"A":{"type":"string","pattern":"^\\d$"}}}`,
		`{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"allOf":[{"$ref":"#/definitions/B"}]}],"definitions":{"B":{"properties":{"a":{},"b":{"oneOf":[]}}}}}`,
	} {
		f.Add(uint8(0), []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":`+schema+`}}],
			"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":`+schema+`}}}`))
	}
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		before := bytes.Clone(body)
		in := codecOf(t, protocolOf(n))
		r, lost, err := in.DecodeRequest(body)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if r.Model == "" || !json.Valid(body) {
			t.Fatalf("%q was taken: %+v", body, r)
		}
		if len(lost) > 64 {
			t.Errorf("%d losses", len(lost))
		}
		for p := translate.Chat; p <= translate.Responses; p++ {
			up, ok := translate.For(p)
			if !ok {
				continue
			}
			for _, u := range upstreams {
				out, _, err := up.EncodeRequest(r, u)
				if err != nil {
					checkRefusal(t, err)
					continue
				}
				if !json.Valid(out) {
					t.Fatalf("%v: %q became %q", p, body, out)
				}
				if p <= translate.Messages {
					if _, _, err := up.DecodeRequest(out); err != nil {
						t.Errorf("%v: %q became %q: %v", p, body, out, err)
					}
				}
			}
		}
		if !bytes.Equal(before, body) {
			t.Error("the body was written to")
		}
	})
}

// checkRefusal checks that a request is refused for one of two reasons, in words.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	bad, isBad := errors.AsType[*translate.InvalidError](err)
	no, isNo := errors.AsType[*translate.UnsupportedError](err)
	if isBad == isNo || isBad && bad.Message == "" || isNo && no.Message == "" {
		t.Fatalf("got %#v", err)
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	for _, rec := range recordedAnswers(f) {
		if !rec.stream() {
			f.Add(uint8(rec.protocol), rec.body)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		up := codecOf(t, protocolOf(n))
		a, err := up.DecodeAnswer(body, anyRequest, anyUpstream)
		if err != nil {
			if _, inside := errors.AsType[*fault.InsideError](err); inside == errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("got %v", err)
			}
			return
		}
		events := translate.Unfold(a)
		checkOrder(t, events)
		for p := translate.Chat; p <= translate.Responses; p++ {
			in, ok := translate.For(p)
			if !ok {
				continue
			}
			if out := in.EncodeAnswer(nil, a, anyRequest, publicModel); !json.Valid(out) {
				t.Fatalf("%v: %q became %q", p, body, out)
			}
			e := in.NewEncoder(anyRequest, publicModel)
			var out []byte
			for i := range events {
				out = e.Event(out, &events[i])
			}
			checkEvents(t, out)
		}
	})
}

// checkEvents checks that every event of a stream is JSON or its end.
func checkEvents(t *testing.T, stream []byte) {
	t.Helper()
	r := sse.NewReader(bytes.NewReader(stream), 64<<20)
	for ev, err := r.Next(); err == nil; ev, err = r.Next() {
		if ev.HasData && string(ev.Data) != "[DONE]" && !json.Valid(ev.Data) {
			t.Fatalf("an event is not valid: %q", ev.Data)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, rec := range recordedAnswers(f) {
		if !rec.stream() {
			continue
		}
		var data [][]byte
		r := sse.NewReader(bytes.NewReader(rec.body), maxEvent)
		for ev, err := r.Next(); err == nil && len(data) < 10; ev, err = r.Next() {
			data = append(data, bytes.Clone(ev.Data))
		}
		f.Add(uint8(rec.protocol), "", bytes.Join(data, []byte("\n")))
	}
	r := &translate.Request{
		IncludeUsage: true,
		Tools:        []translate.Tool{{Name: "f"}, {Kind: translate.ToolCustom, Name: "g"}},
		Format:       translate.Format{Kind: translate.FormatSchema, Schema: []byte("{}")},
	}
	f.Fuzz(func(t *testing.T, n uint8, name string, body []byte) {
		up := codecOf(t, protocolOf(n))
		d := up.NewDecoder(r, anyUpstream)
		var events []translate.Event
		var err error
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			before := bytes.Clone(data)
			if events, err = d.Event(events, []byte(name), data); err != nil {
				if !errors.Is(err, fault.ErrUndecodable) {
					t.Fatal(err)
				}
				break
			}
			if !bytes.Equal(before, data) {
				t.Fatalf("%q was written to", data)
			}
		}
		events = d.Close(events)
		checkOrder(t, events)
		for p := translate.Chat; p <= translate.Responses; p++ {
			in, ok := translate.For(p)
			if !ok {
				continue
			}
			e := in.NewEncoder(r, publicModel)
			var out []byte
			for i := range events {
				out = e.Event(out, &events[i])
			}
			checkEvents(t, out)
		}
	})
}
