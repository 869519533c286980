package recorded_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gatewright/internal/wire/recorded"
)

var material = os.DirFS("../../../testdata/wire")

func answers(t *testing.T) []recorded.Answer {
	t.Helper()
	all, err := recorded.Answers(material)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryFileIsRead wants an entry for each file that lies beside an index.
func TestEveryFileIsRead(t *testing.T) {
	for _, folder := range []string{"openai", "anthropic", "gemini", "responses", "errors/recorded"} {
		text, err := fs.ReadFile(material, path.Join(folder, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var index struct{ Files []struct{ File string } }
		if err := json.Unmarshal(text, &index); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, f := range index.Files {
			want = append(want, f.File)
		}
		for _, pattern := range []string{"/*/*.json", "/*/*.sse"} {
			found, err := fs.Glob(material, folder+pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range found {
				if name = strings.TrimPrefix(name, folder+"/"); !strings.HasPrefix(name, "clients/") {
					got = append(got, name)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s holds %q, its index %q", folder, got, want)
		}
	}
	entries, err := recorded.Entries(material)
	if err != nil || len(entries) < 80 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	errs, err := recorded.Errors(material)
	if err != nil || len(errs) < 55 {
		t.Errorf("%d errors, %v", len(errs), err)
	}
	for _, e := range errs {
		if e.Class == "" || e.Status == 0 || len(e.Body) == 0 || e.Header.Get("Content-Type") == "" {
			t.Errorf("%s: class %q, status %d, header %v", e.Name, e.Class, e.Status, e.Header)
		}
	}
}

// TestFramings wants every framing to hold the same answer, cut where its name
// says.
func TestFramings(t *testing.T) {
	cutInside := map[recorded.Protocol]int{}
	for _, a := range answers(t) {
		lines := bytes.ReplaceAll(a.Body, []byte("\r\n"), []byte("\n"))
		for _, f := range a.Framings() {
			all := bytes.Join(f.Writes, nil)
			switch f.Name {
			case recorded.CRLF, recorded.BetweenCRLF:
				all = bytes.ReplaceAll(all, []byte("\r\n"), []byte("\n"))
			case recorded.Comments:
				all = bytes.ReplaceAll(all, []byte("\n: keep-alive\n\n:\n\n"), []byte("\n"))
			}
			if !bytes.Equal(all, a.Body) && !bytes.Equal(all, lines) {
				t.Errorf("%s, %s: another answer", a.File, f.Name)
			}
			for i, w := range f.Writes[1:] {
				before := f.Writes[i]
				switch {
				case f.Name == recorded.OneByte && len(w) != 1, f.Name == recorded.InsideCharacters && utf8.RuneStart(w[0]),
					f.Name == recorded.BetweenCRLF && (before[len(before)-1] != '\r' || w[0] != '\n'):
					t.Errorf("%s, %s: cut between %q and %q", a.File, f.Name, before, w)
				}
			}
			if f.Name == recorded.InsideCharacters && a.Stream() {
				cutInside[a.Upstream]++
			}
		}
	}
	for _, p := range []recorded.Protocol{recorded.Chat, recorded.Messages, recorded.Gemini, recorded.Responses} {
		if cutInside[p] == 0 {
			t.Errorf("no stream of %s has a character that can be cut", p)
		}
	}
}

// TestFaults wants a right reading to have none, and each thing that is wrong with
// one to be a fault.
func TestFaults(t *testing.T) {
	spoils := map[string]func(*recorded.Reading){
		"other text":      func(r *recorded.Reading) { r.Text += "x" },
		"other reasoning": func(r *recorded.Reading) { r.Reasoning += "x" },
		"one more call": func(r *recorded.Reading) {
			r.Calls = append(r.Calls, recorded.Call{ID: "c", Name: "f", Arguments: "{}"})
		},
		"other reason":   func(r *recorded.Reading) { r.Reason = "because" },
		"other usage":    func(r *recorded.Reading) { r.Output++ },
		"not over":       func(r *recorded.Reading) { r.Over = false },
		"an error in it": func(r *recorded.Reading) { r.Failed = true },
	}
	right := 0
	for _, a := range answers(t) {
		if a.Fails || a.Odd != "" || a.Upstream == recorded.Gemini {
			continue
		}
		q := recorded.Ask{Client: a.Upstream, Stream: a.Stream(), Usage: true}
		read := func() *recorded.Reading { return recorded.Read(q, string(a.Body), true) }
		if faults := a.Faults(q, read()); len(faults) > 0 {
			t.Logf("%s is mended by the gateway: %q", a.File, faults) // as it came it is not right
			continue
		}
		right++
		for name, spoil := range spoils {
			got := read()
			spoil(got)
			if len(a.Faults(q, got)) == 0 {
				t.Errorf("%s, %s: no fault", a.File, name)
			}
		}
		for i := range read().Calls {
			got := read()
			got.Calls[i].Arguments = `{"other":1}`
			if len(a.Faults(q, got)) == 0 {
				t.Errorf("%s, other arguments of call %d: no fault", a.File, i)
			}
		}
	}
	if right < 40 {
		t.Errorf("only %d recordings are right as they came", right)
	}
}

func TestReadStream(t *testing.T) {
	const chat = `data: {"model":"m","choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	for _, tt := range []struct {
		name, client, text string
		over, failed       bool
		said               string
		faults             int
	}{
		{"lines that end with CR", "chat", strings.ReplaceAll(chat+"data: [DONE]\n\n", "\n", "\r"), true, false, "a", 0},
		{"lines that end with CRLF", "chat", strings.ReplaceAll(chat+"data: [DONE]\n\n", "\n", "\r\n"), true, false, "a", 0},
		{"comments", "chat", ": hm\n\n" + chat + ":\n: hm\ndata: [DONE]\n\n", true, false, "a", 0},
		{"data in two lines", "chat", `data: {"choices":[{"delta":` + "\ndata:" + `{"content":"a"}}]}` + "\n\ndata: [DONE]\n\n", true, false, "a", 0},
		{"an event that is not finished", "chat", chat + "data: [DONE]\n", false, false, "a", 0},
		{"no end", "chat", chat, false, false, "a", 0},
		{"an error", "chat", chat + `data: {"error":{"message":"no"}}` + "\n\n", false, true, "a", 0},
		{"more after the end", "chat", chat + "data: [DONE]\n\n" + chat, true, false, "aa", 1},
		{"no JSON", "chat", "data: {\n\n", false, false, "", 1},
		{"an event of another name", "messages", "event: ping\ndata: {\"type\":\"message_start\"}\n\n", false, false, "", 1},
		{"a piece without its block", "messages", "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0}\n\n", false, false, "", 1},
		{"a number left out", "responses", "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0}\n\nevent: x\ndata: {\"type\":\"x\",\"sequence_number\":0}\n\n", false, true, "", 1},
		{"pieces that are not the whole", "responses", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"a\"}]}]}}\n\n", true, false, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := recorded.Read(recorded.Ask{Client: recorded.Protocol(tt.client), Stream: true}, tt.text, false)
			if got.Over != tt.over || got.Failed != tt.failed || got.Text != tt.said || len(got.Faults) != tt.faults {
				t.Errorf("got %+v", *got)
			}
		})
	}
}

func TestVectors(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       [][]float64
		packed     bool
	}{
		{"numbers", `{"data":[{"embedding":[1,-0.5]}]}`, [][]float64{{1, -0.5}}, false},
		{"base64", `{"data":[{"embedding":"AACAPwAAAL8="}]}`, [][]float64{{1, -0.5}}, true},
	} {
		got, packed, err := recorded.Vectors([]byte(tt.body))
		if err != nil || packed != tt.packed || !recorded.Near(got, tt.want) || recorded.Near(got, [][]float64{{1, -0.6}}) {
			t.Errorf("%s: got %v, %v, %v", tt.name, got, packed, err)
		}
	}
	for _, body := range []string{`{`, `{"data":[{"embedding":"?"}]}`, `{"data":[{"embedding":{}}]}`} {
		if got, _, err := recorded.Vectors([]byte(body)); err == nil {
			t.Errorf("%s: got %v", body, got)
		}
	}
}
