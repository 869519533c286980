package openai

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

const rawFormType = "multipart/form-data; boundary=4a1f"

// rawForm writes fields as a form; one that begins with "@" is a file.
func rawForm(fields ...string) string {
	var b strings.Builder
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		b.WriteString("--4a1f\r\nContent-Disposition: form-data; name=\"" + strings.TrimPrefix(name, "@") + `"`)
		if strings.HasPrefix(name, "@") {
			b.WriteString(`; filename="x.bin"`)
		}
		b.WriteString("\r\n\r\n" + value + "\r\n")
	}
	return b.String() + "--4a1f--\r\n"
}

var rawEngineEndpoints = [wire.RawEndpoints]engine.Endpoint{
	engine.EndpointImageGenerations, engine.EndpointImageEdits, engine.EndpointImageVariations, engine.EndpointTranscriptions,
	engine.EndpointTranslations, engine.EndpointSpeech, engine.EndpointModerations, engine.EndpointRerank,
}

// rawRequest makes the engine's request of a body of a byte route.
func rawRequest(t *testing.T, e wire.RawEndpoint, body string, header http.Header) *engine.Request {
	t.Helper()
	formType := ""
	if strings.HasPrefix(body, "--") {
		formType = rawFormType
	}
	found, err := wire.ScanRaw(formType, []byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Request{
		ID: "req", Caller: &engine.Caller{Key: "k"}, Model: found.Model, Endpoint: rawEngineEndpoints[e], Stream: found.Stream, Now: time.Now(),
		Payload: &wire.RawPayload{Endpoint: e, Request: found, Body: []byte(body), Header: header},
	}
}

// Bodies of the byte routes, with fields that nobody knows.
var rawBodies = [wire.RawEndpoints]string{
	wire.ImageGenerations: `{"x_new":[1e400], "model": "public-model","prompt":"a cat","disable_fallbacks":false}`,
	wire.ImageEdits:       rawForm("@image[]=\x89PNG\r\n", "model=public-model", "prompt=a cat", "x_new=1"),
	wire.ImageVariations:  rawForm("model=public-model", "@image=\x89PNG\r\n", "disable_fallbacks=true"),
	wire.Transcriptions:   rawForm("@file=RIFF\x00\xff\r\n--", "model=public-model"),
	wire.Translations:     rawForm("@file=RIFF", "response_format=srt", "model=public-model"),
	wire.Speech:           `{"model":"public-model","input":"hello","voice":"alloy"}`,
	wire.Moderations:      `{"input":["violence","x"],"model":"public-model"}`,
	wire.Rerank:           `{"model":"public-model","query":"q","documents":["q","r"]}`,
}

// upstreamBody is what an upstream must see of a body, byte for byte.
func upstreamBody(body string) string {
	own := "--4a1f\r\nContent-Disposition: form-data; name=\"disable_fallbacks\"\r\n\r\ntrue\r\n"
	body = strings.Replace(body, own, "", 1)
	body = strings.Replace(body, `,"disable_fallbacks":false`, "", 1)
	return strings.Replace(body, publicModel, "up-model", 1)
}

// TestRawIsPassedByteForByte fails over from a broken upstream on every byte
// route, and compares what both saw.
func TestRawIsPassedByteForByte(t *testing.T) {
	r := newRig(t, rigOptions{retry: engine.RetryPolicy{MaxAttempts: 1, Timeout: shortLimit}}, "always: http-503", "{}")
	for e := range wire.RawEndpoint(wire.RawEndpoints) {
		t.Run(e.Path(), func(t *testing.T) {
			r.fake.Reset()
			body := rawBodies[e]
			s, d, err := r.serve(t.Context(), rawRequest(t, e, body, http.Header{"Openai-Beta": {"x"}}))
			if err != nil || attempts(d) != "a:server b:ok" || s.commits != 1 || s.answer.Status != 200 {
				t.Fatalf("attempts %q, %d commits, error %v", attempts(d), s.commits, err)
			}
			want := sha256.Sum256([]byte(upstreamBody(body)))
			for _, id := range []string{"a", "b"} {
				seen := r.fake.Requests(id)[0]
				if seen.BodySHA256 != hex.EncodeToString(want[:]) || seen.Path != "/v1/"+e.Path() {
					t.Errorf("%s saw %s: %q", id, seen.Path, seen.Body)
				}
				wantType := "application/json"
				if strings.HasPrefix(body, "--") {
					wantType = rawFormType
				}
				if h := seen.Header; h.Get("Content-Type") != wantType || h.Get("Accept") != "*/*" || h.Get("Authorization") != "Bearer "+secretKey || h.Get("Openai-Beta") != "x" {
					t.Errorf("%s got the headers %v", id, h)
				}
			}
			checkRawAnswer(t, e, s)
		})
	}
}

// checkRawAnswer checks the simulated answer of a byte route.
func checkRawAnswer(t *testing.T, e wire.RawEndpoint, s *sink) {
	t.Helper()
	out, header := s.out.String(), http.Header(s.answer.Header)
	switch e {
	case wire.Speech:
		if header.Get("Content-Type") != "audio/mpeg" || !strings.HasPrefix(out, "\xff\xfb") {
			t.Errorf("type %q, %d bytes", header.Get("Content-Type"), len(out))
		}
		return
	case wire.Translations:
		if header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(out, "00:00:00,000 --> ") {
			t.Errorf("type %q: %q", header.Get("Content-Type"), out)
		}
		return
	case wire.ImageGenerations, wire.ImageEdits, wire.ImageVariations, wire.Transcriptions, wire.Moderations, wire.Rerank:
	}
	var answer struct{ Model string }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || header.Get("Content-Type") != "application/json" || header.Get("Content-Length") != strconv.Itoa(len(out)) {
		t.Errorf("%v, header %v: %s", err, header, out)
	}
	if named := e == wire.Moderations || e == wire.Rerank; answer.Model != publicModel && named || answer.Model != "" && !named {
		t.Errorf("the answer names the model %q", answer.Model)
	}
}

// TestRawUsage reads the tokens of whole and streamed answers.
func TestRawUsage(t *testing.T) {
	r := newRig(t, rigOptions{}, "answer: {tokens: 4, usage: {prompt: 11, completion: 7}}", "{}")
	for name, req := range map[string]*engine.Request{
		"image":             rawRequest(t, wire.ImageGenerations, rawBodies[wire.ImageGenerations], nil),
		"image stream":      rawRequest(t, wire.ImageGenerations, `{"model":"public-model","prompt":"x","stream":true}`, nil),
		"transcript":        rawRequest(t, wire.Transcriptions, rawBodies[wire.Transcriptions], nil),
		"transcript stream": rawRequest(t, wire.Transcriptions, rawForm("@file=x", "stream=true", "model=public-model"), nil),
	} {
		_, d, err := r.serve(t.Context(), req)
		if u := d.Result.Usage; err != nil || !u.Known || u.Input != 11 || u.Output != 7 {
			t.Errorf("%s: usage %+v, error %v", name, u, err)
		}
	}
}

// TestRawFaults plays faults of upstream a; b is healthy.
func TestRawFaults(t *testing.T) {
	image := rawBodies[wire.ImageGenerations]
	transcript := rawBodies[wire.Transcriptions]
	stream := rawForm("@file=x", "model=public-model", "stream=true")
	speech := rawBodies[wire.Speech]
	const transferred, broken, good = "transferred", "broken", "good"
	for _, c := range []struct {
		endpoint           wire.RawEndpoint
		body, fault, class string
		want               string
	}{
		{wire.ImageGenerations, image, "close", "connect", transferred},
		{wire.ImageGenerations, image, "reset-mid-body", "server", transferred},
		{wire.ImageGenerations, image, "stall", "timeout", transferred},
		{wire.ImageGenerations, image, "empty", "server", transferred},
		{wire.ImageGenerations, image, "error-200", "server", transferred},
		{wire.ImageGenerations, image, "{fault: error-200, code: 429}", "rate_limit", transferred},
		{wire.ImageGenerations, image, "not-object", "server", transferred},
		{wire.ImageGenerations, image, "html", "server", transferred},
		{wire.ImageGenerations, image, "text", "server", transferred},
		{wire.ImageGenerations, image, "invalid-json", "server", transferred},
		{wire.ImageGenerations, image, "truncated-json", "server", transferred},
		{wire.ImageGenerations, image, "gzip", "", good},
		{wire.ImageGenerations, image, "gzip-truncated", "server", transferred},
		{wire.ImageGenerations, image, "encoding-unknown", "server", transferred},
		{wire.ImageGenerations, image, "http-204", "server", transferred},
		{wire.ImageGenerations, image, "http-206", "server", transferred},
		{wire.ImageGenerations, image, "http-302", "server", transferred},
		{wire.ImageGenerations, image, "http-404", "not_found", transferred},
		{wire.ImageGenerations, image, "http-401", "auth", transferred},
		{wire.ImageGenerations, image, `{fault: http-429, retry_after: "9"}`, "rate_limit_timed", transferred},
		{wire.ImageGenerations, image, "insufficient-quota", "quota", transferred},

		{wire.Transcriptions, transcript, "reset-after-headers", "server", transferred},
		{wire.Transcriptions, transcript, "text", "server", transferred},
		{wire.Transcriptions, transcript, "close-delimited", "", good},

		{wire.Transcriptions, stream, "error-first", "server", transferred},
		{wire.Transcriptions, stream, "eof-no-events", "server", transferred},
		{wire.Transcriptions, stream, "{fault: malformed-event, after: 0}", "server", transferred},
		{wire.Transcriptions, stream, "{fault: reset-mid-body, after: 0}", "server", transferred},
		{wire.Transcriptions, stream, "{fault: stall, after: 0}", "timeout", transferred},
		{wire.Transcriptions, stream, "{fault: reset-mid-body, after: 2}", "truncated", broken},
		{wire.Transcriptions, stream, "{fault: eof-after-content, after: 2}", "truncated", broken},
		{wire.Transcriptions, stream, "{fault: content-then-error, after: 2}", "truncated", broken},
		{wire.Transcriptions, stream, "{fault: malformed-event, after: 2}", "truncated", broken},
		{wire.Transcriptions, stream, "{fault: stall, after: 2}", "truncated", broken},
		{wire.Transcriptions, stream, "json-for-stream", "", good},
		{wire.Transcriptions, stream, "stall-after-finish", "", good},
		{wire.Transcriptions, stream, "sse-multiline", "", good},
		{wire.Transcriptions, stream, "sse-comments", "", good},
		{wire.Transcriptions, stream, "byte-writes", "", good},

		{wire.Speech, speech, "reset-after-headers", "server", transferred},
		{wire.Speech, speech, "stall-after-headers", "timeout", transferred},
		{wire.Speech, speech, "empty", "server", transferred},
		{wire.Speech, speech, "text", "server", transferred},
		{wire.Speech, speech, "html", "server", transferred},
		{wire.Speech, speech, "error-200", "server", transferred},
		{wire.Speech, speech, "gzip", "", good},
		{wire.Speech, speech, "trailers", "", good},
		{wire.Speech, speech, "{fault: no-last-chunk, after: 2}", "truncated", broken},
		{wire.Speech, speech, "{fault: length-too-long, after: 2}", "truncated", broken},
		{wire.Speech, speech, "{fault: stall, after: 2}", "truncated", broken},
		{wire.Speech, speech, "{fault: gzip-truncated, after: 2}", "truncated", broken},
	} {
		t.Run(c.endpoint.Path()+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{}, "answer: {tokens: 6}\nalways: "+c.fault, "answer: {tokens: 6}")
			s, d, err := r.serve(t.Context(), rawRequest(t, c.endpoint, c.body, nil))
			want := map[string]string{transferred: "a:" + c.class + " b:ok", broken: "a:" + c.class, good: "a:ok"}[c.want]
			if attempts(d) != want || s.commits != 1 {
				t.Fatalf("attempts %q, %d commits, error %v; want %q", attempts(d), s.commits, err, want)
			}
			if c.want != broken {
				if err != nil || d.Result.Truncated || s.out.Len() == 0 {
					t.Errorf("error %v, result %+v", err, d.Result)
				}
				return
			}
			if u := upstreamError(t, err); !u.Committed || !d.Result.Truncated || s.out.Len() == 0 || r.fake.Calls("b") != 0 {
				t.Errorf("error %+v, result %+v, %d bytes", u, d.Result, s.out.Len())
			}
		})
	}
}

// TestRawRefusals: what the caller did wrong is not tried elsewhere, and what
// nobody serves ends with the last error.
func TestRawRefusals(t *testing.T) {
	for fault, want := range map[string]struct {
		attempts string
		status   int
		code     string
	}{
		"http-400":       {"a:client", 400, ""},
		"content-policy": {"a:content_policy", 400, "invalid_prompt"},
		"http-413":       {"a:context_window", 400, engine.CodeContextLengthExceeded},
		"http-404":       {"a:not_found b:not_found", 502, engine.CodeUpstreamModelNotFound},
		"http-503":       {"a:server b:server", 503, "server_is_overloaded"},
		"invalid-key":    {"a:auth b:auth", 502, engine.CodeUpstreamAuth},
		"stall":          {"a:timeout b:timeout", 504, engine.CodeUpstreamTimeout},
		"html":           {"a:server b:server", 502, engine.CodeUpstreamError},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{}, "always: "+fault, "always: "+fault)
			s, d, err := r.serve(t.Context(), rawRequest(t, wire.Moderations, rawBodies[wire.Moderations], nil))
			if u := upstreamError(t, err); attempts(d) != want.attempts || u.Status != want.status || u.Code != want.code || s.commits != 0 {
				t.Errorf("attempts %q, error %+v; want %q with %d %q", attempts(d), u, want.attempts, want.status, want.code)
			}
		})
	}
}

// TestRawSound hands sound on as it comes: bytes, type and length are the
// upstream's.
func TestRawSound(t *testing.T) {
	sound := bytes.Repeat([]byte("\x00\xffsound"), 20_000)
	for _, c := range []struct {
		name, contentType string
		length            bool
		wantType          string
	}{
		{"with length", "audio/wav", true, "audio/wav"},
		{"in chunks", "audio/L16; rate=24000; channels=1", false, "audio/L16; rate=24000; channels=1"},
		{"not labelled", "-", false, "application/octet-stream"},
		{"a label that is none", strings.Repeat("x", 200), false, "application/octet-stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{c.contentType}
				if c.contentType == "-" {
					w.Header()["Content-Type"] = nil
				}
				w.Header().Set("Set-Cookie", "a=b")
				w.Header().Set("Openai-Processing-Ms", "5")
				if c.length {
					w.Header().Set("Content-Length", strconv.Itoa(len(sound)))
				}
				_, _ = w.Write(sound[:1])
				_ = http.NewResponseController(w).Flush()
				_, _ = w.Write(sound[1:])
			}, nil)
			s, _, err := r.serve(t.Context(), rawRequest(t, wire.Speech, rawBodies[wire.Speech], nil))
			h := http.Header(s.answer.Header)
			if err != nil || s.out.String() != string(sound) || h.Get("Content-Type") != c.wantType || (h.Get("Content-Length") != "") != c.length {
				t.Errorf("error %v, %d of %d bytes, header %v", err, s.out.Len(), len(sound), h)
			}
			if h.Get("Set-Cookie") != "" || h.Get("Openai-Processing-Ms") != "5" {
				t.Errorf("header %v", h)
			}
		})
	}
}

// echoing lets an upstream go on when its client has got something.
type echoing struct {
	sink
	got chan struct{}
}

// Flush implements [engine.Sink].
func (s *echoing) Flush() error {
	s.got <- struct{}{}
	return nil
}

// TestRawSoundIsNotHeld: the second piece is made when the client has the first.
func TestRawSoundIsNotHeld(t *testing.T) {
	got := make(chan struct{}, 8)
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		for range 3 {
			_, _ = io.WriteString(w, "piece ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-got:
			case <-req.Context().Done():
			}
		}
	}, nil)
	s := &echoing{got: got}
	req := rawRequest(t, wire.Speech, rawBodies[wire.Speech], nil)
	if _, err := r.engine.Serve(t.Context(), r.snapshot, req, s, time.Now); err != nil || s.out.String() != "piece piece piece " {
		t.Errorf("error %v: %q", err, s.out.String())
	}
}

// TestRawSniffs reads answers that do not say what they are, or say it wrongly.
func TestRawSniffs(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, "sound")
	_ = z.Close()
	for _, c := range []struct {
		name      string
		endpoint  wire.RawEndpoint
		header    http.Header
		body      string
		want      string // "" = the call fails
		wantType  string
		hasLength bool
	}{
		{"JSON", wire.Moderations, http.Header{"Content-Type": nil}, " \n{\"model\":\"up\"}", " \n{\"model\":\"public-model\"}", "application/json", true},
		{"JSON as text", wire.Transcriptions, http.Header{"Content-Type": {"text/plain"}}, `{"text":"x"}`, `{"text":"x"}`, "application/json", true},
		{"JSON for sound", wire.Speech, http.Header{"Content-Type": {"application/json"}}, `{"audio":"AAAA"}`, `{"audio":"AAAA"}`, "application/json", true},
		{"an error for sound", wire.Speech, http.Header{"Content-Type": nil}, `{"error":{"message":"boom"}}`, "", "", false},
		{"a page", wire.Speech, http.Header{"Content-Type": nil}, "<html>", "", "", false},
		{"nothing", wire.Speech, http.Header{"Content-Type": nil}, "", "", "", false},
		{"an image", wire.ImageGenerations, http.Header{"Content-Type": {"image/png"}}, "\x89PNG", "\x89PNG", "image/png", true},
		{"sound, encoded", wire.Speech, http.Header{"Content-Type": {"audio/mpeg"}, "Content-Encoding": {"gzip"}}, zipped.String(), "sound", "audio/mpeg", false},
		{"sound without label", wire.Speech, http.Header{"Content-Type": nil}, "ID3", "ID3", "application/octet-stream", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), c.header)
				w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
				_, _ = io.WriteString(w, c.body)
			}, nil)
			s, d, err := r.serve(t.Context(), rawRequest(t, c.endpoint, rawBodies[c.endpoint], nil))
			if c.want == "" {
				if attempts(d) != "a:server" || s.commits != 0 {
					t.Errorf("attempts %q, %d commits, error %v", attempts(d), s.commits, err)
				}
				return
			}
			h := http.Header(s.answer.Header)
			if err != nil || s.out.String() != c.want || h.Get("Content-Type") != c.wantType || (h.Get("Content-Length") != "") != c.hasLength {
				t.Errorf("error %v, header %v: %q", err, h, s.out.String())
			}
		})
	}
}

// TestRawStreamOfImages passes events on with their names and bytes.
func TestRawStreamOfImages(t *testing.T) {
	r := newRig(t, rigOptions{}, "{}", "{}")
	s, _, err := r.serve(t.Context(), rawRequest(t, wire.ImageGenerations, `{"model":"public-model","prompt":"x","stream":true,"partial_images":2}`, nil))
	if err != nil || http.Header(s.answer.Header).Get("Content-Type") != "text/event-stream" {
		t.Fatalf("error %v, header %v", err, s.answer.Header)
	}
	var names []string
	events := sse.NewReader(strings.NewReader(s.out.String()), eventLimit)
	for ev, err := events.Next(); err == nil; ev, err = events.Next() {
		names = append(names, string(ev.Name))
		if !json.Valid(ev.Data) {
			t.Errorf("event %s is no JSON", ev.Name)
		}
	}
	if got := strings.Join(names, " "); got != "image_generation.partial_image image_generation.partial_image image_generation.completed" {
		t.Errorf("events %q", got)
	}
}

// TestRawPathsOfAzure calls below the deployment's path.
func TestRawPathsOfAzure(t *testing.T) {
	azure := func(_ string, c *Config) {
		c.BaseURL = strings.TrimSuffix(c.BaseURL, "/v1")
		c.DeploymentPaths, c.APIVersion = true, "2025-04-01-preview"
	}
	r := newRig(t, rigOptions{config: azure}, "{}", "{}")
	for _, e := range []wire.RawEndpoint{wire.ImageGenerations, wire.ImageEdits, wire.Transcriptions, wire.Translations, wire.Speech} {
		r.fake.Reset()
		if _, d, err := r.serve(t.Context(), rawRequest(t, e, rawBodies[e], nil)); err != nil || attempts(d) != "a:ok" {
			t.Errorf("%s: attempts %q, error %v", e.Path(), attempts(d), err)
		}
		if seen := r.fake.Requests("a")[0]; seen.Path != "/openai/deployments/up-model/"+e.Path() || seen.Query != "api-version=2025-04-01-preview" {
			t.Errorf("%s went to %s?%s", e.Path(), seen.Path, seen.Query)
		}
	}
}

// TestRawFormIsReadAlikeEverywhere writes a form with the standard library, as
// many clients do, and lets the upstream read it with that.
func TestRawFormIsReadAlikeEverywhere(t *testing.T) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	file, err := w.CreateFormFile("file", "a \"quoted\" name.wav")
	if err != nil {
		t.Fatal(err)
	}
	sound := bytes.Repeat([]byte("\r\n--\x00\xff"), 1<<16)
	_, _ = file.Write(sound)
	_ = w.WriteField("model", publicModel)
	_ = w.Close()
	var read string
	r := serveHTTP(t, rigOptions{}, func(rw http.ResponseWriter, req *http.Request) {
		_, parameters, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
		if err != nil || parameters["boundary"] != w.Boundary() {
			http.Error(rw, "boundary", http.StatusBadRequest)
			return
		}
		if err := req.ParseMultipartForm(1 << 20); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		f, h, err := req.FormFile("file")
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		got, _ := io.ReadAll(f)
		read = fmt.Sprintf("%s %q %v", req.FormValue("model"), h.Filename, bytes.Equal(got, sound))
		_, _ = io.WriteString(rw, `{"text":"x"}`)
	}, nil)
	found, err := wire.ScanRaw(w.FormDataContentType(), body.Bytes(), 64)
	if err != nil {
		t.Fatal(err)
	}
	req := rawRequest(t, wire.Transcriptions, rawBodies[wire.Transcriptions], nil)
	req.Payload = &wire.RawPayload{Endpoint: wire.Transcriptions, Request: found, Body: body.Bytes()}
	if _, _, err := r.serve(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if want := `up-model "a \"quoted\" name.wav" true`; read != want {
		t.Errorf("the upstream read %s, want %s", read, want)
	}
}

// TestRawClientLeaves: a client that is gone ends the call upstream and counts
// against nobody.
func TestRawClientLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := make(chan struct{})
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = io.WriteString(w, "piece")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-req.Context().Done()
		close(left)
	}, nil)
	_, d, err := r.serve(ctx, rawRequest(t, wire.Speech, rawBodies[wire.Speech], nil))
	<-left
	if err == nil || !d.Result.Cancelled || r.stats("a").FailuresInRow != 0 {
		t.Errorf("error %v, result %+v, health %+v", err, d.Result, r.stats("a"))
	}
}

// TestRawPayloadsOfNoEndpoint are not sent.
func TestRawPayloadsOfNoEndpoint(t *testing.T) {
	r := newRig(t, rigOptions{}, "{}", "{}")
	req := rawRequest(t, wire.Speech, rawBodies[wire.Speech], nil)
	req.Payload = &wire.RawPayload{Endpoint: wire.RawEndpoint(wire.RawEndpoints), Request: new(wire.RawRequest)}
	if _, _, err := r.serve(t.Context(), req); err == nil || r.fake.Calls("a") != 0 {
		t.Errorf("error %v after %d calls", err, r.fake.Calls("a"))
	}
}

// TestModelWithLineBreakIsRefused: in a form it could end the field.
func TestModelWithLineBreakIsRefused(t *testing.T) {
	_, err := New(Config{BaseURL: "https://a.example/v1", Model: "m\r\n--x", Client: provider.NewClient(provider.ClientOptions{})})
	if err == nil || !strings.Contains(err.Error(), "control character") {
		t.Errorf("error %v", err)
	}
}
