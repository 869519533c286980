package translation_test

import (
	"strings"
	"testing"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/wire/translate"
)

// TestUnfit: what no translation can carry goes to the next deployment, says
// nothing of the one that was passed over, and is the caller's error if nobody is
// left.
func TestUnfit(t *testing.T) {
	const several = `"n":2` // no upstream of another protocol gives two answers
	const answer = `{"id":"x","object":"chat.completion","created":1,"model":"up-model","choices":[
		{"index":0,"message":{"role":"assistant","content":"native"},"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"two"},"finish_reason":"stop"}]}`
	chat := func(id string) upstream {
		return upstream{id: id, protocol: translate.Chat, handler: status(200, nil, answer)}
	}
	t.Run("the next one serves", func(t *testing.T) {
		foreign := speaks(t, translate.Messages, says("x"))
		r := newRig(t, foreign.upstream("a"), chat("b"))
		for range 5 { // no circuit opens on the way
			out, d, err := r.ask(translate.Chat, body(translate.Chat, false, several))
			if err != nil || attempts(d) != "a:local b:ok" || !strings.Contains(out.out.String(), "native") {
				t.Fatalf("%v (%s): %s", err, attempts(d), out.out.String())
			}
			if a := d.Attempts[0]; a.Status != 0 || !strings.Contains(a.Message, "one answer") {
				t.Errorf("attempt %+v", a)
			}
		}
		if n := len(foreign.asked); n != 0 {
			t.Errorf("the foreign upstream was asked %d times", n)
		}
		if s := r.first(); s.FailuresInRow != 0 || s.InFlight != 0 || s.Circuit != "closed" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("nobody is left", func(t *testing.T) {
		r := newRig(t, speaks(t, translate.Messages, says("x")).upstream("a"), speaks(t, translate.Gemini, says("x")).upstream("b"))
		_, d, err := r.ask(translate.Chat, body(translate.Chat, false, several))
		u := upstreamError(t, err)
		if u.Status != 400 || u.Code != provider.CodeUnsupported || u.Param != "n" || u.Type != "invalid_request_error" || !strings.Contains(u.Message, "one answer") {
			t.Errorf("got %+v", u)
		}
		if attempts(d) != "a:local b:local" {
			t.Errorf("attempts %s", attempts(d))
		}
	})
	t.Run("a lasting reason leads to no fallback", func(t *testing.T) {
		other := speaks(t, translate.Chat, says("x"))
		r := newRigWith(t, map[engine.Chain][]string{engine.ChainGeneral: {"other"}}, speaks(t, translate.Messages, says("x")).upstream("a"), other.upstream("b"))
		_, d, err := r.ask(translate.Chat, body(translate.Chat, false, several))
		if u := upstreamError(t, err); u.Status != 400 || attempts(d) != "a:local" || len(other.asked) != 0 {
			t.Errorf("got %+v (%s)", u, attempts(d))
		}
	})
	t.Run("a failure of one that was called counts for more", func(t *testing.T) {
		broken := upstream{id: "a", protocol: translate.Chat, handler: status(500, nil, `{"error":{"message":"down"}}`)}
		r := newRigWith(t, map[engine.Chain][]string{engine.ChainGeneral: {"other"}}, broken, speaks(t, translate.Messages, says("x")).upstream("b"), chat("c"))
		if _, d, err := r.ask(translate.Chat, body(translate.Chat, false, several)); err != nil || attempts(d) != "a:server b:local c:ok" {
			t.Errorf("%v (%s)", err, attempts(d))
		}
		r = newRig(t, broken, speaks(t, translate.Messages, says("x")).upstream("b"))
		_, d, err := r.ask(translate.Chat, body(translate.Chat, false, several))
		if u := upstreamError(t, err); u.Status != 500 || attempts(d) != "a:server b:local" {
			t.Errorf("got %+v (%s)", u, attempts(d))
		}
	})
	t.Run("what is wrong is wrong everywhere", func(t *testing.T) {
		native := speaks(t, translate.Chat, says("x"))
		r := newRig(t, speaks(t, translate.Messages, says("x")).upstream("a"), native.upstream("b"))
		_, d, err := r.ask(translate.Chat, body(translate.Chat, false, `"temperature":"hot"`))
		u := upstreamError(t, err)
		if u.Status != 400 || u.Code != "invalid_value" || u.Param != "temperature" || attempts(d) != "a:client" || len(native.asked) != 0 {
			t.Errorf("got %+v (%s)", u, attempts(d))
		}
	})
	t.Run("broken circuits are not called for it", func(t *testing.T) {
		broken := upstream{id: "b", protocol: translate.Chat, handler: status(500, nil, `{"error":{"message":"down"}}`)}
		r := newRig(t, speaks(t, translate.Messages, says("x")).upstream("a"), broken)
		for range 3 {
			if _, d, _ := r.ask(translate.Chat, body(translate.Chat, false, several)); attempts(d) != "a:local b:server" {
				t.Fatalf("attempts %s", attempts(d))
			}
		}
		_, d, err := r.ask(translate.Chat, body(translate.Chat, false, several))
		refused, ok := err.(*engine.RefusedError) //nolint:errorlint // the engine gives it bare
		if !ok || refused.Code != engine.CodeAllCircuitsOpen || attempts(d) != "a:local" {
			t.Errorf("got %v (%s)", err, attempts(d))
		}
	})
}

// TestNotes tells the decision what was left out, by the names of fields alone.
func TestNotes(t *testing.T) {
	r := newRig(t, speaks(t, translate.Gemini, says("x")).upstream("a"))
	const members = `"logit_bias":{"1":2},"user":"me","verbosity":"low","tell me a secret":1,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1`
	_, d, err := r.ask(translate.Chat, body(translate.Chat, false, members))
	if err != nil {
		t.Fatal(err)
	}
	const want = "left out in translation: logit_bias, a, b, c, d, e, f, user, …"
	if got := d.Attempts[0].Note; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
