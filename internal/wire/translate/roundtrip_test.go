package translate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatewright/internal/wire/translate"
)

// side is one of the protocols of the round trips and what it has.
type side struct {
	protocol translate.Protocol
	origin   translate.Origin
	up       *translate.Upstream
	refusals bool // it tells a refusal from a text
	custom   bool // it has tools that take free text
}

var sides = []side{
	{protocol: translate.Gemini, origin: translate.OriginGoogle, up: &translate.Upstream{Model: "gemini-3-flash"}},
	{protocol: translate.Gemini, origin: translate.OriginGoogle, up: &translate.Upstream{Model: "gemini-2.5-pro"}},
	{protocol: translate.Responses, origin: translate.OriginOpenAI, up: &translate.Upstream{Model: "up", Full: true, Reasons: true}, refusals: true, custom: true},
	{protocol: translate.Responses, origin: translate.OriginOpenAI, up: &translate.Upstream{Model: "up", Full: true, Reasons: true}, refusals: true},
}

var (
	someWords  = rapid.StringMatching(`[ -~éß😀\n"\\<]{1,12}[a-z]`)
	someName   = rapid.StringMatching(`[a-z][a-zA-Z0-9_-]{0,20}`)
	someObject = rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"b":[true,null,"x\n"],"c":{"d":1.5e3}}`})
)

// draw is what one round trip draws from.
type draw struct {
	*rapid.T
	side
	calls int
}

func (d *draw) maybe(what string) bool { return rapid.Bool().Draw(d.T, what) }

func (d *draw) signature() translate.Signature {
	if !d.maybe("signed") {
		return translate.Signature{}
	}
	s := translate.Signature{Origin: d.origin, Data: rapid.StringMatching(`[A-Za-z0-9+/]{1,30}=`).Draw(d.T, "signature")}
	if d.origin == translate.OriginOpenAI {
		s.ID = rapid.StringMatching(`rs_[a-z0-9]{1,8}`).Draw(d.T, "id")
	}
	return s
}

func (d *draw) call(custom bool) translate.Part {
	d.calls++
	c := translate.Call{ID: fmt.Sprintf("call_0123456789_%d", d.calls), Name: someName.Draw(d.T, "tool"), Arguments: someObject.Draw(d.T, "arguments")}
	if custom {
		c.Custom, c.Arguments = true, someWords.Draw(d.T, "input")
	}
	p := translate.Part{Kind: translate.KindCall, Call: c}
	if d.origin == translate.OriginGoogle {
		p.Signature = d.signature()
	}
	return p
}

func (d *draw) media() translate.Part {
	switch rapid.IntRange(0, 2).Draw(d.T, "medium") {
	case 0:
		return translate.Part{Kind: translate.KindImage, Media: translate.Media{Data: "iVBORw0KGgo=", MIME: "image/png"}}
	case 1:
		return translate.Part{Kind: translate.KindAudio, Media: translate.Media{Data: "AAAA", MIME: "audio/wav"}}
	}
	return translate.Part{Kind: translate.KindDocument, Media: translate.Media{Data: "AAAA", MIME: "application/pdf"}}
}

// said draws what the model said: no two texts side by side, which protocols
// join.
func (d *draw) said(answer bool) (parts []translate.Part) {
	last := translate.KindResult
	for range rapid.IntRange(1, 4).Draw(d.T, "parts") {
		var p translate.Part
		switch kind := rapid.IntRange(0, 4).Draw(d.T, "kind"); {
		case kind == 0:
			p = translate.Part{Kind: translate.KindText, Text: someWords.Draw(d.T, "text")}
			if d.origin == translate.OriginGoogle {
				p.Signature = d.signature()
			}
		case kind == 1 && (answer || d.origin == translate.OriginOpenAI):
			p = translate.Part{Kind: translate.KindReasoning, Text: someWords.Draw(d.T, "thought"), Signature: d.signature()}
			if p.Signature.Data == "" && !answer {
				continue // it is not sent back
			}
		case kind == 2 && d.refusals:
			p = translate.Part{Kind: translate.KindRefusal, Text: someWords.Draw(d.T, "refusal")}
		case kind == 3 && d.custom:
			p = d.call(true)
		case kind == 4 || len(parts) == 0:
			p = d.call(false)
		default:
			continue
		}
		if p.Kind == last && p.Kind != translate.KindCall {
			continue
		}
		last = p.Kind
		parts = append(parts, p)
	}
	return parts
}

// conversation draws turns: the user asks, the model answers, its calls have
// results.
func (d *draw) conversation() (turns []translate.Turn) {
	for range rapid.IntRange(1, 3).Draw(d.T, "turns") {
		user := translate.Turn{Role: translate.RoleUser, Parts: []translate.Part{{Kind: translate.KindText, Text: someWords.Draw(d.T, "question")}}}
		if d.maybe("media") {
			user.Parts = append(user.Parts, d.media())
		}
		turns = append(turns, user)
		parts := d.said(false)
		if len(parts) == 0 {
			continue
		}
		turns = append(turns, translate.Turn{Role: translate.RoleAssistant, Parts: parts})
		var results []translate.Part
		for i := range parts {
			if c := &parts[i].Call; parts[i].Kind == translate.KindCall {
				text := someObject.Draw(d.T, "result")
				if d.maybe("a text") {
					text = strings.TrimSpace(someWords.Draw(d.T, "result"))
				}
				r := translate.Result{CallID: c.ID, Name: c.Name, Parts: []translate.Part{{Kind: translate.KindText, Text: text}}}
				r.IsError = d.origin == translate.OriginGoogle && d.maybe("failed")
				results = append(results, translate.Part{Kind: translate.KindResult, Result: r})
			}
		}
		if len(results) > 0 {
			turns = append(turns, translate.Turn{Role: translate.RoleUser, Parts: results})
		}
	}
	return turns
}

func (d *draw) number(what string) *float64 {
	if !d.maybe(what) {
		return nil
	}
	n := float64(rapid.IntRange(1, 19).Draw(d.T, what)) / 10
	return &n
}

// request draws a request of what the protocol has.
func (d *draw) request() *translate.Request {
	r := &translate.Request{IncludeUsage: true, Turns: d.conversation()}
	if d.maybe("system") {
		r.System = []translate.Part{{Kind: translate.KindText, Text: someWords.Draw(d.T, "system")}}
	}
	r.MaxOutput = rapid.Int64Range(0, 9).Draw(d.T, "limit")
	r.Sampling.Temperature, r.Sampling.TopP = d.number("temperature"), d.number("top_p")
	if d.maybe("format") {
		r.Format.Kind = translate.FormatJSON
	}
	if d.maybe("schema") {
		r.Format = translate.Format{Kind: translate.FormatSchema, Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
	}
	d.tools(r)
	if d.protocol == translate.Responses {
		d.responses(r)
		return r
	}
	r.Stop = rapid.SliceOfN(someWords, 0, 3).Draw(d.T, "stop")
	r.Sampling.PresencePenalty, r.Sampling.FrequencyPenalty = d.number("presence"), d.number("frequency")
	if d.maybe("top_k") {
		k := float64(rapid.IntRange(1, 99).Draw(d.T, "top_k"))
		r.Sampling.TopK = &k
	}
	if d.maybe("seed") {
		seed := rapid.Int64Range(0, 1<<31-1).Draw(d.T, "seed")
		r.Sampling.Seed = &seed
	}
	if d.maybe("thinking") {
		r.Thinking = translate.Thinking{Budget: 2048, Summary: "auto"}
	}
	return r
}

// responses draws what only Responses has.
func (d *draw) responses(r *translate.Request) {
	r.Model, r.Stream = d.up.Model, d.maybe("stream")
	r.User, r.CacheKey = rapid.StringMatching(`[a-z]{0,5}`).Draw(d.T, "user"), rapid.StringMatching(`[a-z]{0,5}`).Draw(d.T, "key")
	r.Tier = rapid.SampledFrom([]string{"", "auto", "flex"}).Draw(d.T, "tier")
	r.Verbosity = rapid.SampledFrom([]string{"", "low"}).Draw(d.T, "verbosity")
	r.Thinking.Effort = rapid.SampledFrom([]translate.Effort{"", "none", "low", "high"}).Draw(d.T, "effort")
	if d.maybe("metadata") {
		r.Metadata = map[string]string{"a": someWords.Draw(d.T, "a"), "b": ""}
	}
	if r.Format.Kind == translate.FormatSchema {
		r.Format.Name = someName.Draw(d.T, "format name")
	}
}

func (d *draw) tools(r *translate.Request) {
	strict := false
	for i := range rapid.IntRange(0, 3).Draw(d.T, "tools") {
		t := translate.Tool{Name: fmt.Sprintf("tool_%d", i), Description: rapid.StringMatching(`[a-z ]{0,9}`).Draw(d.T, "description")}
		t.Schema = []byte(`{"type":"object","properties":{"q":{"type":"string","enum":["a","b"]}},"required":["q"],"additionalProperties":false}`)
		if d.protocol == translate.Responses {
			t.Strict = &strict
		}
		if d.custom && d.maybe("custom") {
			t.Kind, t.Schema, t.Strict = translate.ToolCustom, nil, nil
		}
		r.Tools = append(r.Tools, t)
	}
	if len(r.Tools) == 0 {
		return
	}
	modes := []translate.ChoiceMode{translate.ChoiceDefault, translate.ChoiceNone, translate.ChoiceRequired, translate.ChoiceTool}
	r.ToolChoice.Mode = rapid.SampledFrom(modes).Draw(d.T, "choice")
	switch {
	case r.ToolChoice.Mode == translate.ChoiceTool:
		r.ToolChoice.Name = "tool_0"
	case r.ToolChoice.Mode == translate.ChoiceRequired && len(r.Tools) > 2:
		r.ToolChoice.Allowed = []string{"tool_0", "tool_2"}
	}
	r.Serial = d.protocol == translate.Responses && d.maybe("serial")
}

// flat is a part and whose it is: where turns begin is not the same everywhere.
type flat struct {
	Role translate.Role
	Part translate.Part
}

func flatten(turns []translate.Turn) (list []flat) {
	for _, turn := range turns {
		for _, p := range turn.Parts {
			list = append(list, flat{turn.Role, p})
		}
	}
	return list
}

var sameJSON = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.FilterValues(func(a, b []byte) bool { return len(a) > 0 && len(b) > 0 }, cmp.Comparer(func(a, b []byte) bool {
		return canonical(string(a)) == canonical(string(b))
	})),
}

// TestRequestsGoAndComeBack writes requests for an upstream and reads them
// again: what the protocol has is all there, and nothing was lost.
func TestRequestsGoAndComeBack(t *testing.T) {
	for _, s := range sides {
		t.Run(s.protocol.String()+" "+s.up.Model, func(t *testing.T) {
			c := codecOf(t, s.protocol)
			rapid.Check(t, func(rt *rapid.T) {
				d := draw{T: rt, side: s}
				want := d.request()
				body, lost, err := c.EncodeRequest(want, s.up)
				if err != nil || len(lost) > 0 {
					rt.Fatalf("got losses %v, error %v", lost, err)
				}
				got, lost, err := c.DecodeRequest(body)
				if err != nil || len(lost) > 0 {
					rt.Fatalf("%s: got losses %v, error %v", body, lost, err)
				}
				if diff := cmp.Diff(flatten(want.Turns), flatten(got.Turns), sameJSON); diff != "" {
					rt.Fatalf("%s\nturns (-want +got):\n%s", body, diff)
				}
				w, g := *want, *got
				w.Turns, g.Turns = nil, nil
				if diff := cmp.Diff(w, g, sameJSON); diff != "" {
					rt.Fatalf("%s\nrequest (-want +got):\n%s", body, diff)
				}
			})
		})
	}
}

// answer draws an answer of what the protocol has.
func (d *draw) answer() *translate.Answer {
	a := &translate.Answer{ID: "resp_" + rapid.StringMatching(`[a-z0-9]{1,12}`).Draw(d.T, "id"), Parts: d.said(true)}
	if d.protocol == translate.Responses {
		a.Created = rapid.Int64Range(1, 1<<33).Draw(d.T, "created")
	}
	if d.maybe("image") {
		a.Parts = append(a.Parts, translate.Part{Kind: translate.KindImage, Media: translate.Media{Data: "iVBORw0KGgo=", MIME: "image/png"}})
	}
	a.End.Finish = translate.FinishStop
	for i := range a.Parts {
		if a.Parts[i].Kind == translate.KindCall {
			a.End.Finish = translate.FinishCalls
		}
	}
	switch rapid.IntRange(0, 3).Draw(d.T, "end") {
	case 0:
		a.End.Finish = translate.FinishLength
	case 1:
		a.End.Finish = translate.FinishFilter
	}
	if d.maybe("usage") {
		u := &a.Usage
		u.Known = true
		u.Cached, u.Reasoning = rapid.Int64Range(0, 9).Draw(d.T, "cached"), rapid.Int64Range(0, 9).Draw(d.T, "reasoning")
		u.Input, u.Output = u.Cached+rapid.Int64Range(0, 9).Draw(d.T, "input"), u.Reasoning+rapid.Int64Range(0, 9).Draw(d.T, "output")
	}
	return a
}

// TestAnswersGoAndComeBack writes answers for a client and reads them as those
// of an upstream, whole and as a stream.
func TestAnswersGoAndComeBack(t *testing.T) {
	for _, s := range sides {
		t.Run(s.protocol.String()+" "+s.up.Model, func(t *testing.T) {
			c := codecOf(t, s.protocol)
			rapid.Check(t, func(rt *rapid.T) {
				d := draw{T: rt, side: s}
				want := d.answer()
				r := &translate.Request{IncludeUsage: true}
				compare := func(form string, got *translate.Answer) {
					g := *got
					g.End.Reason = ""
					clearIDs(&g, want)
					if diff := cmp.Diff(want, &g, sameJSON); diff != "" {
						rt.Fatalf("%s (-want +got):\n%s", form, diff)
					}
				}
				body := c.EncodeAnswer(nil, want, r, publicModel)
				if !json.Valid(body) {
					rt.Fatalf("not valid: %s", body)
				}
				got, err := c.DecodeAnswer(body, r, s.up)
				if err != nil {
					rt.Fatalf("%s: %v", body, err)
				}
				compare("whole", got)

				e := c.NewEncoder(r, publicModel)
				var stream []byte
				for _, ev := range translate.Unfold(want) {
					stream = e.Event(stream, &ev)
				}
				f := fold(t, c, r, s.up, strings.NewReader(string(stream)))
				if f.err != nil || !f.whole {
					rt.Fatalf("%s: got error %v, whole %v", stream, f.err, f.whole)
				}
				compare("as a stream", f.answer)
			})
		})
	}
}

// clearIDs gives thoughts the ids that they had: a protocol's encoder numbers
// the items of an answer.
func clearIDs(got, want *translate.Answer) {
	for i := range got.Parts {
		if i < len(want.Parts) && got.Parts[i].Signature.ID != "" {
			got.Parts[i].Signature.ID = want.Parts[i].Signature.ID
		}
	}
}
