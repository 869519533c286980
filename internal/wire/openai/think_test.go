package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatewright/internal/wire/openai"
)

// spoken is what a client reads of an answer: thought and text.
type spoken struct{ thought, text string }

// splitWhole reads a whole answer whose text is the inside of a JSON text.
func splitWhole(tb testing.TB, inside string) spoken {
	tb.Helper()
	body := `{"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"` + inside + `"},"finish_reason":"stop"}]}`
	return readWhole(tb, splitBody(tb, body))
}

func splitBody(tb testing.TB, body string) []byte {
	tb.Helper()
	a, err := openai.CheckAnswer(openai.Chat, []byte(body))
	if err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	a.SplitThinking([]byte(body))
	return a.AppendWithModel(nil, []byte(body), "m")
}

func readWhole(tb testing.TB, body []byte) spoken {
	tb.Helper()
	var answer struct {
		Choices []struct {
			Message struct {
				Content          string
				ReasoningContent string `json:"reasoning_content"`
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Choices) == 0 {
		tb.Fatalf("%s: %v", body, err)
	}
	return spoken{answer.Choices[0].Message.ReasoningContent, answer.Choices[0].Message.Content}
}

// splitStream reads a stream of chunks of the given texts, each the inside of a
// JSON text, and of a chunk that ends it.
func splitStream(tb testing.TB, pieces []string, end string) spoken {
	tb.Helper()
	chunks := make([]string, 0, len(pieces)+1)
	for _, p := range pieces {
		chunks = append(chunks, `{"model":"x","choices":[{"index":0,"delta":{"content":"`+p+`"}}]}`)
	}
	return readChunks(tb, append(chunks, end))
}

func readChunks(tb testing.TB, chunks []string) (all spoken) {
	tb.Helper()
	s := openai.NewStream(openai.Chat, "m", true)
	s.SplitThinking()
	add := func(data []byte) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content          string
					ReasoningContent string `json:"reasoning_content"`
				}
			}
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			tb.Fatalf("%s: %v", data, err)
		}
		for _, c := range chunk.Choices {
			all.thought += c.Delta.ReasoningContent
			all.text += c.Delta.Content
			if c.Delta.ReasoningContent != "" && strings.Count(string(data), `"reasoning_content"`) != 1 {
				tb.Fatalf("the field stands twice in %s", data)
			}
		}
	}
	for _, chunk := range chunks {
		out, info, err := s.Chunk(nil, []byte(chunk))
		if err != nil || info.Fault != nil {
			tb.Fatalf("%s: %v", chunk, err)
		}
		if info.Done {
			if out := s.AppendFinish(nil); len(out) > 0 {
				add(out)
			}
			continue
		}
		add(out)
	}
	if !s.Finished() {
		tb.Fatalf("%q: not finished", chunks)
	}
	return all
}

const (
	finishChunk = `{"model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	doneChunk   = "[DONE]"
)

func TestSplitThinking(t *testing.T) {
	tests := []struct {
		name, text string
		want       spoken
	}{
		{"tags", `<think>\nLet me see.\n</think>\n\nYes.`, spoken{"Let me see.\n", "Yes."}},
		{"no space", `<think>a</think>b`, spoken{"a", "b"}},
		{"space before", `\n \t<think>a</think>b`, spoken{"a", "b"}},
		{"nothing thought", `<think>\n\n</think>\n\nYes.`, spoken{"", "Yes."}},
		{"nothing said", `<think>a</think>\n`, spoken{"a", ""}},
		{"cut while it thinks", `<think>a < b <`, spoken{"a < b <", ""}},
		{"cut inside the closing tag", `<think>a</thin`, spoken{"a</thin", ""}},
		{"cut inside the tag", `<thi`, spoken{"", "<thi"}},
		{"escaped", `\u003Cthink\u003e\u0061\u003c\/think>b\u00e9`, spoken{"a", "bé"}},
		{"escaped white space", `\u0020\u000a<think>\u0020a</think>\u0009b`, spoken{"a", "b"}},
		{"other tags inside", `<think><b></b><</think>x`, spoken{"<b></b><", "x"}},
		{"the tag twice", `<think>a<think>b</think>c<think>d</think>`, spoken{"a<think>b", "c<think>d</think>"}},
		{"not at the beginning", `Well, <think>a</think>`, spoken{"", `Well, <think>a</think>`}},
		{"a tag like it", `<thinking>a</thinking>`, spoken{"", `<thinking>a</thinking>`}},
		{"another case", `<Think>a</Think>`, spoken{"", `<Think>a</Think>`}},
		{"white space alone", `\n\n`, spoken{"", "\n\n"}},
		{"much white space", strings.Repeat(" ", 65) + `<think>a</think>`, spoken{"", strings.Repeat(" ", 65) + `<think>a</think>`}},
		{"characters of two halves", `<think>\ud83d\ude00</think>😀`, spoken{"😀", "😀"}},
		{"quotes", `<think>\"a\\</think>\"`, spoken{`"a\`, `"`}},
		{"nothing", ``, spoken{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := splitWhole(t, tt.text); got != tt.want {
				t.Errorf("whole: got %+v, want %+v", got, tt.want)
			}
			single := atoms(tt.text)
			if got := splitStream(t, single, finishChunk); got != tt.want {
				t.Errorf("in pieces: got %+v, want %+v", got, tt.want)
			}
			if got := splitStream(t, []string{tt.text}, finishChunk); got != tt.want {
				t.Errorf("in one chunk: got %+v, want %+v", got, tt.want)
			}
			if len(tt.text) > 0 {
				if got := splitStream(t, single, doneChunk); got != tt.want {
					t.Errorf("without a finish: got %+v, want %+v", got, tt.want)
				}
			}
		})
	}
}

// atoms cuts the inside of a JSON text into single characters.
func atoms(inside string) (list []string) {
	for len(inside) > 0 {
		size := 1
		switch {
		case strings.HasPrefix(inside, `\ud83d\u`):
			size = 12
		case strings.HasPrefix(inside, `\u`):
			size = 6
		case inside[0] == '\\':
			size = 2
		default:
			for size < len(inside) && inside[size]&0xc0 == 0x80 {
				size++
			}
		}
		list = append(list, inside[:size])
		inside = inside[size:]
	}
	return list
}

// TestSplitThinkingBeside: what else a message or a delta may hold.
func TestSplitThinkingBeside(t *testing.T) {
	const choice = `{"model":"x","choices":[%s]}`
	wholes := []struct{ name, message, want string }{
		{"reasoning of its own", `"reasoning_content":"r","content":"<think>a</think>b"`, `"reasoning_content":"r","content":"<think>a</think>b"`},
		{"the same, later", `"content":"<think>a</think>b","reasoning":"r"`, `"content":"<think>a</think>b","reasoning":"r"`},
		{"an empty field for it", `"content":"<think>a</think>b","reasoning_content":null`, `"content":"b","reasoning_content":"a"`},
		{"an empty text for it", `"reasoning_content":"","content":"<think>a</think>b"`, `"reasoning_content":"a","content":"b"`},
		{"no content", `"content":null,"tool_calls":[{"id":"1"}]`, `"content":null,"tool_calls":[{"id":"1"}]`},
		{"a list", `"content":[{"type":"text","text":"<think>a</think>b"}]`, `"content":"<think>a</think>b"`},
		{"plain", `"content":"b"`, `"content":"b"`},
	}
	for _, tt := range wholes {
		got := string(splitBody(t, fmt.Sprintf(choice, `{"message":{`+tt.message+`},"finish_reason":"stop"}`)))
		if want := `{"model":"m","choices":[{"message":{` + tt.want + `},"finish_reason":"stop"}]}`; got != want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, want)
		}
	}

	streams := []struct {
		name   string
		deltas []string // choices
		want   spoken
	}{
		{"an empty field beside it", []string{`{"delta":{"content":"<think>a","reasoning_content":null}}`, `{"delta":{"reasoning_content":"","content":"</think>b"},"finish_reason":"stop"}`}, spoken{"a", "b"}},
		{"reasoning of its own first", []string{`{"delta":{"reasoning_content":"r"}}`, `{"delta":{"content":"<think>a</think>"},"finish_reason":"stop"}`}, spoken{"r", "<think>a</think>"}},
		{"reasoning of its own inside", []string{`{"delta":{"content":"<think>a"}}`, `{"delta":{"content":"b","reasoning_content":"r"}}`, `{"delta":{"content":"</think>c"},"finish_reason":"stop"}`}, spoken{"arb", "c"}},
		{"held to a finish without delta", []string{`{"delta":{"content":"<thi"}}`, `{"finish_reason":"stop"}`}, spoken{"", "<thi"}},
		{"held to a finish with none", []string{`{"delta":{"content":"<thi"}}`, `{"delta":null,"finish_reason":"stop"}`}, spoken{"", "<thi"}},
		{"a thought held to the finish", []string{`{"delta":{"content":"<think>a</th"}}`, `{"delta":{"role":"assistant","content":null},"finish_reason":"length"}`}, spoken{"a</th", ""}},
		{"held, and calls without arguments", []string{`{"delta":{"content":"\n"}}`, `{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}]}}`, `{"delta":{},"finish_reason":"tool_calls"}`}, spoken{"", "\n"}},
		{"the same in a delta with a role", []string{`{"delta":{"content":"\n"}}`, `{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}]}}`, `{"delta":{"role":"assistant"},"finish_reason":"tool_calls"}`}, spoken{"", "\n"}},
		{"a message in place of a delta", []string{`{"message":{"role":"assistant","content":"<think>a</think>b"},"finish_reason":"stop"}`}, spoken{"a", "b"}},
	}
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			var chunks []string
			for _, d := range tt.deltas {
				chunks = append(chunks, fmt.Sprintf(choice, d))
			}
			if got := readChunks(t, chunks); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestSplitThinkingChoices: choices are split apart.
func TestSplitThinkingChoices(t *testing.T) {
	s := openai.NewStream(openai.Chat, "m", true)
	s.SplitThinking()
	var got [2]spoken
	for _, pair := range [][2]string{{"<think>a", "x"}, {"</thi", "<think>"}, {"nk>b", "y</think>z"}} {
		out, _, err := s.Chunk(nil, fmt.Appendf(nil, `{"choices":[{"index":0,"delta":{"content":%q}},{"index":1,"delta":{"content":%q}}]}`, pair[0], pair[1]))
		if err != nil {
			t.Fatal(err)
		}
		var chunk struct {
			Choices []struct{ Delta map[string]string }
		}
		if err := json.Unmarshal(out, &chunk); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		for i, c := range chunk.Choices {
			got[i].thought += c.Delta["reasoning_content"]
			got[i].text += c.Delta["content"]
		}
	}
	if want := [2]spoken{{"a", "b"}, {"", "x<think>y</think>z"}}; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSplitThinkingCommits: what is held back is not shown, so the stream may
// still go to another upstream.
func TestSplitThinkingCommits(t *testing.T) {
	s := openai.NewStream(openai.Chat, "m", true)
	s.SplitThinking()
	for _, step := range []struct {
		text    string
		content bool
	}{{"\\n<th", false}, {"ink>", false}, {"\\n", false}, {"a", true}, {"</", false}, {"think>", false}, {"b", true}} {
		_, info, err := s.Chunk(nil, []byte(`{"choices":[{"index":0,"delta":{"content":"`+step.text+`"}}]}`))
		if err != nil || info.Content != step.content {
			t.Errorf("%q: content %v, %v", step.text, info.Content, err)
		}
	}
}

// TestSplitThinkingUnasked: a stream that is not split costs nothing, nor does
// one whose answer has begun.
func TestSplitThinkingUnasked(t *testing.T) {
	data := []byte(`{"id":"1","model":"x","choices":[{"index":0,"delta":{"content":" world"},"finish_reason":null}]}`)
	for _, asked := range []bool{false, true} {
		s := openai.NewStream(openai.Chat, "m", true)
		if asked {
			s.SplitThinking()
		}
		dst, _, err := s.Chunk(nil, []byte(`{"id":"1","model":"x","choices":[{"index":0,"delta":{"content":"Hello"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(100, func() {
			if dst, _, err = s.Chunk(dst[:0], data); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("asked %v: %v allocations", asked, n)
		}
	}
}

// TestSplitThinkingRecordings splits recorded answers.
func TestSplitThinkingRecordings(t *testing.T) {
	seen := 0
	for _, rec := range recordings(t, ".json") {
		if rec.Protocol != "chat" || rec.Expect.Error != nil {
			continue
		}
		_, body := rec.body(t)
		a, err := openai.CheckAnswer(openai.Chat, body)
		if err != nil {
			continue
		}
		before := readWhole(t, a.AppendWithModel(nil, body, "m"))
		a.SplitThinking(body)
		after := readWhole(t, a.AppendWithModel(nil, body, "m"))
		rest, tagged := strings.CutPrefix(before.text, "<think>\n")
		if !tagged {
			if before != after {
				t.Errorf("%s: %+v became %+v", rec.File, before, after)
			}
			continue
		}
		seen++
		thought, text, _ := strings.Cut(rest, "</think>")
		if want := (spoken{thought, strings.TrimLeft(text, "\n")}); after != want {
			t.Errorf("%s: got %+v, want %+v", rec.File, after, want)
		}
	}
	if seen < 3 {
		t.Errorf("%d recordings have tags, want at least 3", seen)
	}
}

// TestSplitThinkingAnySplit: however a text is written and cut, a client reads
// the same.
func TestSplitThinkingAnySplit(t *testing.T) {
	words := rapid.SampledFrom([]string{"<think>", "</think>", "<", "</", "think>", "<thi", "nk>", " ", "\n", "a", "é", "\"", "\\", "😀", "/"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), "")
		if rapid.Bool().Draw(t, "thinks") {
			text = "<think>" + text
		}
		whole, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		want := splitOf(t, string(whole[1:len(whole)-1]))

		var list []string
		piece := ""
		for _, r := range text {
			piece += written(t, r)
			if rapid.Bool().Draw(t, "cut") {
				list, piece = append(list, piece), ""
			}
		}
		list = append(list, piece)
		var chunks []string
		for _, p := range list {
			chunks = append(chunks, `{"choices":[{"index":0,"delta":{"content":"`+p+`"}}]}`)
		}
		end := finishChunk
		if want != (spoken{}) && rapid.Bool().Draw(t, "done") { // an answer of nothing is none without a finish
			end = doneChunk
		}
		if got := chunksOf(t, append(chunks, end)); got != want {
			t.Fatalf("%q in %q: got %+v, want %+v", text, list, got, want)
		}
		plain := spoken{text: text}
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), "<think>"); ok {
			plain.thought, plain.text, _ = strings.Cut(strings.TrimLeft(rest, " \n"), "</think>")
			plain.text = strings.TrimLeft(plain.text, " \n")
		}
		if want != plain {
			t.Fatalf("%q: got %+v, want %+v", text, want, plain)
		}
	})
}

// written is a character as some encoder may write it.
func written(t *rapid.T, r rune) string {
	plain, err := json.Marshal(string(r))
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{string(plain[1 : len(plain)-1])}
	switch {
	case r < 0x80:
		forms = append(forms, fmt.Sprintf(`\u%04x`, r), fmt.Sprintf(`\u%04X`, r))
		if r == '/' {
			forms = append(forms, `\/`)
		}
		if r == '<' || r == '>' {
			forms = append(forms, string(r))
		}
	case r < 0x10000:
		forms = append(forms, fmt.Sprintf(`\u%04x`, r))
	}
	return rapid.SampledFrom(forms).Draw(t, "form")
}

// asTest lets helpers of tests serve a property.
type asTest struct {
	testing.TB
	t *rapid.T
}

func (a asTest) Helper()                      {}
func (a asTest) Fatalf(f string, args ...any) { a.t.Fatalf(f, args...) }

func splitOf(t *rapid.T, inside string) spoken    { return splitWhole(asTest{t: t}, inside) }
func chunksOf(t *rapid.T, chunks []string) spoken { return readChunks(asTest{t: t}, chunks) }

func FuzzSplitThinking(f *testing.F) {
	for _, text := range []string{"<think>a</think>b", "\n <think>\n</thin</think>\n\nb", "<thi", "a<think>", "<think>\"\\é"} {
		f.Add(text, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint8) {
		text = strings.ToValidUTF8(text, "?")
		inside := func(s string) string {
			raw, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw[1 : len(raw)-1])
		}
		want := splitWhole(t, inside(text))
		var list []string
		runes := []rune(text)
		for size := int(cut%7) + 1; len(runes) > 0; {
			n := min(size, len(runes))
			list, runes = append(list, inside(string(runes[:n]))), runes[n:]
		}
		if got := splitStream(t, list, finishChunk); got != want {
			t.Fatalf("%q in pieces of %d: got %+v, want %+v", text, cut%7+1, got, want)
		}
	})
}
