package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/recorded"
)

const material = "../../../testdata/wire"

// recordedEntries returns the recordings of a kind.
func recordedEntries(t *testing.T, kind string) (some []recorded.Entry) {
	t.Helper()
	all, err := recorded.Entries(os.DirFS(material))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Kind == kind {
			some = append(some, all[i])
		}
	}
	if len(some) == 0 {
		t.Fatalf("there are no recordings of %s", kind)
	}
	return some
}

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
	for _, e := range recordedEntries(t, "embeddings") {
		var expect struct {
			Vectors int
			Usage   struct {
				Prompt int64 `json:"prompt_tokens"`
			}
		}
		if err := json.Unmarshal(e.Expect, &expect); err != nil {
			t.Fatal(err)
		}
		want, _, err := recorded.Vectors(e.Body)
		if err != nil || len(want) != expect.Vectors {
			t.Fatalf("%s holds %d vectors, %v", e.File, len(want), err)
		}
		for _, encoding := range []string{"", "float", "base64"} {
			t.Run(e.File+"/"+encoding, func(t *testing.T) {
				asks := ""
				if encoding != "" {
					asks = fmt.Sprintf(`,"encoding_format":%q`, encoding)
				}
				req := request(t, wire.Embeddings, fmt.Sprintf(`{"model":%q,"input":"x"%s}`, publicModel, asks), nil)
				req.Endpoint = engine.EndpointEmbeddings
				s, d, err := recordingRig(t, exchange.TypeJSON, e.Body).serve(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				out := s.out.String()
				got, packed, err := recorded.Vectors([]byte(out))
				if err != nil || packed != (encoding == "base64") || !recorded.Near(got, want) {
					t.Errorf("the client asks for %q and gets %.200s, %v", encoding, out, err)
				}
				if d.Result.Usage.Input != expect.Usage.Prompt || !strings.Contains(out, publicModel) {
					t.Errorf("usage %+v of %.100s", d.Result.Usage, out)
				}
			})
		}
	}
}

// TestRecordedResumption fetches the rest of a recorded stream, which begins in
// the middle, however it comes.
func TestRecordedResumption(t *testing.T) {
	for _, e := range recordedEntries(t, "responses") {
		if e.File != recorded.Resumed {
			continue
		}
		for _, f := range e.Framings() {
			t.Run(f.Name, func(t *testing.T) {
				s, d, err := recordingRig(t, exchange.TypeEvents, f.Writes...).stored(t.Context(), wire.StoredGet, "resp_1", "stream=true&starting_after=5")
				if err != nil {
					t.Fatalf("%v (%s)", err, attempts(d))
				}
				got := s.readAnswers(t, true)
				if got.Text != "2 + 2 equals 4." || got.Status != "completed" || len(got.Models) != 1 || got.Models[0] != publicModel || d.Result.Usage.Known {
					t.Errorf("got %+v, usage %+v", got, d.Result.Usage)
				}
			})
		}
		return
	}
	t.Errorf("there is no recording %s", recorded.Resumed)
}
