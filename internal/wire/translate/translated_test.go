package translate_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/translate"
)

// sent is what came of a stream that was translated.
type sent struct {
	out   []byte
	infos []translate.StreamInfo
	fault *fault.Fault
	err   error
	usage translate.Usage
	whole bool
}

// send translates a stream to its end.
func send(t *testing.T, in, up *translate.Codec, body io.Reader) sent {
	t.Helper()
	var s sent
	stream := translate.NewStream(in, up, anyRequest, anyUpstream, publicModel, someday)
	take := func(info translate.StreamInfo) {
		s.infos = append(s.infos, info)
		if info.Fault != nil {
			s.fault = info.Fault
		}
		s.whole = s.whole || info.Done
	}
	eachEvent(t, body, func(name, data []byte) bool {
		var info translate.StreamInfo
		s.out, info, s.err = stream.Event(s.out, name, data)
		take(info)
		return s.err == nil && !info.Done && info.Fault == nil
	})
	if s.err == nil {
		var info translate.StreamInfo
		s.out, info = stream.Close(s.out)
		take(info)
	}
	s.usage = stream.Usage()
	if s.whole && !stream.Finished() {
		t.Error("the stream is over and not finished")
	}
	return s
}

// reasons are the words of clients for the ways to end.
var reasons = map[translate.Protocol]map[translate.Finish]string{
	translate.Chat: {
		translate.FinishStop: "stop", translate.FinishLength: "length",
		translate.FinishCalls: "tool_calls", translate.FinishFilter: "content_filter",
	},
	translate.Messages: {
		translate.FinishStop: "end_turn", translate.FinishLength: "max_tokens",
		translate.FinishCalls: "tool_use", translate.FinishFilter: "refusal",
	},
}

// checkSeen compares what a client sees with the right reading of what the
// upstream sent.
func checkSeen(t *testing.T, rec *recorded, in translate.Protocol, s *seen) {
	t.Helper()
	if rec.reason != "refusal" || in != translate.Messages { // which has no place of its own for the words of a refusal
		rec.text.check(t, "text", s.text)
	}
	rec.reasoning.check(t, "reasoning", s.reasoning)
	want := rec.calls
	if in == translate.Messages {
		want = fitting(want)
	}
	checkCalls(t, want, s.calls)
	reason := reasons[in][finishes[rec.reason]]
	if rec.reason == "stop_sequence" && in == translate.Messages {
		reason = rec.reason
	}
	if s.reason != reason || s.model != publicModel || !s.over {
		t.Errorf("got reason %q, model %q, over %v, want reason %q", s.reason, s.model, s.over, reason)
	}
	if rec.usage != nil {
		checkSeenUsage(t, in, rec.usage, s.usage)
	}
}

// fitting returns calls with the ids that a client of Messages sees: those of
// odd characters and those that may come again in another answer are others.
func fitting(calls []call) []call {
	out := make([]call, 0, len(calls))
	for _, c := range calls {
		if strings.ContainsAny(c.ID, ":.") || len(c.ID) < 16 {
			c.ID = "" // any that fits
		}
		out = append(out, c)
	}
	return out
}

func checkSeenUsage(t *testing.T, in translate.Protocol, want *translate.Usage, got map[string]any) {
	t.Helper()
	numbers := map[string]int64{
		"prompt_tokens": want.Input, "completion_tokens": want.Output, "total_tokens": want.Input + want.Output,
		"prompt_tokens_details.cached_tokens": want.Cached, "completion_tokens_details.reasoning_tokens": want.Reasoning,
		"prompt_tokens_details.cache_write_tokens": want.CacheWrite,
	}
	if in == translate.Messages {
		numbers = map[string]int64{
			"input_tokens": want.Input - want.Cached - want.CacheWrite, "output_tokens": want.Output,
			"cache_read_input_tokens": want.Cached, "cache_creation_input_tokens": want.CacheWrite,
			"output_tokens_details.thinking_tokens": want.Reasoning,
		}
	}
	for path, n := range numbers {
		usage := got
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			usage, _ = usage[key].(map[string]any)
		}
		if value, _ := usage[keys[len(keys)-1]].(float64); int64(value) != n {
			t.Errorf("usage: got %s %v, want %d", path, value, n)
		}
	}
}

// TestTranslatesRecordings sends every recorded answer to a client of the other
// protocol, whole and in pieces.
func TestTranslatesRecordings(t *testing.T) {
	for _, rec := range recordedAnswers(t) {
		in := codecOf(t, map[translate.Protocol]translate.Protocol{
			translate.Chat: translate.Messages, translate.Messages: translate.Chat,
		}[rec.protocol])
		up := codecOf(t, rec.protocol)
		if !rec.stream() {
			t.Run(rec.file, func(t *testing.T) {
				a, err := up.DecodeAnswer(rec.body, anyRequest, anyUpstream)
				if err != nil {
					t.Fatal(err)
				}
				out := in.EncodeAnswer([]byte("kept;"), a, anyRequest, publicModel)
				checkSeen(t, &rec, in.Protocol, readers[in.Protocol](t, out[len("kept;"):], false))
			})
			continue
		}
		for framing, r := range framings(rec.body) {
			t.Run(rec.file+"/"+framing, func(t *testing.T) {
				s := send(t, in, up, r)
				client := readers[in.Protocol](t, s.out, true)
				switch {
				case strings.Contains(rec.file, "spliced"):
					if !errors.Is(s.err, fault.ErrUndecodable) || client.over || len(client.calls) != 1 || client.calls[0].ID != "toolu_first" {
						t.Errorf("got %v, %+v", s.err, client)
					}
				case rec.fails && !rec.late:
					if s.fault == nil || client.over {
						t.Errorf("got fault %v, %+v", s.fault, client)
					}
				default:
					if s.err != nil || s.fault != nil {
						t.Fatalf("got %v, %v", s.err, s.fault)
					}
					checkSeen(t, &rec, in.Protocol, client)
					checkInfos(t, s.infos, finishes[rec.reason] == translate.FinishFilter)
				}
			})
		}
	}
}

// checkInfos checks when a stream may commit to its upstream.
func checkInfos(t *testing.T, infos []translate.StreamInfo, refused bool) {
	t.Helper()
	var contents, ends, dones int
	for i, info := range infos {
		if info.Content {
			contents++
		}
		if info.Finish {
			ends++
			if info.Refusal != refused {
				t.Errorf("event %d: refusal is %v", i, info.Refusal)
			}
		}
		if info.Done {
			dones++
		}
		if (info.Finish || info.Refusal) && !info.Content {
			t.Errorf("event %d: got %+v", i, info)
		}
	}
	if contents == 0 || ends != 1 || dones != 1 {
		t.Errorf("got %d contents, %d ends, %d dones", contents, ends, dones)
	}
}

// TestTranslatesUnfolded sends whole answers as streams, and streams as whole
// answers: a client sees the same.
func TestTranslatesUnfolded(t *testing.T) {
	for _, rec := range recordedAnswers(t) {
		if rec.fails || strings.Contains(rec.file, "spliced") {
			continue
		}
		up := codecOf(t, rec.protocol)
		for _, p := range []translate.Protocol{translate.Chat, translate.Messages} {
			in := codecOf(t, p)
			if p == translate.Messages && strings.Contains(rec.file, "incomplete") {
				continue // a whole message cannot hold arguments that were cut
			}
			t.Run(rec.file+"/"+p.String(), func(t *testing.T) {
				if rec.stream() {
					f := fold(t, up, anyRequest, anyUpstream, strings.NewReader(string(rec.body)))
					checkSeen(t, &rec, p, readers[p](t, in.EncodeAnswer(nil, f.answer, anyRequest, publicModel), false))
					return
				}
				a, err := up.DecodeAnswer(rec.body, anyRequest, anyUpstream)
				if err != nil {
					t.Fatal(err)
				}
				e := in.NewEncoder(anyRequest, publicModel)
				var out []byte
				for _, ev := range translate.Unfold(a) {
					out = e.Event(out, &ev)
				}
				checkSeen(t, &rec, p, readers[p](t, out, true))
			})
		}
	}
}
