package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// counts are what a request has for a model of OpenAI's: per message 3, for the
// answer 3, and the texts. "hello world" has 2 tokens.
func TestCountRequest(t *testing.T) {
	const tool = `{"name":"f","description":"hello world"}`
	toolTokens := Count("gpt-4o", []byte(tool))
	for _, c := range []struct {
		name, body string
		want       int64
	}{
		{"nothing", `{}`, 3},
		{"no object", `[1,2]`, 3},
		{"a message", `{"messages":[{"role":"user","content":"hello world"}]}`, 3 + 3 + 2},
		{"escapes", `{"messages":[{"role":"user","content":"hello\u0020world"}]}`, 3 + 3 + 2},
		{"blocks", `{"messages":[{"role":"user","content":[{"type":"text","text":"hello world"},{"type":"text","text":"hello world"}]}]}`, 3 + 3 + 4},
		{"system", `{"system":"hello world","messages":[]}`, 3 + 2},
		{"system blocks", `{"system":[{"type":"text","text":"hello world"}],"messages":[]}`, 3 + 2},
		{"thinking", `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hello world","signature":"AAAAAAAAAAAAAAAA"}]}]}`, 3 + 3 + 2},
		{"a call", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"hello","input":{"a": "b"}}]}]}`, 3 + 3 + 1 + 5},
		{"a result", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"hello world"}]}]}]}`, 3 + 3 + 2},
		{"a document of text", `{"messages":[{"content":[{"type":"document","title":"hello","source":{"type":"text","data":"hello world"}}]}]}`, 3 + 3 + 3},
		{"a document of blocks", `{"messages":[{"content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"hello world"}]}}]}]}`, 3 + 3 + 2},
		{"tools", `{"tools":[` + tool + `, ` + tool + `],"messages":[]}`, 3 + 12 + 2*(7+toolTokens)},
		{"tools with spaces", `{"tools":[ { "name" : "f", "description" : "hello world" } ],"messages":[]}`, 3 + 12 + 7 + toolTokens},
		{"no tools", `{"tools":[],"messages":[]}`, 3},
		{"a schema", `{"output_config":{"format":{"type":"json_schema","schema":` + tool + `}},"messages":[]}`, 3 + toolTokens},
		{"a schema of chat", `{"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + tool + `}},"messages":[]}`, 3 + toolTokens},
		{"a schema of Responses", `{"text":{"format":{"schema":` + tool + `}},"input":[]}`, 3 + toolTokens},
		{"calls of chat", `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"hello","arguments":"hello world"}}]}]}`, 3 + 3 + 3},
		{"input as a text", `{"input":"hello world"}`, 3 + 3 + 2},
		{"items", `{"instructions":"hello world","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello world"}]},{"type":"function_call","call_id":"c","name":"hello","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"hello world"},{"type":"reasoning","summary":[{"type":"summary_text","text":"hello world"}],"encrypted_content":"AAAA"}]}`, 3 + 4*3 + 2 + 2 + 2 + 2 + 2},
		{"texts", `{"input":["hello world","hello world"]}`, 3 + 4},
		{"tokens", `{"input":[1,2,3]}`, 3 + 3},
		{"lists of tokens", `{"input":[[1,2],[3]]}`, 3 + 3},
		{"what models do not read", `{"metadata":{"text":"hello world"},"user":"hello world","stop":"hello","messages":[{"role":"user","id":"hello world"}]}`, 3 + 3},
		{"wrong types", `{"system":7,"messages":[7,null,{"content":7},{"content":[null,7]}],"tools":{},"text":"x"}`, 3 + 1 + 2*3},
		{"an image elsewhere", `{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.example/y.png"}}]}]}`, 3 + 3 + 765},
		{"an image at low detail", `{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.example/y.png","detail":"low"}}]}]}`, 3 + 3 + 85},
		{"an image of Responses", `{"input":[{"role":"user","content":[{"type":"input_image","detail":"low","image_url":"https://x.example/y.png"}]}]}`, 3 + 3 + 85},
		{"an image that is kept", `{"input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]}`, 3 + 3 + 765},
		{"a file elsewhere", `{"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://x.example/y.pdf"}]}]}`, 3 + 3 + 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := CountRequest([]byte(c.body), "gpt-4o")
			if err != nil || got != c.want {
				t.Errorf("%d tokens, %v; want %d", got, err, c.want)
			}
			if least := AtLeast([]byte(c.body), "gpt-4o"); least > got {
				t.Errorf("at least %d of %d tokens", least, got)
			}
		})
	}
	for _, body := range []string{"", "{", `{"messages":[}`, `{"a":1} x`} {
		if n, err := CountRequest([]byte(body), "gpt-4o"); err == nil || AtLeast([]byte(body), "gpt-4o") != 0 {
			t.Errorf("%q: %d tokens, no error", body, n)
		}
	}
}

// TestPublishedCounts compares with the numbers in Anthropic's guide to counting.
func TestPublishedCounts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		published  int64
	}{
		{"a system text and a greeting", `{"model":"claude-sonnet-4-5","system":"You are a scientist","messages":[{"role":"user","content":"Hello, Claude"}]}`, 14},
		{"a tool", `{"model":"claude-sonnet-4-5","tools":[{"name":"get_weather","description":"Get the current weather in a given location","input_schema":{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"}},"required":["location"]}}],"messages":[{"role":"user","content":"What's the weather like in San Francisco?"}]}`, 403},
	} {
		got, err := CountRequest([]byte(c.body), "claude-sonnet-4-5")
		if diff := got - c.published; err != nil || diff > c.published/4 || diff < -c.published/4 {
			t.Errorf("%s: %d tokens, %v; published are %d", c.name, got, err, c.published)
		}
		if least := AtLeast([]byte(c.body), "claude-sonnet-4-5"); least == 0 || least > c.published {
			t.Errorf("%s: at least %d tokens; published are %d", c.name, least, c.published)
		}
	}
}

// picture returns a picture as base64.
func picture(t *testing.T, kind string, width, height int) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, m)
	case "jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "gif":
		err = gif.Encode(&b, m, nil)
	case "webp": // its head; the rest is not looked at
		b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
		for _, n := range []int{width - 1, height - 1} {
			b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
		}
		b.Write(make([]byte, 16))
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestImages reads sizes and applies the makers' rules.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		kind          string
		width, height int
		claude        int64 // width × height / 750 after fitting 1568
		openai        int64 // 85 + 170 a tile of 512 after fitting 2048 and 768
		gemini        int64 // 258 a tile of 768
	}{
		{"png", 200, 200, 54, 255, 258},
		{"jpeg", 1000, 1000, 1334, 765, 4 * 258},
		{"gif", 1092, 1092, 1590, 765, 4 * 258},
		{"webp", 3000, 300, 327, 85 + 170*4, 4 * 258},
		{"png", 8000, 8000, 1600, 765, 16 * 258},
	} {
		data := picture(t, c.kind, c.width, c.height)
		messages := `{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/` + c.kind + `","data":"` + data + `"}}]}]}`
		chat := `{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/` + c.kind + `;base64,` + strings.ReplaceAll(data, "/", `\/`) + `"}}]}]}`
		for model, want := range map[string]int64{"claude-sonnet-4-5": c.claude, "gpt-4o": c.openai, "gemini-2.5-pro": c.gemini} {
			for _, body := range []string{messages, chat} {
				if got, err := CountRequest([]byte(body), model); err != nil || got != want+3+3 {
					t.Errorf("%s of %d × %d for %s: %d tokens, %v; want %d and 6", c.kind, c.width, c.height, model, got, err, want)
				}
			}
		}
	}
}

// TestDamagedImages cost as much as unknown ones.
func TestDamagedImages(t *testing.T) {
	for _, data := range []string{"", "A", "!!!!", base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n")), base64.StdEncoding.EncodeToString(append([]byte("RIFF....WEBPVP8L"), make([]byte, 3)...))} {
		body := `{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}]}`
		if got, err := CountRequest([]byte(body), "claude-sonnet-4-5"); err != nil || got != 1600+6 {
			t.Errorf("%q: %d tokens, %v", data, got, err)
		}
	}
}

// TestPages counts the pages that a PDF shows.
func TestPages(t *testing.T) {
	const pdf = "%PDF-1.4\n1 0 obj <</Type /Pages /Kids [2 0 R 3 0 R]>>\n2 0 obj <</Type /Page>>\n3 0 obj <</Type/Page/Parent 1 0 R>>\n"
	for _, body := range []string{
		`{"messages":[{"content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + base64.StdEncoding.EncodeToString([]byte(pdf)) + `"}}]}]}`,
		`{"messages":[{"content":[{"type":"file","file":{"filename":"x.pdf","file_data":"data:application/pdf;base64,` + base64.StdEncoding.EncodeToString([]byte(pdf)) + `"}}]}]}`,
		`{"input":[{"content":[{"type":"input_file","file_data":"data:application/pdf;base64,` + base64.StdEncoding.EncodeToString([]byte(pdf)) + `"}]}]}`,
	} {
		if got, err := CountRequest([]byte(body), "claude-sonnet-4-5"); err != nil || got != 2*pageTokens+6 {
			t.Errorf("%.80s: %d tokens, %v; want two pages", body, got, err)
		}
	}
}

// TestRecordedRequests counts what real clients sent, in three protocols.
func TestRecordedRequests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "wire", "*", "clients", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		if strings.Contains(file, "gemini") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Request struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		got, err := CountRequest(r.Request.Body, "gpt-4o")
		least := AtLeast(r.Request.Body, "gpt-4o")
		if err != nil || least <= 0 || got <= least || got > int64(len(r.Request.Body)) {
			t.Errorf("%s: %d tokens, at least %d, of %d bytes; %v", filepath.Base(file), got, least, len(r.Request.Body), err)
		}
	}
}

// FuzzCountRequest checks that no body crashes or takes tokens that are not
// there, and that the low count is the low one.
func FuzzCountRequest(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hi"}]}`, "gpt-4o")
	f.Add(`{"system":[{"text":"x"}],"tools":[{"name":"f"}],"input":[[1,2],{"output":[{"image_url":"data:,A"}]}]}`, "claude-x")
	f.Add(`{"messages":[{"content":[{"type":"document","source":{"data":"JVBERi0=","type":"base64"}},{"source":{"type":"text","data":"\ud800"}}]}]}`, "gemini")
	f.Add(`{"prompt":["`+"\xff"+`"],"text":{"format":{"schema":{}}}}`, "")
	f.Fuzz(func(t *testing.T, body, model string) {
		n, err := CountRequest([]byte(body), model)
		least := AtLeast([]byte(body), model)
		if err != nil {
			if n != 0 || least != 0 {
				t.Fatalf("%d and %d tokens with the error %v", n, least, err)
			}
			return
		}
		if !json.Valid([]byte(body)) {
			t.Fatalf("%q is no JSON and was counted", body)
		}
		if n < perAnswer || least < 0 || least > n {
			t.Fatalf("%d tokens, at least %d", n, least)
		}
	})
}
