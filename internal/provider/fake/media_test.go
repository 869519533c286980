package fake

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const formType = "multipart/form-data; boundary=b"

// formOf writes fields as a form; one that begins with "@" is a file.
func formOf(fields ...string) string {
	var b strings.Builder
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		b.WriteString("--b\r\nContent-Disposition: form-data; name=\"" + strings.TrimPrefix(name, "@") + `"`)
		if strings.HasPrefix(name, "@") {
			b.WriteString(`; filename="x.wav"`)
		}
		b.WriteString("\r\n\r\n" + value + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

// media sends a body, JSON or a form.
func (r *rig) media(t *testing.T, path, body string) reply {
	t.Helper()
	contentType := "application/json"
	if strings.HasPrefix(body, "--b") {
		contentType = formType
	}
	return r.send(t, http.MethodPost, "/a/v1/"+path, body, "Content-Type", contentType)
}

// transcript is a form with sound.
func transcript(fields ...string) string {
	return formOf(append([]string{"@file=RIFF....", "model=m"}, fields...)...)
}

func TestImages(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]"), Options{})
	for _, c := range []struct {
		name, path, body string
		images           int
		url              bool
	}{
		{"generation", "images/generations", `{"model":"m","prompt":"a cat"}`, 1, false},
		{"two by address", "images/generations", `{"model":"m","prompt":"a cat","n":2,"response_format":"url"}`, 2, true},
		{"edit", "images/edits", formOf("model=m", "@image[]=x", "@image[]=y", "prompt=p", "n=2"), 2, false},
		{"edit in JSON", "images/edits", `{"model":"m","prompt":"p","images":[{"file_id":"f"}]}`, 1, false},
		{"variation", "images/variations", formOf("model=m", "@image=x", "stream=true"), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.media(t, c.path, c.body)
			var answer struct {
				Created int64
				Data    []struct {
					B64 string `json:"b64_json"`
					URL string
				}
				Usage struct {
					Total int `json:"total_tokens"`
				}
			}
			if err := json.Unmarshal(got.body, &answer); err != nil || got.status != 200 || got.header.Get("Content-Type") != contentJSON {
				t.Fatalf("status %d, %v: %s", got.status, err, got.body)
			}
			if len(answer.Data) != c.images || answer.Created == 0 || answer.Usage.Total < imageTokens*c.images {
				t.Errorf("answer %s", got.body)
			}
			for _, d := range answer.Data {
				if (d.URL != "") != c.url {
					t.Errorf("URL %q", d.URL)
				}
				raw, err := base64.StdEncoding.DecodeString(d.B64)
				if _, decoded := png.Decode(bytes.NewReader(raw)); err != nil || (decoded != nil) != c.url {
					t.Errorf("image: %v, %v", err, decoded)
				}
			}
			if seen := r.Requests("a"); seen[len(seen)-1].Model != "m" {
				t.Errorf("recorded model %q", seen[len(seen)-1].Model)
			}
		})
	}
}

func TestSpeech(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]\nanswer: {tokens: 5}"), Options{})
	ask := func(t *testing.T, more, contentType string) []byte {
		t.Helper()
		got := r.media(t, "audio/speech", `{"model":"m","input":"hello","voice":"alloy"`+more+`}`)
		if got.status != 200 || got.readErr != nil || got.header.Get("Content-Type") != contentType {
			t.Fatalf("status %d, %v, type %q: %.100q", got.status, got.readErr, got.header.Get("Content-Type"), got.body)
		}
		return got.body
	}
	mp3 := ask(t, "", "audio/mpeg")
	if len(mp3) != 5*framesPerPiece*len(silentFrame()) || !bytes.HasPrefix(mp3[len(silentFrame()):], silentFrame()[:4]) {
		t.Errorf("%d bytes of MP3", len(mp3))
	}
	pcm := ask(t, `,"response_format":"pcm"`, "audio/pcm")
	if len(pcm) != 5*pieceSamples*sampleBytes {
		t.Errorf("%d bytes of PCM", len(pcm))
	}
	wav := ask(t, `,"response_format":"wav"`, "audio/wav")
	if string(wav[:4]) != "RIFF" || int(binary.LittleEndian.Uint32(wav[4:]))+8 != len(wav) || !bytes.Equal(wav[44:], pcm) {
		t.Errorf("WAV of %d bytes: % x", len(wav), wav[:44])
	}
	var heard []byte
	stream := events(ask(t, `,"response_format":"pcm","stream_format":"sse"`, contentStream))
	for _, data := range stream {
		var e struct {
			Type  string
			Audio []byte
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		heard = append(heard, e.Audio...)
	}
	if !bytes.Equal(heard, pcm) || !strings.Contains(stream[len(stream)-1], "speech.audio.done") {
		t.Errorf("the stream holds %d bytes in %d events", len(heard), len(stream))
	}
}

func TestTranscripts(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]\nanswer: {text: \"say \\\"hi\\\" now\"}"), Options{})
	for _, c := range []struct{ name, path, format, contentType, want string }{
		{"JSON", "audio/transcriptions", "json", contentJSON, `{"text":"say \"hi\" now","usage":{"total_tokens":4,"input_tokens":1,"output_tokens":3,"input_token_details":{"audio_tokens":1}}}`},
		{"text", "audio/translations", "text", contentPlain, "say \"hi\" now\n"},
		{"srt", "audio/transcriptions", "srt", contentPlain, "1\n00:00:00,000 --> 00:00:00,300\nsay \"hi\" now\n\n"},
		{"vtt", "audio/transcriptions", "vtt", contentPlain, "WEBVTT\n\n00:00:00.000 --> 00:00:00.300\nsay \"hi\" now\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.media(t, c.path, transcript("response_format="+c.format))
			if got.status != 200 || got.header.Get("Content-Type") != c.contentType || string(got.body) != c.want {
				t.Errorf("status %d, type %q: %s", got.status, got.header.Get("Content-Type"), got.body)
			}
		})
	}
	got := r.media(t, "audio/translations", transcript("response_format=verbose_json"))
	var verbose struct {
		Task, Text string
		Segments   []struct{ Text string }
	}
	if err := json.Unmarshal(got.body, &verbose); err != nil || verbose.Task != "translate" || len(verbose.Segments) != 1 || verbose.Text != verbose.Segments[0].Text {
		t.Errorf("%v: %s", err, got.body)
	}
	want := []string{
		`{"type":"transcript.text.delta","delta":"say"}`, `{"type":"transcript.text.delta","delta":" \"hi\""}`, `{"type":"transcript.text.delta","delta":" now"}`,
		`{"type":"transcript.text.done","text":"say \"hi\" now","usage":{"total_tokens":4,"input_tokens":1,"output_tokens":3,"input_token_details":{"audio_tokens":1}}}`,
	}
	if diff := cmp.Diff(want, events(r.media(t, "audio/transcriptions", transcript("stream=true")).body)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestImageStream(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]"), Options{})
	got := r.media(t, "images/generations", `{"model":"m","prompt":"a cat","stream":true,"partial_images":2}`)
	var types []string
	for _, data := range events(got.body) {
		var e struct {
			Type string
			B64  []byte `json:"b64_json"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(e.B64, picture()) {
			t.Errorf("%s holds another image", e.Type)
		}
		types = append(types, e.Type)
	}
	want := []string{"image_generation.partial_image", "image_generation.partial_image", "image_generation.completed"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if !bytes.HasPrefix(got.body, []byte("event: image_generation.partial_image\ndata: {")) {
		t.Errorf("the first event is %.60q", got.body)
	}
}

func TestModerationsAndRerank(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m, omni-moderation-latest]"), Options{})
	got := r.media(t, "moderations", `{"input":["so much Violence","peace"]}`)
	var judged struct {
		Model   string
		Results []struct {
			Flagged    bool
			Categories map[string]bool
			Scores     map[string]float64 `json:"category_scores"`
		}
	}
	if err := json.Unmarshal(got.body, &judged); err != nil || judged.Model != defaultModeration || len(judged.Results) != 2 {
		t.Fatalf("%v: %s", err, got.body)
	}
	if first, second := judged.Results[0], judged.Results[1]; !first.Flagged || !first.Categories["violence"] || first.Scores["hate"] >= 0.5 || second.Flagged {
		t.Errorf("%s", got.body)
	}
	got = r.media(t, "rerank", `{"model":"m","query":"red cat","documents":["a dog",{"text":"a red cat"},"a cat"],"top_n":2,"return_documents":true}`)
	const want = `"results":[{"index":1,"relevance_score":1.0000,"document":{"text":"a red cat"}},{"index":2,"relevance_score":0.5000,"document":{"text":"a cat"}}]`
	if !json.Valid(got.body) || !strings.Contains(string(got.body), want) {
		t.Errorf("%s", got.body)
	}
}

func TestMediaRefusals(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]"), Options{})
	for _, c := range []struct{ name, path, body, param string }{
		{"no model", "images/generations", `{"prompt":"x"}`, "model"},
		{"no prompt", "images/generations", `{"model":"m"}`, "prompt"},
		{"n", "images/generations", `{"model":"m","prompt":"x","n":11}`, "n"},
		{"partial images", "images/generations", `{"model":"m","prompt":"x","partial_images":4}`, "partial_images"},
		{"format", "images/generations", `{"model":"m","prompt":"x","response_format":"gif"}`, "response_format"},
		{"no image", "images/edits", formOf("model=m", "prompt=p"), "image"},
		{"n in a form", "images/variations", formOf("model=m", "@image=x", "n=two"), "n"},
		{"no file", "audio/transcriptions", formOf("model=m"), "file"},
		{"no input", "audio/speech", `{"model":"m","voice":"x"}`, "input"},
		{"no voice", "audio/speech", `{"model":"m","input":"x"}`, "voice"},
		{"a format that is not made", "audio/speech", `{"model":"m","input":"x","voice":"x","response_format":"flac"}`, "response_format"},
		{"no query", "rerank", `{"model":"m","documents":["x"]}`, "query"},
		{"no documents", "rerank", `{"model":"m","query":"x"}`, "documents"},
		{"top_n", "rerank", `{"model":"m","query":"x","documents":["x"],"top_n":0}`, "top_n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.media(t, c.path, c.body)
			if e := errorObject(t, got.body); got.status != 400 || e["param"] != c.param {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
	if got := r.media(t, "audio/transcriptions", formOf("model=m")[:60]); got.status != 400 || !strings.Contains(string(got.body), "not a form") {
		t.Errorf("half a form: %d %s", got.status, got.body)
	}
}

// TestFaultsOfMedia: faults strike these endpoints like the others, each in the
// form of the answer; one that does not fit lets the request through.
func TestFaultsOfMedia(t *testing.T) {
	const speech = `{"model":"m","input":"x","voice":"x","response_format":"pcm"}`
	const piece = pieceSamples * sampleBytes
	for _, c := range []struct {
		name, fault, path, body string
		check                   func(r reply) bool
	}{
		{"speech cut", "{fault: reset-mid-body, after: 2}", "audio/speech", speech, func(r reply) bool {
			return r.status == 200 && r.readErr != nil && len(r.body) <= 2*piece
		}},
		{"speech too short", "{fault: length-too-long, after: 3}", "audio/speech", speech, func(r reply) bool {
			return r.readErr != nil && len(r.body) == 3*piece && r.header.Get("Content-Type") == "audio/pcm"
		}},
		{"speech gzip", "gzip", "audio/speech", speech, func(r reply) bool {
			return r.header.Get("Content-Encoding") == "gzip" && r.header.Get("Content-Type") == "audio/pcm"
		}},
		{"speech empty", "empty", "audio/speech", speech, func(r reply) bool { return r.status == 200 && len(r.body) == 0 }},
		{"sound is no JSON to break", "truncated-json", "audio/speech", speech, func(r reply) bool { return len(r.body) == 10*piece }},
		{"image broken", "truncated-json", "images/generations", `{"model":"m","prompt":"x"}`, func(r reply) bool {
			return r.status == 200 && !json.Valid(r.body)
		}},
		{"transcript stream cut", "{fault: eof-after-content, after: 2}", "audio/transcriptions", transcript("stream=true"), func(r reply) bool {
			return len(events(r.body)) == 2 && r.readErr == nil
		}},
		{"transcript not streamed", "json-for-stream", "audio/transcriptions", transcript("stream=true"), func(r reply) bool {
			return r.header.Get("Content-Type") == contentJSON && json.Valid(r.body)
		}},
		{"image streamed", "sse-for-json", "images/generations", `{"model":"m","prompt":"x"}`, func(r reply) bool {
			return r.header.Get("Content-Type") == contentStream && len(events(r.body)) == 1
		}},
		{"status", "http-429", "moderations", `{"model":"m","input":"x"}`, func(r reply) bool { return r.status == 429 }},
		{"error in a good answer", "error-200", "rerank", `{"model":"m","query":"x","documents":["x"]}`, func(r reply) bool {
			return r.status == 200 && bytes.HasPrefix(r.body, []byte(`{"error":`))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream("answer: {tokens: 10}\nalways: "+c.fault), Options{})
			if got := r.media(t, c.path, c.body); !c.check(got) {
				t.Errorf("status %d, %d bytes, error %v: %.200q", got.status, len(got.body), got.readErr, got.body)
			}
		})
	}
}
