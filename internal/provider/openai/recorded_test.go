package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/openai"
)

const material = "../../../testdata/wire"

// recordingRig serves a recorded body as a, in the given writes.
func recordingRig(t *testing.T, kind string, writes ...[]byte) *rig {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for _, piece := range writes {
			_, _ = w.Write(piece)
			if len(writes) > 1 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	t.Cleanup(up.Close)
	const long = 30 * time.Second
	o := rigOptions{timeouts: engine.Timeouts{FirstToken: long, Idle: long, Answer: long}}
	r, _ := answersRig(t, o, "{}", "{}")
	return newEngine(t, o, r.client, map[string]string{"a": up.URL})
}

// TestRecordedEmbeddings gives every client the vectors of recorded answers, in
// the encoding that it asks for.
func TestRecordedEmbeddings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(material, "openai/index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Files []struct {
			File, Protocol string
			Expect         struct {
				Vectors int
				Usage   struct {
					Prompt int64 `json:"prompt_tokens"`
				}
			}
		}
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range index.Files {
		f := &index.Files[i]
		if f.Protocol != "embeddings" {
			continue
		}
		seen++
		body, err := os.ReadFile(filepath.Join(material, "openai", f.File))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Response struct{ Body json.RawMessage }
		}
		if json.Unmarshal(body, &answer) == nil && answer.Response.Body != nil {
			body = answer.Response.Body
		}
		want := vectorsOf(t, body)
		if len(want) != f.Expect.Vectors {
			t.Fatalf("%s holds %d vectors", f.File, len(want))
		}
		for _, encoding := range []string{"", "float", "base64"} {
			t.Run(f.File+"/"+encoding, func(t *testing.T) {
				asks := ""
				if encoding != "" {
					asks = fmt.Sprintf(`,"encoding_format":%q`, encoding)
				}
				req := request(t, wire.Embeddings, fmt.Sprintf(`{"model":%q,"input":"x"%s}`, publicModel, asks), nil)
				req.Endpoint = engine.EndpointEmbeddings
				s, d, err := recordingRig(t, exchange.TypeJSON, body).serve(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				out := s.out.String()
				if base64 := strings.Contains(out, `"embedding": "`) || strings.Contains(out, `"embedding":"`); base64 != (encoding == "base64") {
					t.Errorf("the client asks for %q and gets %.200s", encoding, out)
				}
				got := vectorsOf(t, []byte(out))
				for i := range want {
					for j := range want[i] {
						if math.Abs(got[i][j]-want[i][j]) > 1e-6 {
							t.Fatalf("vector %d, number %d: got %v, want %v", i, j, got[i][j], want[i][j])
						}
					}
				}
				if d.Result.Usage.Input != f.Expect.Usage.Prompt || !strings.Contains(out, publicModel) {
					t.Errorf("usage %+v of %.100s", d.Result.Usage, out)
				}
			})
		}
	}
	if seen == 0 {
		t.Error("there are no recorded embeddings")
	}
}

// vectorsOf reads the vectors of an answer in either encoding.
func vectorsOf(t *testing.T, body []byte) (list [][]float64) {
	t.Helper()
	var a struct {
		Data []struct{ Embedding json.RawMessage }
	}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%.200s: %v", body, err)
	}
	for _, one := range a.Data {
		var vector []float64
		if one.Embedding[0] != '"' {
			if err := json.Unmarshal(one.Embedding, &vector); err != nil {
				t.Fatal(err)
			}
			list = append(list, vector)
			continue
		}
		var raw []byte
		if err := json.Unmarshal(one.Embedding, &raw); err != nil { // base64, as encoding/json has it
			t.Fatalf("%v of %s", err, base64.StdEncoding.EncodeToString(one.Embedding[:8]))
		}
		for ; len(raw) >= 4; raw = raw[4:] {
			vector = append(vector, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
		list = append(list, vector)
	}
	return list
}

// TestRecordedResumption fetches the rest of a recorded stream, which begins in
// the middle, however it comes.
func TestRecordedResumption(t *testing.T) {
	body, err := os.ReadFile(filepath.Join(material, "responses/openai/responses-background-stream-resume.sse"))
	if err != nil {
		t.Fatal(err)
	}
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	single := func(text []byte) (pieces [][]byte) {
		for i := range text {
			pieces = append(pieces, text[i:i+1])
		}
		return pieces
	}
	for name, writes := range map[string][][]byte{
		"whole":            {body},
		"one byte a write": single(body),
		"CRLF":             single(crlf),
		"comments":         {bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n\n: keep-alive\n\n"))},
	} {
		t.Run(name, func(t *testing.T) {
			s, d, err := recordingRig(t, exchange.TypeEvents, writes...).stored(t.Context(), wire.StoredGet, "resp_1", "stream=true&starting_after=5")
			if err != nil {
				t.Fatalf("%v (%s)", err, attempts(d))
			}
			got := s.readAnswers(t, true)
			if got.Text != "2 + 2 equals 4." || got.Status != "completed" || len(got.Models) != 1 || got.Models[0] != publicModel || d.Result.Usage.Known {
				t.Errorf("got %+v, usage %+v", got, d.Result.Usage)
			}
		})
	}
}
