package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// mediaScript plays the upstreams of the byte routes: the first always fails, so
// every answer is one that was failed over.
const mediaScript = `
seed: 1
upstreams:
  broken: {always: http-503}
  good:
    models: [up-name]
    answer: {text: "what was said", tokens: 200}
`

const mediaConfig = `
listen: 127.0.0.1:0
providers:
  broken: {protocol: openai, base_url: "http://SIM/broken/v1", auth: none, priority: 1}
  good: {protocol: openai, base_url: "http://SIM/good/v1", auth: none}
models:
  the-model:
    deployments:
      - {provider: broken, upstream_model: up-name}
      - {provider: good, upstream_model: up-name}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}
keys:
  test: {secret: "${E2E_KEY}"}
`

// mediaGateway starts a simulated upstream and a gateway in front of it.
func mediaGateway(t *testing.T) (gw *process, sim simulator) {
	t.Helper()
	t.Setenv("E2E_KEY", sdkKey)
	sim = simulateScript(t, mediaScript, "broken", "good")
	config := strings.ReplaceAll(mediaConfig, "SIM", sim.address)
	return start(t, "serve", "--config", write(t, "gatewright.yaml", config), "--data-dir", t.TempDir()), sim
}

// arrived is what an upstream saw of a request.
type arrived struct {
	Path, Model string
	BodySHA256  string `json:"body_sha256"`
	Size        int
}

// arrivals returns the requests that an upstream saw at a path, oldest first.
func (s simulator) arrivals(name, path string) []arrived {
	s.t.Helper()
	var state struct{ Requests []arrived }
	s.get("/_sim/upstreams/"+name, &state)
	var list []arrived
	for _, r := range state.Requests {
		if r.Path == "/v1/"+path {
			list = append(list, r)
		}
	}
	return list
}

// sawAll checks that both upstreams got, as the newest at a path, what the client
// sent, byte for byte but for the model.
func (s simulator) sawAll(t *testing.T, path string, sent ...[]byte) {
	t.Helper()
	for _, name := range []string{"broken", "good"} {
		list := s.arrivals(name, path)
		if len(list) < len(sent) {
			t.Errorf("%s got %d requests at %s, want %d", name, len(list), path, len(sent))
			continue
		}
		list = list[len(list)-len(sent):]
		for i, got := range list {
			if n := bytes.Count(sent[i], []byte("the-model")); n != 1 {
				t.Fatalf("the client's body names the model %d times", n)
			}
			body := bytes.Replace(sent[i], []byte("the-model"), []byte("up-name"), 1)
			want := sha256.Sum256(body)
			if got.Size != len(body) || got.BodySHA256 != hex.EncodeToString(want[:]) {
				t.Errorf("%s got %d bytes at %s, want the client's %d with the other model", name, got.Size, path, len(body))
			}
			if name == "good" && got.Model != "up-name" {
				t.Errorf("the upstream reads the model %q", got.Model)
			}
		}
	}
}

// sound is a recording: as large as a minute of it, and with everything in it
// that a form must not trip over.
func sound() []byte {
	return append([]byte("RIFF"), bytes.Repeat([]byte("\r\n--\x00\xff\r\n--\r\n"), 150_000)...)
}

func TestMediaOpenAIGo(t *testing.T) {
	gw, sim := mediaGateway(t)
	var sent []byte
	client := openai.NewClient(option.WithBaseURL(gw.url("/v1")), option.WithAPIKey(sdkKey), option.WithMaxRetries(0),
		option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			sent, req.Body = body, io.NopCloser(bytes.NewReader(body))
			return next(req)
		}))
	direct := openai.NewClient(option.WithBaseURL(sim.url("/good/v1")), option.WithAPIKey("x"), option.WithMaxRetries(0))

	t.Run("transcription", func(t *testing.T) {
		got, err := client.Audio.Transcriptions.New(t.Context(), openai.AudioTranscriptionNewParams{
			File: openai.File(bytes.NewReader(sound()), "a \"quoted\" näme.wav", "audio/wav"), Model: "the-model", Language: openai.String("en"),
		})
		if err != nil || !strings.HasPrefix(got.Text, "what was said") {
			t.Fatalf("%+v, %v", got, err)
		}
		sim.sawAll(t, "audio/transcriptions", sent)
	})
	t.Run("streamed transcription", func(t *testing.T) {
		stream := client.Audio.Transcriptions.NewStreaming(t.Context(), openai.AudioTranscriptionNewParams{
			File: openai.File(bytes.NewReader(sound()), "a.wav", "audio/wav"), Model: "the-model",
		})
		var said, whole string
		for stream.Next() {
			switch ev := stream.Current().AsAny().(type) {
			case openai.TranscriptionTextDeltaEvent:
				said += ev.Delta
			case openai.TranscriptionTextDoneEvent:
				whole = ev.Text
			}
		}
		if err := stream.Err(); err != nil || said == "" || said != whole {
			t.Errorf("heard %q in pieces and %q in all, %v", said, whole, err)
		}
		sim.sawAll(t, "audio/transcriptions", sent)
	})
	t.Run("translation", func(t *testing.T) {
		got, err := client.Audio.Translations.New(t.Context(), openai.AudioTranslationNewParams{ //nolint:staticcheck // old, and still called
			File: openai.File(bytes.NewReader(sound()), "a.wav", "audio/wav"), Model: "the-model",
		})
		if err != nil || !strings.HasPrefix(got.Text, "what was said") {
			t.Fatalf("%+v, %v", got, err)
		}
		sim.sawAll(t, "audio/translations", sent)
	})
	t.Run("speech", func(t *testing.T) {
		speak := func(c *openai.Client, model string) (string, []byte) {
			t.Helper()
			resp, err := c.Audio.Speech.New(t.Context(), openai.AudioSpeechNewParams{
				Model: model, Input: "hello", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
				ResponseFormat: openai.AudioSpeechNewParamsResponseFormatWAV,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp.Header.Get("Content-Type"), body
		}
		kind, got := speak(&client, "the-model")
		sim.sawAll(t, "audio/speech", sent)
		wantKind, want := speak(&direct, "up-name")
		if kind != wantKind || !bytes.Equal(got, want) || len(got) < 500_000 {
			t.Errorf("%d bytes of %s through the gateway, %d of %s without", len(got), kind, len(want), wantKind)
		}
	})
	t.Run("image", func(t *testing.T) {
		got, err := client.Images.Generate(t.Context(), openai.ImageGenerateParams{Model: "the-model", Prompt: "a cat", N: openai.Int(2)})
		if err != nil || len(got.Data) != 2 || got.Data[0].B64JSON == "" || got.Usage.TotalTokens == 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		sim.sawAll(t, "images/generations", sent)
	})
	t.Run("streamed image", func(t *testing.T) {
		stream := client.Images.GenerateStreaming(t.Context(), openai.ImageGenerateParams{Model: "the-model", Prompt: "a cat", PartialImages: openai.Int(2)})
		var types []string
		for stream.Next() {
			types = append(types, stream.Current().Type)
		}
		if got := strings.Join(types, " "); stream.Err() != nil || got != "image_generation.partial_image image_generation.partial_image image_generation.completed" {
			t.Errorf("events %q, %v", got, stream.Err())
		}
		sim.sawAll(t, "images/generations", sent)
	})
	t.Run("edited image", func(t *testing.T) {
		got, err := client.Images.Edit(t.Context(), openai.ImageEditParams{
			Model: "the-model", Prompt: "a cat",
			Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{
				openai.File(strings.NewReader("\x89PNG\r\n\x1a\n"), "1.png", "image/png"), openai.File(strings.NewReader("\x89PNG"), "2.png", "image/png"),
			}},
		})
		if err != nil || len(got.Data) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		sim.sawAll(t, "images/edits", sent)
	})
	t.Run("moderation", func(t *testing.T) {
		got, err := client.Moderations.New(t.Context(), openai.ModerationNewParams{
			Model: "the-model", Input: openai.ModerationNewParamsInputUnion{OfStringArray: []string{"violence", "peace"}},
		})
		if err != nil || got.Model != "the-model" || len(got.Results) != 2 || !got.Results[0].Flagged || got.Results[1].Flagged {
			t.Fatalf("%+v, %v", got, err)
		}
		sim.sawAll(t, "moderations", sent)
	})
	t.Run("rerank", func(t *testing.T) {
		body := `{"model": "the-model", "query": "red cat", "documents": ["a dog", "a red cat"], "x_new": [1e400]}`
		got := post(t, gw.url("/v1/rerank"), body, "Authorization", "Bearer "+sdkKey)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"model":"the-model","results":[{"index":1,`) {
			t.Fatalf("%d %s", got.status, got.body)
		}
		sim.sawAll(t, "rerank", []byte(body))
	})
}

// A connection that breaks in the middle of sound breaks the client's too:
// half of it must not pass for the whole.
func TestBrokenSoundIsNotWhole(t *testing.T) {
	gw, sim := mediaGateway(t)
	sim.behave("broken", "{always: http-503}")
	for _, fault := range []string{"reset-mid-body", "no-last-chunk", "length-too-long"} {
		sim.behave("good", "{answer: {tokens: 50}, always: {fault: "+fault+", after: 20}}")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, gw.url("/v1/audio/speech"),
			strings.NewReader(`{"model": "the-model", "input": "x", "voice": "x", "response_format": "pcm"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+sdkKey)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", fault, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || err == nil || bytes.Contains(body, []byte("error")) {
			t.Errorf("%s: status %d, %d bytes, error %v; want a broken body without text in it", fault, resp.StatusCode, len(body), err)
		}
	}
}
