package translation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gatewright/internal/wire/recorded"
	"gatewright/internal/wire/translate"
)

// talk is a client's conversation: what it sends back grows with every answer.
type talk struct {
	client  translate.Protocol
	streams bool
	turns   []json.RawMessage // of the client's protocol
}

func (c *talk) add(turn any) {
	text, err := json.Marshal(turn)
	if err != nil {
		panic(err)
	}
	c.turns = append(c.turns, text)
}

// begin says the first words.
func (c *talk) begin() {
	c.add(map[string]any{"role": "user", "content": "what is the weather, and the time?"})
}

// body is the request that continues the conversation.
func (c *talk) body() string {
	all := bytes.Join(toBytes(c.turns), []byte(","))
	list, more := "messages", ""
	switch c.client {
	case translate.Messages:
		more = `"max_tokens":4000,`
	case translate.Responses:
		list, more = "input", `"store":false,"include":["reasoning.encrypted_content"],`
	case translate.Chat, translate.Gemini:
	}
	offered := strings.NewReplacer(`,"tool_choice":"required"`, "", `,"tool_choice":{"type":"any"}`, "").Replace(offers[c.client])
	return fmt.Sprintf(`{"model":%q,"stream":%v,%s%s,%s,%q:[%s]}`, publicModel, c.streams, more, thinks[c.client], offered, list, all)
}

func toBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

// take keeps an answer and gives each of its calls a result.
func (c *talk) take(got *recorded.Reading) {
	if c.client == translate.Responses {
		var items []json.RawMessage
		_ = json.Unmarshal(got.Turn, &items)
		c.turns = append(c.turns, items...)
	} else {
		c.turns = append(c.turns, got.Turn)
	}
	var results []any
	for _, call := range got.Calls {
		text := "result of " + call.Name
		switch c.client {
		case translate.Chat:
			c.add(map[string]any{"role": "tool", "tool_call_id": call.ID, "content": text})
		case translate.Messages:
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": call.ID, "content": text})
		case translate.Responses:
			c.add(map[string]any{"type": "function_call_output", "call_id": call.ID, "output": text})
		case translate.Gemini:
		}
	}
	if results != nil {
		c.add(map[string]any{"role": "user", "content": results})
	}
}

// switched is an upstream that can be taken down.
type switched struct {
	*speaker
	down atomic.Bool
}

func (s *switched) upstream(id string) upstream {
	return upstream{
		id: id, protocol: s.protocol, about: translate.Upstream{Full: true, Reasons: true, Adaptive: true},
		handler: func(w http.ResponseWriter, r *http.Request) {
			if s.down.Load() {
				status(http.StatusInternalServerError, nil, `{}`)(w, r)
				return
			}
			s.ServeHTTP(w, r)
		},
	}
}

// signed is an answer with a thought and two calls at once, signed by a maker.
func signed(origin translate.Origin, id string) func(*translate.Request) *translate.Answer {
	return func(*translate.Request) *translate.Answer {
		sign := translate.Signature{Origin: origin, Data: "c2lnbmVkLWJ5LQ==" + id}
		thought := translate.Part{Kind: translate.KindReasoning, Text: "thought " + id}
		first := translate.Part{Kind: translate.KindCall, Call: translate.Call{ID: "call_" + id + "_0123456789abcdef_0", Name: "weather", Arguments: `{"city":"Rome"}`}}
		if origin == translate.OriginGoogle {
			first.Signature = sign
		} else {
			thought.Signature = sign
		}
		return &translate.Answer{
			ID: "answer-" + id,
			Parts: []translate.Part{
				thought, first,
				{Kind: translate.KindCall, Call: translate.Call{ID: "call_" + id + "_0123456789abcdef_1", Name: "time", Arguments: `{}`}},
			},
			End: translate.End{Finish: translate.FinishCalls}, Usage: translate.Usage{Known: true, Input: 1, Output: 1},
		}
	}
}

// TestConversationMoves takes a conversation with tools from one protocol's
// upstream to another's as they fail, and back to the first, which finds its own
// thought again.
func TestConversationMoves(t *testing.T) {
	for _, client := range clients {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, stream %v", client, streams), func(t *testing.T) {
				a := &switched{speaker: speaks(t, translate.Messages, signed(translate.OriginAnthropic, "a"))}
				b := &switched{speaker: speaks(t, translate.Gemini, signed(translate.OriginGoogle, "b"))}
				c := &switched{speaker: speaks(t, translate.Chat, signed(translate.OriginNone, "c"))}
				r := newRig(t, a.upstream("a"), b.upstream("b"), c.upstream("c"))
				conversation := &talk{client: client, streams: streams}
				conversation.begin()
				turn := func(want string) {
					t.Helper()
					out, d, err := r.ask(client, conversation.body())
					if err != nil || attempts(d) != want {
						t.Fatalf("%v (%s, want %s)\n%s", err, attempts(d), want, conversation.body())
					}
					got := out.read(t, client, streams)
					if len(got.Calls) != 2 || !got.Over || got.Failed {
						t.Fatalf("got %+v of %s", got, out.out.String())
					}
					conversation.take(got)
				}
				turn("a:ok")
				a.down.Store(true)
				turn("a:server b:ok")
				checkHistory(t, b.last().request, 1)
				b.down.Store(true)
				turn("a:server b:server c:ok")
				checkHistory(t, c.last().request, 2)
				a.down.Store(false)
				turn("a:ok")
				checkHistory(t, a.last().request, 3)
				if !bytes.Contains(a.last().body, []byte("c2lnbmVkLWJ5LQ==a")) || bytes.Contains(a.last().body, []byte("c2lnbmVkLWJ5LQ==b")) {
					t.Errorf("the first upstream gets %s", a.last().body)
				}
			})
		}
	}
}

// checkHistory checks that each round of a history has two calls, and each call the
// result that belongs to it.
func checkHistory(t *testing.T, r *translate.Request, rounds int) {
	t.Helper()
	open := map[string]string{} // names of the calls that wait for a result
	ids := map[string]bool{}
	calls, results := 0, 0
	for _, turn := range r.Turns {
		for _, p := range turn.Parts {
			switch p.Kind { //nolint:exhaustive // the rest does not matter here
			case translate.KindCall:
				if ids[p.Call.ID] {
					t.Errorf("the id %q comes twice", p.Call.ID)
				}
				ids[p.Call.ID], open[p.Call.ID] = true, p.Call.Name
				calls++
			case translate.KindResult:
				if want := open[p.Result.CallID]; want == "" || len(p.Result.Parts) != 1 || !strings.Contains(p.Result.Parts[0].Text, "result of "+want) {
					t.Errorf("result %+v, waiting for %v", p.Result, open)
				}
				delete(open, p.Result.CallID)
				results++
			}
		}
	}
	if calls != 2*rounds || results != calls {
		t.Errorf("%d calls and %d results, want %d of each", calls, results, 2*rounds)
	}
}
