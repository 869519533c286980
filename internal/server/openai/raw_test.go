package openai_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	wire "gatewright/internal/wire/openai"
)

// rawRoutes are the byte routes and their endpoints.
var rawRoutes = map[string]engine.Endpoint{
	"/v1/images/generations":   engine.EndpointImageGenerations,
	"/v1/images/edits":         engine.EndpointImageEdits,
	"/v1/images/variations":    engine.EndpointImageVariations,
	"/v1/audio/transcriptions": engine.EndpointTranscriptions,
	"/v1/audio/translations":   engine.EndpointTranslations,
	"/v1/audio/speech":         engine.EndpointSpeech,
	"/v1/moderations":          engine.EndpointModerations,
	"/v1/rerank":               engine.EndpointRerank,
}

const (
	upload     = "--4a1f\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\nRIFF\x00\xff\r\n--4a1f\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--4a1f--\r\n"
	uploadType = "multipart/form-data; boundary=4a1f"
)

// passed is an executor that keeps the payload it was given and answers with
// what it was asked.
func passed(into *wire.RawPayload) execute {
	return func(_ context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		payload, ok := r.Payload.(*wire.RawPayload)
		if !ok {
			panic("the payload is not one of a byte route")
		}
		*into = *payload
		into.Body = bytes.Clone(payload.Body)
		d := p.Order[0].Deployment
		header := map[string][]string{"Content-Type": {"audio/mpeg"}, "Content-Length": {"3"}}
		if err := sink.Commit(engine.Answer{Status: http.StatusOK, Header: header, Deployment: d, Attempts: 1, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		_, err := sink.Write([]byte("ID3"))
		return engine.Result{Status: http.StatusOK, Deployment: d.ID, Cost: engine.Unknown}, err
	}
}

// TestRawRoutes sends JSON and a form to each byte route.
func TestRawRoutes(t *testing.T) {
	var got wire.RawPayload
	r := start(t, passed(&got))
	for path, endpoint := range rawRoutes {
		for _, c := range []struct{ name, body, contentType, model, formType string }{
			{"JSON", `{"input":[1e400],"model":"llama3.1:70b","disable_fallbacks":true,"session_id":"s","prompt_cache_key":"s"}`, "application/json", "llama3.1:70b", ""},
			{"form", upload, uploadType, "m", uploadType},
		} {
			t.Run(path+" "+c.name, func(t *testing.T) {
				status, header, body := r.do(http.MethodPost, path, keyAll, c.body, [2]string{"Content-Type", c.contentType}, [2]string{"Openai-Beta", "x"}, [2]string{"Cookie", "a=b"})
				if status != http.StatusOK || body != "ID3" || header.Get("Content-Type") != "audio/mpeg" || header.Get("Content-Length") != "3" {
					t.Fatalf("status %d, header %v: %q", status, header, body)
				}
				q := r.last()
				if q.Endpoint != endpoint || q.Model != c.model || q.Stream || q.InputTokens != 0 || q.Needs != 0 || q.DisableFallbacks != (c.name == "JSON") {
					t.Errorf("request %+v", q)
				}
				if q.Session.Present() {
					t.Errorf("a session was found in the body: %+v", q.Session)
				}
				if "/v1/"+got.Endpoint.Path() != path || string(got.Body) != c.body || got.Request.FormType() != c.formType {
					t.Errorf("payload for %s, form %q: %q", got.Endpoint.Path(), got.Request.FormType(), got.Body)
				}
				if diff := cmp.Diff(http.Header{"Openai-Beta": {"x"}}, got.Header); diff != "" {
					t.Errorf("header for the upstream (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestRawSession: of one session only if a header says so, and then with the
// same seed.
func TestRawSession(t *testing.T) {
	var got wire.RawPayload
	r := start(t, passed(&got))
	ask := func(headers ...[2]string) (engine.Session, uint64) {
		t.Helper()
		if status, _, body := r.do(http.MethodPost, "/v1/images/generations", keyAll, `{"model":"m","prompt":"a cat"}`, headers...); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, body)
		}
		return r.last().Session, r.last().Seed
	}
	_, seed := ask()
	if none, other := ask(); none.Present() || seed == other {
		t.Errorf("without a header: session %+v, seeds %d and %d", none, seed, other)
	}
	first, seed := ask([2]string{"X-Gatewright-Session", "s"})
	second, again := ask([2]string{"X-Gatewright-Session", "s"})
	if !first.Present() || first != second || seed != again {
		t.Errorf("with a header: %+v %d, %+v %d", first, seed, second, again)
	}
}

func TestRawRefusals(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		name, contentType, body string
		status                  int
		code, param, says       string
	}{
		{"no model", "application/json", `{"input":"x"}`, 400, "missing_required_parameter", "model", "model"},
		{"no model in a form", uploadType, strings.Replace(upload, `"model"`, `"name"`, 1), 400, "missing_required_parameter", "model", "model"},
		{"no JSON", "application/json", `x`, 400, "invalid_json", "", "JSON"},
		{"a form under the label of JSON", "application/json", upload, 400, "invalid_json", "", "JSON"},
		{"a form without boundary", "multipart/form-data", upload, 400, "invalid_request", "", "has no boundary"},
		{"a cut form", uploadType, upload[:len(upload)-12], 400, "invalid_request", "", "closing boundary"},
		{"two models", uploadType, strings.Replace(upload, "--4a1f--", "--4a1f\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nbare\r\n--4a1f--", 1), 400, "duplicate_parameter", "model", "twice"},
		{"plain audio", "audio/wav", "RIFF", 415, "unsupported_media_type", "", "multipart/form-data"},
		{"an unknown model", "application/json", `{"model":"absent"}`, 404, "model_not_found", "model", "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, body := r.do(http.MethodPost, "/v1/audio/transcriptions", keyAll, c.body, [2]string{"Content-Type", c.contentType})
			e := toldIn(t, body)
			if status != c.status || e.code() != c.code || e.param() != c.param || !strings.Contains(e.Message, c.says) {
				t.Errorf("status %d, %s; want %d %s %q with %q", status, body, c.status, c.code, c.param, c.says)
			}
		})
	}
	if status, header, _ := r.do(http.MethodGet, "/v1/rerank", keyAll, ""); status != http.StatusMethodNotAllowed || header.Get("Allow") != "POST" {
		t.Errorf("GET: status %d, allow %q", status, header.Get("Allow"))
	}
}
