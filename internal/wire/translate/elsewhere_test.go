package translate_test

import (
	"bytes"
	"strings"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/translate"
)

// TestReadsRecordingsElsewhere reads every recorded answer of Gemini and of
// Responses by its own codec, whole and in pieces.
func TestReadsRecordingsElsewhere(t *testing.T) {
	for _, rec := range recordedElsewhere(t) {
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
		for framing, r := range framings(bytes.ReplaceAll(rec.body, []byte("\r\n"), []byte("\n"))) {
			t.Run(rec.file+"/"+framing, func(t *testing.T) {
				f := fold(t, c, anyRequest, anyUpstream, r)
				if rec.fails {
					last := f.events[len(f.events)-1]
					if f.whole || last.Kind != translate.EventError || last.Fault.Kind != fault.Quota {
						t.Errorf("got %+v", last)
					}
					return
				}
				if f.err != nil || !f.whole {
					t.Fatalf("got error %v, whole %v", f.err, f.whole)
				}
				checkAnswer(t, &rec, f.answer)
			})
		}
	}
}

// seenBy reads what a client of a protocol gets.
func seenBy(t *testing.T, p translate.Protocol, body []byte, stream bool) *seen {
	t.Helper()
	if p == translate.Responses {
		return readResponses(t, body, stream)
	}
	return readers[p](t, body, stream)
}

// checkSeenAt is checkSeen for a client of any protocol.
func checkSeenAt(t *testing.T, rec *recorded, p translate.Protocol, s *seen) {
	t.Helper()
	if p != translate.Responses {
		checkSeen(t, rec, p, s)
		return
	}
	rec.text.check(t, "text", s.text)
	rec.reasoning.check(t, "reasoning", s.reasoning)
	checkCalls(t, fitting(rec.calls), s.calls)
	if want := reasons[translate.Chat][finishes[rec.reason]]; s.reason != want || s.model != publicModel || !s.over {
		t.Errorf("got reason %q, model %q, over %v, want reason %q", s.reason, s.model, s.over, want)
	}
	if rec.usage == nil {
		return
	}
	for path, n := range map[string]int64{
		"input_tokens": rec.usage.Input, "output_tokens": rec.usage.Output, "total_tokens": rec.usage.Input + rec.usage.Output,
		"input_tokens_details.cached_tokens": rec.usage.Cached, "output_tokens_details.reasoning_tokens": rec.usage.Reasoning,
		"input_tokens_details.cache_write_tokens": rec.usage.CacheWrite,
	} {
		usage := s.usage
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			usage, _ = usage[key].(map[string]any)
		}
		if value, _ := usage[keys[len(keys)-1]].(float64); int64(value) != n {
			t.Errorf("usage: got %s %v, want %d", path, value, n)
		}
	}
}

// TestTranslatesRecordingsElsewhere sends every recorded answer of Gemini and
// Responses to clients of the other protocols, and every one of chat completions
// and Messages to a client of Responses: whole and in pieces, streams also as
// whole answers and whole answers also as streams.
func TestTranslatesRecordingsElsewhere(t *testing.T) {
	for _, rec := range append(recordedElsewhere(t), recordedAnswers(t)...) {
		for _, p := range []translate.Protocol{translate.Chat, translate.Messages, translate.Responses} {
			native := rec.protocol == translate.Chat || rec.protocol == translate.Messages
			if p == rec.protocol || native && p != translate.Responses || strings.Contains(rec.file, "spliced") ||
				p == translate.Messages && strings.Contains(rec.file, "custom-tool") { // there are no tools with free text
				continue
			}
			in, up := codecOf(t, p), codecOf(t, rec.protocol)
			if rec.stream() {
				for framing, r := range framings(bytes.ReplaceAll(rec.body, []byte("\r\n"), []byte("\n"))) {
					t.Run(rec.file+"/"+p.String()+"/"+framing, func(t *testing.T) {
						s := send(t, in, up, r)
						if rec.fails && !rec.late {
							if s.fault == nil || s.whole {
								t.Errorf("got fault %v, whole %v", s.fault, s.whole)
							}
							return
						}
						if s.err != nil || s.fault != nil {
							t.Fatalf("got %v, %v", s.err, s.fault)
						}
						checkSeenAt(t, &rec, p, seenBy(t, p, s.out, true))
						checkInfos(t, s.infos, finishes[rec.reason] == translate.FinishFilter)
					})
				}
			}
			if rec.fails {
				continue
			}
			t.Run(rec.file+"/"+p.String()+"/turned", func(t *testing.T) {
				if rec.stream() {
					f := fold(t, up, anyRequest, anyUpstream, bytes.NewReader(rec.body))
					checkSeenAt(t, &rec, p, seenBy(t, p, in.EncodeAnswer(nil, f.answer, anyRequest, publicModel), false))
					return
				}
				a, err := up.DecodeAnswer(rec.body, anyRequest, anyUpstream)
				if err != nil {
					t.Fatal(err)
				}
				out := in.EncodeAnswer([]byte("kept;"), a, anyRequest, publicModel)
				checkSeenAt(t, &rec, p, seenBy(t, p, bytes.TrimPrefix(out, []byte("kept;")), false))
				e := in.NewEncoder(anyRequest, publicModel)
				var stream []byte
				for _, ev := range translate.Unfold(a) {
					stream = e.Event(stream, &ev)
				}
				checkSeenAt(t, &rec, p, seenBy(t, p, stream, true))
			})
		}
	}
}
