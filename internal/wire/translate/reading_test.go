package translate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

const (
	publicModel = "public-model"
	maxEvent    = 1 << 20
)

var (
	anyRequest  = &translate.Request{IncludeUsage: true, Thinking: translate.Thinking{Adaptive: true}}
	anyUpstream = &translate.Upstream{}
	someday     = time.Unix(1_800_000_000, 0)
)

// framings are ways in which the same stream may come: in pieces of one byte,
// and so cut inside characters and line ends, with other line ends, with
// comments, without its last blank line.
func framings(body []byte) map[string]io.Reader {
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	comments := bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n: keep-alive\n\n: x\n\n"))
	return map[string]io.Reader{
		"whole":      bytes.NewReader(body),
		"bytes":      iotest.OneByteReader(bytes.NewReader(body)),
		"crlf":       iotest.OneByteReader(bytes.NewReader(crlf)),
		"cr":         bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))),
		"comments":   iotest.HalfReader(bytes.NewReader(comments)),
		"not closed": bytes.NewReader(bytes.TrimRight(body, "\n")),
	}
}

// eachEvent calls take for the events of a stream, the last of which need not be
// closed, until it reports false.
func eachEvent(t *testing.T, r io.Reader, take func(name, data []byte) bool) {
	t.Helper()
	events := sse.NewReader(r, maxEvent)
	for {
		ev, err := events.Next()
		if ev.HasData && !take(ev.Name, ev.Data) || err != nil {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			return
		}
	}
}

// folded is a stream read to its end.
type folded struct {
	answer *translate.Answer
	whole  bool
	events []translate.Event
	err    error
}

func fold(t *testing.T, c *translate.Codec, r *translate.Request, up *translate.Upstream, body io.Reader) folded {
	t.Helper()
	var f translate.Fold
	var out folded
	d := c.NewDecoder(r, up)
	eachEvent(t, body, func(name, data []byte) bool {
		before := len(out.events)
		out.events, out.err = d.Event(out.events, name, data)
		return out.err == nil && (len(out.events) == before || out.events[len(out.events)-1].Kind != translate.EventError)
	})
	if out.err == nil {
		out.events = d.Close(out.events)
	}
	checkOrder(t, out.events)
	for i := range out.events {
		f.Add(&out.events[i])
	}
	out.answer, out.whole = f.Answer()
	return out
}

// checkOrder checks what every decoder promises about its events.
func checkOrder(tb testing.TB, events []translate.Event) {
	tb.Helper()
	var started, open, finished, over bool
	for i := range events {
		kind := events[i].Kind
		bad := over
		switch kind {
		case translate.EventStart:
			bad = bad || started
			started = true
		case translate.EventPart:
			bad = bad || !started || open || finished
			open = true
		case translate.EventDelta:
			bad = bad || !open || events[i].Text == ""
		case translate.EventSignature:
			bad = bad || !open || events[i].Part.Signature.Data == ""
		case translate.EventPartEnd:
			bad = bad || !open
			open = false
		case translate.EventFinish:
			bad = bad || open || finished
			finished = true
		case translate.EventEnd:
			bad = bad || !finished
			over = true
		case translate.EventError:
			bad = bad || events[i].Fault == nil
			over = true
		case translate.EventUsage:
			bad = bad || !events[i].Usage.Known
		case translate.EventPing:
		}
		if bad {
			tb.Errorf("event %d of %d, kind %d, is out of order", i, len(events), kind)
		}
	}
}

// finishes are the ways to end by the words of the protocols.
var finishes = map[string]translate.Finish{
	"stop": translate.FinishStop, "end_turn": translate.FinishStop, "stop_sequence": translate.FinishStop,
	"length": translate.FinishLength, "max_tokens": translate.FinishLength,
	"tool_calls": translate.FinishCalls, "tool_use": translate.FinishCalls,
	"content_filter": translate.FinishFilter, "refusal": translate.FinishFilter,
}

// checkAnswer compares an answer with the right reading.
func checkAnswer(t *testing.T, rec *recorded, a *translate.Answer) {
	t.Helper()
	var text, reasoning strings.Builder
	var calls []call
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Kind == translate.KindText {
			text.WriteString(p.Text)
		}
		if p.Kind == translate.KindReasoning {
			reasoning.WriteString(p.Text)
		}
		if p.Kind == translate.KindCall {
			calls = append(calls, call{p.Call.ID, p.Call.Name, p.Call.Arguments})
		}
	}
	rec.text.check(t, "text", text.String())
	rec.reasoning.check(t, "reasoning", reasoning.String())
	checkCalls(t, rec.calls, calls)
	if want := finishes[rec.reason]; a.End.Finish != want {
		t.Errorf("got end %+v, want %v", a.End, want)
	}
	want := translate.Usage{}
	if rec.usage != nil {
		want = *rec.usage
	}
	if a.Usage != want {
		t.Errorf("got usage %+v, want %+v", a.Usage, want)
	}
}

// checkCalls compares calls. Arguments are the same if they are the same JSON; a
// call that came without an id has any.
func checkCalls(t *testing.T, want, got []call) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("got calls %+v, want %+v", got, want)
	}
	for i := range want {
		w, g := want[i], got[i]
		if w.ID == "" && g.ID != "" {
			w.ID = g.ID
		}
		w.Arguments, g.Arguments = canonical(w.Arguments), canonical(g.Arguments)
		if w != g {
			t.Errorf("got call %+v, want %+v", g, w)
		}
	}
}

// canonical returns JSON in one form, and any other text as it is.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}

// TestReadsRecordings reads every recorded answer by its own codec, whole and in
// pieces.
func TestReadsRecordings(t *testing.T) {
	for _, rec := range recordedAnswers(t) {
		c := codecOf(t, rec.protocol)
		if !rec.stream() {
			t.Run(rec.file, func(t *testing.T) {
				a, err := c.DecodeAnswer(rec.body, anyRequest, anyUpstream)
				if err != nil {
					t.Fatal(err)
				}
				checkAnswer(t, &rec, a)
			})
			continue
		}
		for framing, r := range framings(rec.body) {
			t.Run(rec.file+"/"+framing, func(t *testing.T) {
				f := fold(t, c, anyRequest, anyUpstream, r)
				switch {
				case strings.Contains(rec.file, "spliced"):
					// A second message inside the first is never joined to it.
					if !errors.Is(f.err, fault.ErrUndecodable) || f.whole {
						t.Errorf("got %v, whole %v", f.err, f.whole)
					}
				case rec.fails:
					last := f.events[len(f.events)-1]
					if last.Kind != translate.EventError || f.whole {
						t.Errorf("got %+v at the end", last)
					}
				case f.err != nil || !f.whole:
					t.Errorf("got %v, whole %v", f.err, f.whole)
				default:
					checkAnswer(t, &rec, f.answer)
				}
			})
		}
	}
}

// TestCutRecordings cuts streams after every event: only one whose end was told
// is whole, and what came before the cut is read the same.
func TestCutRecordings(t *testing.T) {
	for _, rec := range recordedAnswers(t) {
		if !rec.stream() || rec.fails || strings.Contains(rec.file, "spliced") {
			continue
		}
		c := codecOf(t, rec.protocol)
		all := fold(t, c, anyRequest, anyUpstream, bytes.NewReader(rec.body))
		chunks := bytes.SplitAfter(rec.body, []byte("\n\n"))
		for n := range chunks {
			cut := bytes.Join(chunks[:n], nil)
			f := fold(t, c, anyRequest, anyUpstream, bytes.NewReader(cut))
			told := bytes.Contains(cut, []byte(`"finish_reason":"`)) || bytes.Contains(cut, []byte(`"finish_reason": "`)) ||
				bytes.Contains(cut, []byte(`"stop_reason":"`)) || bytes.Contains(cut, []byte("[DONE]"))
			if f.err != nil || f.whole != told {
				t.Errorf("%s cut after %d of %d events: whole %v, %v", rec.file, n, len(chunks), f.whole, f.err)
			}
			if f.whole {
				continue
			}
			if diff := cmp.Diff(all.events[:len(f.events)], f.events, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s cut after %d events (-whole +cut):\n%s", rec.file, n, diff)
			}
		}
	}
}

// TestFoldUnfold: the events of an answer are the answer.
func TestFoldUnfold(t *testing.T) {
	for _, rec := range recordedAnswers(t) {
		if rec.stream() {
			continue
		}
		want, err := codecOf(t, rec.protocol).DecodeAnswer(rec.body, anyRequest, anyUpstream)
		if err != nil {
			t.Fatal(err)
		}
		events := translate.Unfold(want)
		checkOrder(t, events)
		var f translate.Fold
		for i := range events {
			f.Add(&events[i])
		}
		got, whole := f.Answer()
		if diff := cmp.Diff(want, got); diff != "" || !whole {
			t.Errorf("%s: whole %v (-want +got):\n%s", rec.file, whole, diff)
		}
	}
}
