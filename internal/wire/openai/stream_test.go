package openai_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

const (
	public   = "public/model-1"
	maxEvent = 1 << 20
)

// reading is what came of a stream.
type reading struct {
	client                          *client
	payloads                        []string
	firstContent                    int // number of the event, from 1
	done, finished, refused         bool
	drops, comments, events, broken int
	fault                           *fault.Fault
	usage                           openai.Usage
}

// readStream takes a stream as the gateway does and gives a client what the
// client gets.
func readStream(t *testing.T, body io.Reader, wantUsage bool) *reading {
	t.Helper()
	r := &reading{client: newClient()}
	events := sse.NewReader(body, maxEvent)
	s := openai.NewStream(openai.Chat, public, wantUsage)
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		last := errors.Is(err, io.ErrUnexpectedEOF) && ev.HasData
		if err != nil && !last {
			t.Fatalf("read event %d: %v", r.events+1, err)
		}
		if ev.Comment {
			r.comments++
			continue
		}
		r.events++
		out, info, err := s.Chunk(nil, ev.Data)
		if (err != nil) != info.Malformed {
			t.Fatalf("event %d: malformed %v, error %v", r.events, info.Malformed, err)
		}
		if r.take(t, out, info); last {
			break
		}
	}
	if out := s.AppendFinish(nil); len(out) > 0 {
		r.payloads = append(r.payloads, string(out))
		r.client.read(t, out)
	}
	r.finished, r.usage = s.Finished(), s.Usage()
	return r
}

func (r *reading) take(t *testing.T, out []byte, info openai.ChunkInfo) {
	t.Helper()
	if info.Content && r.firstContent == 0 {
		r.firstContent = r.events
	}
	r.refused = r.refused || info.Refusal
	r.done = r.done || info.Done
	if info.Malformed {
		r.broken++
	}
	if info.Fault != nil {
		r.fault = info.Fault
	}
	if info.Drop {
		r.drops++
	}
	if info.Drop || info.Done {
		if len(out) > 0 {
			t.Errorf("event %d is not for the client but gave %s", r.events, out)
		}
		return
	}
	r.payloads = append(r.payloads, string(out))
	r.client.read(t, out)
}

// mended says what differs, on purpose, between what a recorded stream holds
// and what a client is to read of it.
func mended(file string, want *expectation) {
	finish := "tool_calls"
	switch file {
	case "openrouter/kimi-tool-variant-a.sse", "openrouter/kimi-tool-variant-b.sse":
		want.FinishReason = &finish // it never came
	case "openrouter/kimi-tool-variant-d.sse":
		want.ToolCalls[0].Arguments = "{}" // null
	}
}

func TestStreamRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		t.Run(rec.File, func(t *testing.T) {
			want := rec.Expect
			mended(rec.File, &want)
			body := readFile(t, rec.File)
			got := readStream(t, bytes.NewReader(body), true)

			c := got.client
			want.Text.check(t, "text", c.text)
			want.Reasoning.check(t, "reasoning", c.reasoning)
			if diff := cmp.Diff(want.ToolCalls, c.toolCalls()); diff != "" {
				t.Errorf("tool calls (-want +got):\n%s", diff)
			}
			finish := ""
			if want.FinishReason != nil {
				finish = *want.FinishReason
			}
			if c.finish != finish {
				t.Errorf("got finish_reason %q, want %q", c.finish, finish)
			}
			if got.finished != (finish != "") {
				t.Errorf("got finished %v with finish_reason %q", got.finished, finish)
			}
			if got.done != want.SawDone {
				t.Errorf("got done %v, want %v", got.done, want.SawDone)
			}
			if got.comments > want.CommentLines || (got.comments > 0) != (want.CommentLines > 0) {
				t.Errorf("got %d comments, want %d lines of them", got.comments, want.CommentLines)
			}
			if (got.fault != nil) != (want.Error != nil) {
				t.Errorf("got fault %v, want %v", got.fault, want.Error)
			}
			if diff := cmp.Diff(map[string]bool{public: true}, c.models); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
			checkUsage(t, got.usage, want.Usage)
			if want.Usage != nil && want.Error == nil {
				if diff := cmp.Diff(want.Usage, c.usage); diff != "" {
					t.Errorf("the client's usage (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// checkUsage compares a usage with the object that it was read from.
func checkUsage(t *testing.T, got openai.Usage, from map[string]any) {
	t.Helper()
	if from == nil {
		if got.Known {
			t.Errorf("got usage %+v, want none", got)
		}
		return
	}
	want := openai.Usage{
		InputTokens:      number(from, "prompt_tokens"),
		OutputTokens:     number(from, "completion_tokens"),
		CachedTokens:     max(number(from, "prompt_tokens_details", "cached_tokens"), number(from, "cached_tokens"), number(from, "prompt_cache_hit_tokens")),
		CacheWriteTokens: number(from, "prompt_tokens_details", "cache_write_tokens"),
		ReasoningTokens:  number(from, "completion_tokens_details", "reasoning_tokens"),
		Known:            true,
	}
	switch gap := number(from, "total_tokens") - want.InputTokens - want.OutputTokens; {
	case gap > 0 && gap == want.ReasoningTokens: // xAI
		want.OutputTokens += gap
	case gap > 0: // Gemini
		want.OutputTokens += gap
		want.ReasoningTokens += gap
	}
	want.ReasoningTokens = min(want.ReasoningTokens, want.OutputTokens)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// pieces is a reader that gives the parts of a text one a read.
type pieces [][]byte

func (p *pieces) Read(into []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(into, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; len((*p)[0]) == 0 {
		*p = (*p)[1:]
	}
	return n, nil
}

// cutAfter cuts text behind each byte for which cut is true.
func cutAfter(text []byte, cut func(i int) bool) *pieces {
	var p pieces
	from := 0
	for i := range text {
		if cut(i) {
			p = append(p, text[from:i+1])
			from = i + 1
		}
	}
	p = append(p, text[from:])
	return &p
}

func TestStreamFramings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		t.Run(rec.File, func(t *testing.T) {
			body := readFile(t, rec.File)
			crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
			framings := map[string]io.Reader{
				"one byte a read":         iotest.OneByteReader(bytes.NewReader(body)),
				"seven bytes a read":      cutAfter(body, func(i int) bool { return i%7 == 6 }),
				"inside characters":       cutAfter(body, func(i int) bool { return body[i] >= 0xc0 }),
				"crlf":                    bytes.NewReader(crlf),
				"between cr and lf":       cutAfter(crlf, func(i int) bool { return crlf[i] == '\r' }),
				"cr":                      bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))),
				"no space":                bytes.NewReader(bytes.ReplaceAll(body, []byte("\ndata: "), []byte("\ndata:"))),
				"comments between events": bytes.NewReader(bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n\n: keep-alive\n\n"))),
				"comments inside events":  bytes.NewReader(bytes.ReplaceAll(body, []byte("\ndata: "), []byte("\n: keep-alive\nid: 7\nretry: 10\ndata: "))),
				"byte order mark":         io.MultiReader(strings.NewReader("\xef\xbb\xbf"), bytes.NewReader(body)),
				"error with the last":     iotest.DataErrReader(bytes.NewReader(body)),
			}
			want := readStream(t, bytes.NewReader(body), true)
			for name, r := range framings {
				t.Run(name, func(t *testing.T) {
					got := readStream(t, r, true)
					if diff := cmp.Diff(want.payloads, got.payloads); diff != "" {
						t.Errorf("what the client gets (-want +got):\n%s", diff)
					}
					if got.finished != want.finished || got.done != want.done || got.usage != want.usage || got.firstContent != want.firstContent {
						t.Errorf("got %+v, want %+v", got, want)
					}
				})
			}
		})
	}
}

// TestStreamSplits reads a recording in random pieces.
func TestStreamSplits(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		body := readFile(t, rec.File)
		want := readStream(t, bytes.NewReader(body), false)
		rapid.Check(t, func(rt *rapid.T) {
			cuts := map[int]bool{}
			for range rapid.IntRange(0, 30).Draw(rt, "cuts") {
				cuts[rapid.IntRange(0, len(body)-1).Draw(rt, "cut")] = true
			}
			got := readStream(t, cutAfter(body, func(i int) bool { return cuts[i] }), false)
			if diff := cmp.Diff(want.payloads, got.payloads); diff != "" || got.finished != want.finished || got.usage != want.usage {
				rt.Fatalf("%s: what the client gets (-want +got):\n%s", rec.File, diff)
			}
		})
	}
}

// TestStreamCut cuts each recording after each event: only what is whole may
// look whole.
func TestStreamCut(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		body := readFile(t, rec.File)
		for end := bytes.Index(body, []byte("\n\n")); end > 0; {
			part := body[:end+2]
			got := readStream(t, bytes.NewReader(part), true)
			finished := bytes.Contains(part, []byte(`"finish_reason":"`)) || bytes.Contains(part, []byte("[DONE]"))
			if got.finished != finished {
				t.Errorf("%s cut at %d: got finished %v, want %v", rec.File, end, got.finished, finished)
			}
			next := bytes.Index(body[end+2:], []byte("\n\n"))
			if next < 0 {
				break
			}
			end += 2 + next
		}
	}
}
