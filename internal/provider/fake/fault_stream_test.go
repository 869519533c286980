package fake

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// struck wants a stream of this shape, ended cleanly.
func struck(want told) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.status != 200 || r.err != nil || r.readErr != nil || r.header.Get("Content-Type") != contentStream {
			t.Fatalf("got %d %v, errors %v, %v", r.status, r.header, r.err, r.readErr)
		}
		got := tell(t, r.body)
		got.content = ""
		got.usages = nil
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(told{})); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, r.body)
		}
	}
}

func streamCases() []faultCase {
	whole := told{roles: 1, texts: 20, finish: "stop", done: 1}
	with := func(change func(*told)) told {
		w := whole
		change(&w)
		return w
	}
	stream := func(fault string, want told) faultCase {
		return faultCase{fault: fault, stream: true, check: struck(want)}
	}
	return []faultCase{
		stream("error-first", told{errorSeen: true}),
		stream("{fault: error-first, code: 429}", told{errorSeen: true, errorCode: 429.0}),
		stream("{fault: role-then-error, code: rate_limit_exceeded}", told{roles: 1, errorSeen: true, errorCode: "rate_limit_exceeded"}),
		stream("content-then-error", told{roles: 1, texts: 3, errorSeen: true}),
		stream("{fault: content-then-error, after: 20}", told{roles: 1, texts: 20, errorSeen: true}),
		stream("{fault: content-then-error, after: 99}", told{roles: 1, texts: 20, errorSeen: true}),
		stream("eof-after-content", told{roles: 1, texts: 3}),
		stream("{fault: eof-after-content, after: 1}", told{roles: 1, texts: 1}),
		stream("eof-no-events", told{}),
		stream("done-only", told{done: 1}),
		stream("eof-after-role", told{roles: 1}),
		stream("no-done", with(func(w *told) { w.done = 0 })),
		stream("after-done", with(func(w *told) { w.texts, w.behindDone, w.broken = 21, 2, 1 })),
		stream("malformed-event", with(func(w *told) { w.broken = 1 })),
		stream("{fault: malformed-event, after: 0}", with(func(w *told) { w.broken = 1 })),
		stream("{fault: malformed-event, after: 50}", with(func(w *told) { w.broken = 1 })),
		stream("{fault: huge-event, size: 65KiB}", with(func(w *told) { w.texts = 1 })),
		stream("usage-repeated", whole),
		stream("usage-on-finish", whole),
		stream("role-repeated", with(func(w *told) { w.roles = 21 })),
		stream("prelude", whole),
		{fault: "{fault: huge-event, size: 8MiB}", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			if got := tell(t, r.body); len(got.content) != 8<<20 || got.finish != "stop" {
				t.Errorf("%d bytes of content, finish %q", len(got.content), got.finish)
			}
		}},
	}
}

func TestWhereMalformedEventStands(t *testing.T) {
	for _, c := range []struct {
		after string
		want  int
	}{{"0", 0}, {"1", 2}, {"3", 4}} {
		r := newRig(t, oneUpstream("always: {fault: malformed-event, after: "+c.after+"}"), Options{})
		all := events(r.send(t, "POST", chatPath, streamBody).body)
		if got := slices.IndexFunc(all, func(e string) bool { return e != "[DONE]" && e[len(e)-1] != '}' }); got != c.want {
			t.Errorf("after %s: the broken event stands at %d, want %d: %q", c.after, got, c.want, all)
		}
	}
}

func TestUsageForms(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		want      []int // completion tokens, as reported
	}{
		{"answer: {text: a b c}", []int{3}},
		{"answer: {text: a b c}\nalways: usage-on-finish", []int{3}},
		{"answer: {text: a b c}\nalways: usage-repeated", []int{1, 2, 3, 3}},
		{"answer: {text: a b c, usage: {completion: 20}}", []int{20}},
	} {
		r := newRig(t, oneUpstream(c.behaviour), Options{})
		got := tell(t, r.send(t, "POST", chatPath, streamBody).body)
		if diff := cmp.Diff(c.want, got.usages); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.behaviour, diff)
		}
	}
}

func TestPreludeComesFirst(t *testing.T) {
	r := newRig(t, oneUpstream("always: prelude"), Options{})
	all := events(r.send(t, "POST", chatPath, streamBody).body)
	const want = `{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`
	if len(all) == 0 || all[0] != want {
		t.Errorf("got %q", all)
	}
}
