package translate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatewright/internal/wire/translate"
)

// The generators draw what chat completions and Messages both have.

var (
	anyWords = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"a", "é", "\U0001F600 x", "line\nline", `"quoted" \ <b>`, "\u2028", "data: {}"}).Draw(t, "begin") +
			rapid.StringMatching(`[ -~]{0,10}[a-z]`).Draw(t, "words")
	})
	anyName = rapid.StringMatching(`[a-zA-Z0-9_-]{1,40}`)
	anyArgs = rapid.Custom(func(t *rapid.T) string {
		args := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			args[anyWords.Draw(t, "key")] = rapid.SampledFrom([]any{1.5, "text", nil, true, []any{"x"}, map[string]any{"y": "é"}}).Draw(t, "value")
		}
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
)

func words(t *rapid.T) translate.Part {
	return translate.Part{Kind: translate.KindText, Text: anyWords.Draw(t, "text")}
}

// anyMedia draws an image or a document.
func anyMedia(t *rapid.T) translate.Part {
	switch rapid.IntRange(0, 2).Draw(t, "medium") {
	case 0:
		return translate.Part{Kind: translate.KindImage, Media: translate.Media{Data: "iVBORw0KGgo=", MIME: "image/png"}}
	case 1:
		return translate.Part{Kind: translate.KindImage, Media: translate.Media{URL: "https://example.com/" + anyName.Draw(t, "url")}}
	}
	return translate.Part{Kind: translate.KindDocument, Media: translate.Media{Data: "AAAA", MIME: "application/pdf", Name: anyName.Draw(t, "file")}}
}

// anyCalls draws calls of the given tools, with ids that begin with prefix.
func anyCalls(t *rapid.T, prefix string, tools []translate.Tool) (calls []translate.Part) {
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		c := translate.Call{ID: fmt.Sprintf("call_0123456789abcdef_%s_%d", prefix, i), Name: rapid.SampledFrom(tools).Draw(t, "tool").Name, Arguments: anyArgs.Draw(t, "arguments")}
		calls = append(calls, translate.Part{Kind: translate.KindCall, Call: c})
	}
	return calls
}

// anyTurns draws a conversation in which every call gets its result.
func anyTurns(t *rapid.T, tools []translate.Tool) (turns []translate.Turn) {
	user := translate.Turn{Role: translate.RoleUser}
	for i := range rapid.IntRange(1, 3).Draw(t, "exchanges") {
		user.Parts = append(user.Parts, words(t))
		if rapid.Bool().Draw(t, "media") {
			user.Parts = append(user.Parts, anyMedia(t))
		}
		turns = append(turns, user)
		model := translate.Turn{Role: translate.RoleAssistant, Parts: []translate.Part{words(t)}}
		model.Parts = append(model.Parts, anyCalls(t, fmt.Sprintf("c%d", i), tools)...)
		turns = append(turns, model)
		user = translate.Turn{Role: translate.RoleUser}
		for j := range model.Parts[1:] {
			c := &model.Parts[1+j].Call
			r := translate.Result{CallID: c.ID, Name: c.Name, Parts: []translate.Part{words(t)}}
			user.Parts = append(user.Parts, translate.Part{Kind: translate.KindResult, Result: r})
		}
	}
	user.Parts = append(user.Parts, words(t))
	return append(turns, user)
}

func anyTools(t *rapid.T) (tools []translate.Tool) {
	for i := range rapid.IntRange(1, 3).Draw(t, "tools") {
		tools = append(tools, translate.Tool{
			Name: fmt.Sprintf("%s%d", anyName.Draw(t, "name"), i), Description: anyWords.Draw(t, "description"),
			Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		})
	}
	return tools
}

func drawRequest(t *rapid.T) *translate.Request {
	r := &translate.Request{Model: "m", Tools: anyTools(t)}
	if rapid.Bool().Draw(t, "system") {
		r.System = []translate.Part{words(t)}
	}
	r.Turns = anyTurns(t, r.Tools)
	r.MaxOutput = rapid.Int64Range(1, 100_000).Draw(t, "limit")
	r.Stop = rapid.SliceOfN(anyWords, 0, 4).Draw(t, "stop")
	r.Stream = rapid.Bool().Draw(t, "stream")
	r.Serial = rapid.Bool().Draw(t, "serial")
	r.User = rapid.StringMatching(`[a-z]{0,64}`).Draw(t, "user")
	r.Tier = rapid.SampledFrom([]string{"", "auto", "default"}).Draw(t, "tier")
	if rapid.Bool().Draw(t, "sampling") {
		v := rapid.Float64Range(0, 0.999).Draw(t, "value")
		if rapid.Bool().Draw(t, "temperature") {
			r.Sampling.Temperature = &v
		} else {
			r.Sampling.TopP = &v
		}
	}
	r.ToolChoice.Mode = rapid.SampledFrom([]translate.ChoiceMode{
		translate.ChoiceAuto, translate.ChoiceNone, translate.ChoiceRequired, translate.ChoiceTool,
	}).Draw(t, "choice")
	if r.ToolChoice.Mode == translate.ChoiceTool {
		r.ToolChoice.Name = r.Tools[0].Name
	}
	r.Serial = r.Serial && r.ToolChoice.Mode != translate.ChoiceNone
	if rapid.Bool().Draw(t, "format") {
		strict := true
		r.Format = translate.Format{Kind: translate.FormatSchema, Name: "answer", Strict: &strict, Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)}
	}
	return r
}

// sameRequest compares requests, but for what a protocol always or never says.
var sameRequest = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(translate.Request{}, "IncludeUsage"),
	cmpopts.IgnoreFields(translate.Format{}, "Name"),
	cmp.Transformer("merged", merged),
}

// merged returns turns as one where they are of one side. It is a type of its
// own, so that it is not merged again.
func merged(turns []translate.Turn) (out mergedTurns) {
	for _, turn := range turns {
		if n := len(out); n > 0 && out[n-1].Role == turn.Role {
			out[n-1].Parts = slices.Concat(out[n-1].Parts, turn.Parts)
			continue
		}
		out = append(out, turn)
	}
	return out
}

type mergedTurns []translate.Turn

// TestRequestRoundTrip: what both protocols have survives each of them, and the
// way through both.
func TestRequestRoundTrip(t *testing.T) {
	up := &translate.Upstream{Model: "m", Full: true, SchemaOutput: true}
	chat, messages := codecOf(t, translate.Chat), codecOf(t, translate.Messages)
	rapid.Check(t, func(t *rapid.T) {
		want := drawRequest(t)
		got := want
		for _, c := range []*translate.Codec{chat, messages, chat, messages} {
			body, lost, err := c.EncodeRequest(got, up)
			if err != nil || len(lost) > 0 {
				t.Fatalf("%v: %v, lost %v", c.Protocol, err, lost)
			}
			if got, lost, err = c.DecodeRequest(body); err != nil || len(lost) > 0 {
				t.Fatalf("%v: %s: %v, lost %v", c.Protocol, body, err, lost)
			}
			if diff := cmp.Diff(want, got, sameRequest); diff != "" {
				t.Fatalf("%v: %s\n(-want +got):\n%s", c.Protocol, body, diff)
			}
		}
	})
}

func drawAnswer(t *rapid.T) *translate.Answer {
	a := &translate.Answer{ID: "msg_" + anyName.Draw(t, "id"), End: translate.End{Finish: translate.FinishStop}}
	if rapid.Bool().Draw(t, "reasoning") {
		p := translate.Part{Kind: translate.KindReasoning, Text: anyWords.Draw(t, "thought")}
		p.Signature = translate.Signature{Origin: translate.OriginAnthropic, Data: anyName.Draw(t, "signature")}
		a.Parts = append(a.Parts, p)
	}
	if rapid.Bool().Draw(t, "text") {
		a.Parts = append(a.Parts, words(t))
	}
	calls := anyCalls(t, "c", []translate.Tool{{Name: "f"}, {Name: "g"}})
	a.Parts = append(a.Parts, calls...)
	switch {
	case len(calls) > 0:
		a.End.Finish = translate.FinishCalls
	case rapid.Bool().Draw(t, "cut"):
		a.End.Finish = rapid.SampledFrom([]translate.Finish{translate.FinishLength, translate.FinishFilter}).Draw(t, "finish")
	}
	n := rapid.Int64Range(0, 1_000_000)
	u := translate.Usage{Cached: n.Draw(t, "cached"), CacheWrite: n.Draw(t, "write"), Reasoning: n.Draw(t, "reasoning"), Known: true}
	u.Input = u.Cached + u.CacheWrite + n.Draw(t, "input")
	u.Output = u.Reasoning + n.Draw(t, "output")
	a.Usage = u
	return a
}

// sameAnswer compares answers, but for the protocols' own words.
var sameAnswer = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(translate.Answer{}, "Created"),
	cmpopts.IgnoreFields(translate.End{}, "Reason"),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Arguments" }, cmp.Transformer("JSON", canonical)),
}

// TestAnswerRoundTrip: what both protocols have of an answer survives each of
// them, whole and streamed.
func TestAnswerRoundTrip(t *testing.T) {
	codecs := []*translate.Codec{codecOf(t, translate.Chat), codecOf(t, translate.Messages)}
	rapid.Check(t, func(rt *rapid.T) {
		want := drawAnswer(rt)
		for _, c := range codecs {
			body := c.EncodeAnswer(nil, want, anyRequest, publicModel)
			got, err := c.DecodeAnswer(body, anyRequest, anyUpstream)
			if err != nil {
				rt.Fatalf("%v: %s: %v", c.Protocol, body, err)
			}
			if diff := cmp.Diff(want, got, sameAnswer); diff != "" {
				rt.Fatalf("%v: %s\n(-want +got):\n%s", c.Protocol, body, diff)
			}
			e := c.NewEncoder(anyRequest, publicModel)
			var stream []byte
			for _, ev := range translate.Unfold(want) {
				stream = e.Event(stream, &ev)
			}
			f := fold(t, c, anyRequest, anyUpstream, strings.NewReader(string(stream)))
			if diff := cmp.Diff(want, f.answer, sameAnswer); diff != "" || f.err != nil || !f.whole {
				rt.Fatalf("%v: %s\nwhole %v, %v (-want +got):\n%s", c.Protocol, stream, f.whole, f.err, diff)
			}
		}
	})
}

// chunked is a call of a stream and the pieces of its arguments.
type chunked struct {
	call   call
	pieces []string
}

// TestMixedCalls: pieces of several calls may come in any order.
func TestMixedCalls(t *testing.T) {
	chat, messages := codecOf(t, translate.Chat), codecOf(t, translate.Messages)
	rapid.Check(t, func(rt *rapid.T) {
		var calls []chunked
		var order []int
		for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
			c := chunked{call: call{ID: fmt.Sprintf("call_0123456789_%d", i), Name: "f", Arguments: anyArgs.Draw(rt, "arguments")}}
			for rest := c.call.Arguments; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
				for n < len(rest) && rest[n]&0xc0 == 0x80 {
					n++
				}
				c.pieces, rest = append(c.pieces, rest[:n]), rest[n:]
				order = append(order, i)
			}
			calls = append(calls, c)
		}
		order = rapid.Permutation(order).Draw(rt, "order")
		var body strings.Builder
		emit := func(delta, finish string) {
			fmt.Fprintf(&body, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
		}
		begun := map[int]bool{}
		for _, i := range order {
			c := &calls[i]
			piece, err := json.Marshal(c.pieces[0])
			if err != nil {
				rt.Fatal(err)
			}
			c.pieces = c.pieces[1:]
			head := ""
			if !begun[i] {
				begun[i] = true
				head = fmt.Sprintf(`"id":%q,"type":"function",`, c.call.ID)
			}
			name := ""
			if head != "" {
				name = `"name":"f",`
			}
			emit(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"function":{%s"arguments":%s}}]}`, i, head, name, piece), "null")
		}
		emit("{}", `"tool_calls"`)
		body.WriteString("data: [DONE]\n\n")
		s := send(t, messages, chat, strings.NewReader(body.String()))
		if s.err != nil {
			rt.Fatalf("%s: %v", body.String(), s.err)
		}
		got := readMessages(t, s.out, true)
		byID := map[string]string{}
		for _, c := range got.calls {
			byID[c.ID] = c.Arguments
		}
		for _, c := range calls {
			if byID[c.call.ID] != c.call.Arguments || !got.over {
				rt.Fatalf("%s\nbecame %s", body.String(), s.out)
			}
		}
	})
}
