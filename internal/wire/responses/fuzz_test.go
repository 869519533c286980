package responses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/sse"
)

func FuzzScanRequest(f *testing.F) {
	f.Add(uint8(0), []byte(`{"disable_fallbacks":true,"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"\u00e9"},{"type":"input_image","image_url":"u"}]},{"type":"reasoning","id":"rs_1","encrypted_content":"gatewright:google:before::AA=="},{"type":"item_reference","id":"x"}],"tools":[{"type":"function","name":"f"},{"type":"web_search"}],"tool_choice":{"type":"web_search"},"litellm_session_id":"s"}`))
	f.Add(uint8(1), []byte(`{"model":"m","input":"a","instructions":"b","conversation":{"id":"c"},"prompt":{"id":"p"},"max_output_tokens":1e3,"metadata":{"user_id":"{\"session_id\":\"x\"}"}}`))
	f.Add(uint8(2), []byte(`{"previous_response_id":"r","model":"m","text":{"format":{"type":"json_schema"}},"reasoning":{"effort":"high"}}`))
	f.Add(uint8(0), []byte(`{"input":[{"type":"reasoning","encrypted_content":"gatewright:a:::b"}],"model":"m"}`))
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		e := responses.Endpoint(endpoint % 3)
		before := bytes.Clone(body)
		r, err := responses.ScanRequest(e, body, jsonDepth)
		if err != nil {
			if re, ok := errors.AsType[*request.Error](err); !ok || re.Message == "" || re.Code == "" || r != nil {
				t.Fatalf("got %v, %#v", r, err)
			}
			return
		}
		if !json.Valid(body) || r.Model == "" || r.MaxOutput < 0 || r.MaxOutput > responses.MaxOutput || r.TextBytes < 0 || r.TextBytes > int64(len(body)) {
			t.Fatalf("%q was taken: %+v", body, r)
		}
		out := r.Rewrite(nil, body, "other")
		if !bytes.Equal(before, body) {
			t.Error("the body was written to")
		}
		again, err := responses.ScanRequest(e, out, jsonDepth)
		if err != nil {
			// Nothing but foreign thoughts: there is no input left.
			if re, ok := errors.AsType[*request.Error](err); !ok || re.Param != "input" || re.Code != request.CodeMissing {
				t.Fatalf("%q became %q: %v", body, out, err)
			}
			return
		}
		if again.Model != "other" || again.DisableFallbacks || again.LitellmSessionID != "" || again.Owned.Response != r.Owned.Response || len(again.Owned.Encrypted) != len(r.Owned.Encrypted) {
			t.Errorf("%q became %q", body, out)
		}
		if again.TextBytes != r.TextBytes || again.Tools != r.Tools || again.Stream != r.Stream || (again.Native == "") != (r.Native == "") {
			t.Errorf("%q became %q, which means something else", body, out)
		}
		var opening, opening2 bytes.Buffer
		if r.HashOpening(&opening) != again.HashOpening(&opening2) || !bytes.Equal(opening.Bytes(), opening2.Bytes()) {
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
	f.Add("error", []byte(`{"message":"x"}`))
	f.Add("a\nb", []byte(`{"type":"response.completed","response":{}}`+"\n{}"))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		s := responses.NewStream(public)
		var stream []byte
		for data := range bytes.SplitSeq(body, []byte("\n")) {
			before := bytes.Clone(data)
			was := s.Finished()
			out, info, err := s.Event([]byte("kept"), []byte(name), data)
			if !bytes.Equal(before, data) || !bytes.HasPrefix(out, []byte("kept")) {
				t.Fatalf("%q: something was overwritten", data)
			}
			if (err != nil) != info.Malformed || err != nil && !errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("%q: malformed %v, error %v", data, info.Malformed, err)
			}
			if info.Drop != (len(out) == len("kept")) || (info.Malformed || info.Fault != nil) && !info.Drop {
				t.Errorf("%q: got %+v and %q", data, info, out)
			}
			if (info.Finish || info.Refusal) && !info.Content || info.Finish != (s.Finished() && !was) {
				t.Errorf("%q: got %+v, finished %v", data, info, s.Finished())
			}
			stream = append(stream, out[len("kept"):]...)
		}
		if !s.Finished() {
			stream = s.AppendBroken(stream, "broken", "", "")
		}
		// What the client gets is a stream of events, each with its name and JSON.
		events := sse.NewReader(bytes.NewReader(stream), maxEvent)
		for ev, err := events.Next(); err == nil; ev, err = events.Next() {
			var e struct{ Type string }
			if !json.Valid(ev.Data) {
				t.Fatalf("%q is not valid", ev.Data)
			}
			if json.Unmarshal(ev.Data, &e) == nil && len(ev.Name) > 0 && string(ev.Name) != e.Type && !bytes.Contains(ev.Data, []byte(`\u`)) && !bytes.Contains(ev.Data, []byte("\"type\"")) {
				t.Errorf("event %q holds %q", ev.Name, ev.Data)
			}
		}
		if whole, err := fold(stream); err == nil {
			if !json.Valid(whole) {
				t.Errorf("the folded answer is not valid: %s", whole)
			}
			_ = responses.UnfoldAnswer(whole)
		}
	})
}

func FuzzCheckAnswer(f *testing.F) {
	for _, rec := range recordings(f, ".json") {
		_, body := rec.exchange(f)
		f.Add(uint8(0), body)
	}
	f.Add(uint8(1), []byte(`{"input_tokens":3}`))
	f.Add(uint8(2), []byte(`{"output":[{"type":"compaction","encrypted_content":"e"}]}`))
	f.Add(uint8(0), []byte(`{"status":"failed","error":{"code":"x"}}`))
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		e := responses.Endpoint(endpoint % 3)
		a, err := responses.CheckAnswer(e, body)
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
		b, err := responses.CheckAnswer(e, out)
		if err != nil || b.Usage != a.Usage || b.Refused != a.Refused || b.Status != a.Status {
			t.Fatalf("%q became %q: %+v, %v", body, out, b, err)
		}
		if again := b.AppendWithModel(nil, out, public); !bytes.Equal(out, again) {
			t.Errorf("%q became %q and then %q", body, out, again)
		}
		if events := responses.UnfoldAnswer(body); e == responses.Create && events != nil {
			if whole, err := fold(events); err != nil || !json.Valid(whole) {
				t.Errorf("%q unfolded to %q: %v", body, events, err)
			}
		}
	})
}
