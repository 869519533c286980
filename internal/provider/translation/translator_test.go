package translation

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

const asking = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"logit_bias":{"1":1},"a word of the talk":1}`

// chatCall is a call of a chat client.
func chatCall(tb testing.TB, memo *provider.Memo) *provider.Call {
	tb.Helper()
	found, err := openai.ScanRequest(openai.Chat, []byte(asking), 64)
	if err != nil {
		tb.Fatal(err)
	}
	return &provider.Call{
		Request: &engine.Request{
			Caller: &engine.Caller{}, Payload: &openai.Payload{Endpoint: openai.Chat, Request: found, Body: []byte(asking)},
		},
		Deployment: &engine.Deployment{ID: "d"}, PublicModel: "public", Clock: time.Now, Waiting: func() {}, Memo: memo,
	}
}

// TestDecodedOnce: the calls of one request share the request in neutral form,
// whichever deployment's they are, and those of different requests do not.
func TestDecodedOnce(t *testing.T) {
	memo := &provider.Memo{}
	c := chatCall(t, memo)
	in, ok := inboundOf(c.Request.Payload)
	if !ok {
		t.Fatal("the payload is not known")
	}
	first := decoded(c, &in)
	if first.err != nil || first.request.MaxOutput != 9 {
		t.Fatalf("got %+v", first)
	}
	if again := decoded(chatCall(t, memo), &in); again != first {
		t.Error("the request is read a second time")
	}
	if other := decoded(chatCall(t, &provider.Memo{}), &in); other == first {
		t.Error("two requests share what was read")
	}
	if alone := decoded(chatCall(t, nil), &in); alone.err != nil {
		t.Error("a call without a memo is not served")
	}
}

// TestNote names fields, and nothing that the client may have said.
func TestNote(t *testing.T) {
	c := chatCall(t, nil)
	in, _ := inboundOf(c.Request.Payload)
	m := decoded(c, &in)
	if got, want := noteOf(m.losses), "left out in translation: logit_bias, …"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := noteOf(nil, nil); got != "" {
		t.Errorf("got %q where nothing is lost", got)
	}
}

// TestEndAndContentAtOnce: what ends a stream and is all that it shows comes as two
// events, since nothing can be shown with the last.
func TestEndAndContentAtOnce(t *testing.T) {
	translator := New(Config{Service: service(t), Protocol: translate.Responses, Model: "up"})
	x := testAnswer(t, translator, "")
	resp, err := x.Streamed(t.Context(), x.Body)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := resp.Stream.(*stream)
	if !ok {
		t.Fatalf("got %T", resp.Stream)
	}
	if ev := s.event(&translate.StreamInfo{Content: true, Finish: true, Refusal: true, Done: true}); ev.Done || !ev.Commits || !ev.Refused {
		t.Errorf("first %+v", ev)
	}
	if ev, err := s.Next(); err != nil || !ev.Done || !ev.Finished || len(ev.Frame) > 0 {
		t.Errorf("then %+v, %v", ev, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// service returns one that nobody calls.
func service(tb testing.TB) *exchange.Service {
	tb.Helper()
	s, _, err := exchange.New(&exchange.Config{
		BaseURL: "http://localhost", Client: provider.NewClient(provider.ClientOptions{}), AnswerLimit: 1 << 16, EventLimit: 1 << 12,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestInParallel serves many requests with one translator at once.
func TestInParallel(t *testing.T) {
	translator := New(Config{Service: service(t), Protocol: translate.Messages, Model: "up"})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				x := testAnswer(t, translator, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
				resp, err := x.Whole()
				if err != nil || !strings.Contains(string(resp.Body), `"content":"hello"`) {
					t.Errorf("got %v", err)
					return
				}
				resp.Release()
			}
		})
	}
	all.Wait()
}

// testAnswer returns the reader of an answer as if an upstream had sent it.
func testAnswer(tb testing.TB, t *Translator, body string) *answer {
	tb.Helper()
	c := chatCall(tb, nil)
	in, _ := inboundOf(c.Request.Payload)
	x := t.newAnswer(t.exchange(c, &in), &in, decoded(c, &in).request)
	x.Resp = &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
	x.Body = x.Resp.Body
	return x
}

// FuzzAnswers reads any bytes as an answer of each protocol, whole and streamed, in
// the form in which it came and in the other one: what the client gets can be read,
// and only an answer that came to its end looks like one.
func FuzzAnswers(f *testing.F) {
	f.Add(uint8(translate.Messages), []byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"x\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add(uint8(translate.Gemini), []byte(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`+"\r\n\r\n"))
	f.Add(uint8(translate.Gemini), []byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}`))
	f.Add(uint8(translate.Responses), []byte("data: {\"type\":\"response.created\",\"response\":{}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n"))
	f.Add(uint8(translate.Messages), []byte(`{"type":"message","content":[],"stop_reason":"refusal"}`))
	s := service(f)
	f.Fuzz(func(t *testing.T, protocol uint8, body []byte) {
		translator := New(Config{Service: s, Protocol: translate.Protocol(protocol % uint8(len(codecs))), Model: "up"})
		text := string(body)
		for _, read := range []func(*answer) (*provider.Response, error){
			(*answer).Whole, (*answer).Folded,
			func(x *answer) (*provider.Response, error) { return x.Streamed(t.Context(), x.Body) },
			func(x *answer) (*provider.Response, error) { return x.Unfolded(t.Context()) },
		} {
			resp, err := read(testAnswer(t, translator, text))
			if err != nil {
				if _, ok := errors.AsType[*provider.Failure](err); !ok {
					t.Fatalf("got %v", err)
				}
				continue
			}
			checkReadable(t, resp)
		}
	})
}

func checkReadable(t *testing.T, resp *provider.Response) {
	t.Helper()
	if resp.Stream == nil {
		if _, err := openai.CheckAnswer(openai.Chat, resp.Body); err != nil {
			t.Fatalf("the client gets %q: %v", resp.Body, err)
		}
		resp.Release()
		return
	}
	var out strings.Builder
	var ended error
	for done := false; !done && ended == nil; {
		var ev provider.Event
		ev, ended = resp.Stream.Next()
		out.Write(ev.Frame)
		done = ev.Done
	}
	_ = resp.Stream.Close()
	in, seen := sse.NewReader(strings.NewReader(out.String()), 1<<20), openai.NewStream(openai.Chat, "public", true)
	whole := false
	for {
		ev, err := in.Next()
		if err != nil {
			break
		}
		_, info, err := seen.Chunk(nil, ev.Data)
		if err != nil {
			t.Fatalf("the client gets %q: %v", ev.Data, err)
		}
		whole = whole || info.Done
	}
	if whole == (ended != nil) {
		t.Fatalf("ended with %v, and looks whole: %v: %q", ended, whole, out.String())
	}
}
