package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
)

func embeddingsFor(tb testing.TB, body, format string) (string, error) {
	tb.Helper()
	a, err := openai.CheckAnswer(openai.Embeddings, []byte(body))
	if err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	out, err := a.AppendEmbeddings([]byte("kept;"), []byte(body), "m", format)
	rest, ok := strings.CutPrefix(string(out), "kept;")
	if !ok {
		tb.Fatalf("got %s", out)
	}
	return rest, err
}

func TestAppendEmbeddings(t *testing.T) {
	const answer = `{"object":"list","data":[%s],"model":%q,"usage":{"prompt_tokens":1,"total_tokens":1}}`
	const (
		numbers = `{"object":"embedding","index":0,"embedding":[ 1, -0.5,1e-7,0.0023064255 ]}`
		short   = `{"object":"embedding","index":0,"embedding":[1,-0.5,1e-07,0.0023064255]}`
		encoded = `{"object":"embedding","index":0,"embedding":"AACAPwAAAL+VvzZP"}`
		same    = `{"object":"embedding","index":0,"embedding":"AACAPwAAAL+Vv9YzZicXOw=="}`
	)
	tests := []struct{ name, data, format, want string }{
		{"numbers, asked for nothing", numbers, "", numbers},
		{"numbers, asked for", numbers, "float", numbers},
		{"numbers, base64 asked for", numbers, "base64", same},
		{"base64, asked for", same, "base64", same},
		{"base64, numbers asked for", same, "float", short},
		{"base64, asked for nothing", same, "", short},
		{"another format", numbers, "ubinary", numbers},
		{"several", numbers + `,{"index":1,"embedding":[2]}`, "base64", same + `,{"index":1,"embedding":"AAAAQA=="}`},
		{"some of each", encoded + `,{"embedding":[2]}`, "base64", encoded + `,{"embedding":"AAAAQA=="}`},
		{"escaped", `{"embedding":"AACAPwAAAL\u002bVv9Yz"}`, "float", `{"embedding":[1,-0.5,1e-07]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := embeddingsFor(t, fmt.Sprintf(answer, tt.data, "up"), tt.format)
			if want := fmt.Sprintf(answer, tt.want, "m"); err != nil || got != want {
				t.Errorf("got  %s, %v\nwant %s", got, err, want)
			}
		})
	}
	for name, bad := range map[string]struct{ data, format string }{
		"not base64":     {`{"embedding":"???"}`, "float"},
		"half a number":  {`{"embedding":"AAA="}`, "float"},
		"not a number":   {`{"embedding":"AADAfw=="}`, "float"},
		"infinite":       {`{"embedding":"AACAfw=="}`, ""},
		"a text in it":   {`{"embedding":["a"]}`, "base64"},
		"a list in it":   {`{"embedding":[[1]]}`, "base64"},
		"out of bounds":  {`{"embedding":[1e39]}`, "base64"},
		"null in a list": {`{"embedding":[null]}`, "base64"},
	} {
		got, err := embeddingsFor(t, fmt.Sprintf(answer, bad.data, "up"), bad.format)
		if !errors.Is(err, fault.ErrUndecodable) || got != "" || !strings.Contains(err.Error(), "data[0].embedding") {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

// TestEmbeddingsThereAndBack: both formats hold the same numbers.
func TestEmbeddingsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Float32(), 1, 20).Draw(t, "numbers")
		var raw []byte
		for _, f := range want {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		encoded := base64.StdEncoding.EncodeToString(raw)
		tb := asTest{t: t}
		list, err := embeddingsFor(tb, `{"data":[{"embedding":"`+encoded+`"}]}`, "float")
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Data []struct{ Embedding []float32 }
		}
		if err := json.Unmarshal([]byte(list), &got); err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		if diff := cmp.Diff(want, got.Data[0].Embedding); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		back, err := embeddingsFor(tb, list, "base64")
		if want := `{"model":"m","data":[{"embedding":"` + encoded + `"}]}`; err != nil || back != want {
			t.Fatalf("got %s, %v, want %s", back, err, want)
		}
	})
}

func FuzzAppendEmbeddings(f *testing.F) {
	f.Add([]byte(`{"data":[{"embedding":[1,2.5]},{"embedding":"AACAPw=="}]}`), "base64")
	f.Add([]byte(`{"data":[{"embedding":"AACAPw=="}],"data":[{"embedding":[0]}]}`), "float")
	f.Add([]byte(`{"data":[{"embedding":[1],"embedding":"AA"}]}`), "")
	f.Fuzz(func(t *testing.T, body []byte, format string) {
		a, err := openai.CheckAnswer(openai.Embeddings, body)
		if err != nil {
			return
		}
		out, err := a.AppendEmbeddings(nil, body, "m", format)
		if err != nil {
			if len(out) > 0 {
				t.Fatalf("got %s with %v", out, err)
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
		b, err := openai.CheckAnswer(openai.Embeddings, out)
		if err != nil {
			t.Fatalf("%s became %s: %v", body, out, err)
		}
		if again, err := b.AppendEmbeddings(nil, out, "m", format); err != nil || string(again) != string(out) {
			t.Fatalf("%s became %s, then %s, %v", body, out, again, err)
		}
	})
}
