package translation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

const material = "../../../testdata/wire"

// recording is a recorded answer and the right reading of it.
type recording struct {
	protocol translate.Protocol
	file     string
	body     []byte
	text     digest
	calls    int
	fails    bool
}

func (r *recording) stream() bool { return strings.HasSuffix(r.file, ".sse") }

// digest is a text, or the digest of a long one.
type digest struct{ text, sha256 string }

// UnmarshalJSON implements [json.Unmarshaler].
func (d *digest) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var long struct{ SHA256 string }
		err := json.Unmarshal(data, &long)
		d.sha256 = long.SHA256
		return err
	}
	return json.Unmarshal(data, &d.text)
}

func (d *digest) is(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return d.sha256 == "" && d.text == text || d.sha256 == hex.EncodeToString(sum[:])
}

// recordings returns every recorded answer.
func recordings(t *testing.T) (all []recording) {
	t.Helper()
	folders := map[translate.Protocol]string{
		translate.Chat: "openai", translate.Messages: "anthropic", translate.Gemini: "gemini", translate.Responses: "responses",
	}
	for p, folder := range folders {
		text, err := os.ReadFile(filepath.Join(material, folder, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var index struct {
			Files []struct {
				File, Protocol string
				Expect         struct {
					Text          digest
					ToolCalls     []struct{ Input any } `json:"tool_calls"`
					FunctionCalls []any                 `json:"function_calls"`
					Status        string
					Error         any
				}
			}
		}
		if err := json.Unmarshal(text, &index); err != nil {
			t.Fatal(err)
		}
		for i := range index.Files {
			f := &index.Files[i]
			if f.Protocol != "chat" && f.Protocol != "messages" && p != translate.Gemini && p != translate.Responses {
				continue
			}
			r := recording{
				protocol: p, file: f.File, text: f.Expect.Text, calls: len(f.Expect.ToolCalls) + len(f.Expect.FunctionCalls),
				fails: f.Expect.Error != nil || f.Expect.Status == "failed" || strings.Contains(f.File, "spliced"),
			}
			if r.body, err = os.ReadFile(filepath.Join(material, folder, f.File)); err != nil {
				t.Fatal(err)
			}
			if !r.stream() {
				var exchange struct {
					Response struct{ Body json.RawMessage }
				}
				if err := json.Unmarshal(r.body, &exchange); err == nil && exchange.Response.Body != nil {
					r.body = exchange.Response.Body
				}
			}
			all = append(all, r)
		}
	}
	if len(all) < 70 {
		t.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

// odd are recordings whose right reading is not that of a gateway, and why.
var odd = map[string]string{
	"openrouter/stream-error.sse":                   "its error comes after the reason of its end",
	"openai/responses-phase.sse":                    "of its texts only the ends are whole",
	"openai/responses-custom-tool.sse":              "the client offers no such tool, so the call is a function's",
	"anthropic/sdk-incomplete-partial-json.sse":     "its arguments were cut, which no whole message can hold",
	"openai/responses-background-stream-resume.sse": "it begins in the middle",
}

// TestRecordings serves every recorded answer to every client, in the form in
// which it came and in the other one.
func TestRecordings(t *testing.T) {
	for _, rec := range recordings(t) {
		if odd[rec.file] != "" {
			continue
		}
		for _, client := range clients {
			for _, streams := range []bool{rec.stream(), !rec.stream()} {
				t.Run(fmt.Sprintf("%v %s/%v, stream %v", rec.protocol, rec.file, client, streams), func(t *testing.T) {
					t.Parallel()
					kind := "application/json"
					if rec.stream() {
						kind = "text/event-stream"
					}
					answers := func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", kind)
						_, _ = w.Write(rec.body)
					}
					r := newRig(t, upstream{id: "a", protocol: rec.protocol, handler: answers})
					out, d, err := r.ask(client, body(client, streams, thinks[client]))
					if rec.fails {
						if err == nil {
							t.Errorf("served: %s", out.out.String())
						}
						return
					}
					if err != nil {
						t.Fatalf("%v (%s)", err, attempts(d))
					}
					got := out.read(t, client, streams)
					refused := rec.text == (digest{}) && (strings.Contains(got.Reason, "content_filter") || got.Reason == "refusal") // its words have other places
					if !rec.text.is(got.Text) && !refused || len(got.Calls) != rec.calls || !got.over || got.failed {
						t.Errorf("got %+v, want %+v, %d calls, of %.2000s", got, rec.text, rec.calls, out.out.String())
					}
					for _, c := range got.Calls {
						if c.ID == "" || c.Name == "" || !json.Valid([]byte(c.Arguments)) {
							t.Errorf("call %+v", c)
						}
					}
				})
			}
		}
	}
}
