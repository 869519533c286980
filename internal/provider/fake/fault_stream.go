package fake

import (
	"slices"
	"strings"
	"time"
)

// streamFaults are about the events of a stream: their order, their pace and
// their end.
func streamFaults() []faultDef {
	row := func(name, does string, play func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "stream", Does: does, Applies: AppliesStream, Params: append(p, "headers"), Matrix: matrix},
			play:      play,
		}
	}
	tuned := func(name string, applies Applies, does string, tune func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "stream", Does: does, Applies: applies, Params: append(p, "headers"), Matrix: matrix},
			tune:      tune,
		}
	}
	words := func() []string { return params("code", "type", "message") }
	return []faultDef{
		row("comments-only", "comments (Anthropic: pings), delay apart (default 1s), and never an event", playComments, params("delay"), "F10"),
		tuned("slow-first-token", AppliesAny, "the first content comes after delay (default 5s)", func(x *exchange) {
			x.pace.FirstToken, x.pace.Jitter = x.delay(defaultSlow), 0
		}, params("delay"), "F11"),
		tuned("gaps", AppliesStream, "a wait of delay (default 5s) before each further piece of content", func(x *exchange) {
			x.pace.PerToken, x.pace.Jitter = x.delay(defaultSlow), 0
		}, params("delay"), "F15", "F16"),
		tuned("long-stream", AppliesStream, "count pieces of content (default 1000), delay apart (default 100ms): long, and always moving", func(x *exchange) {
			x.answer.pieces = fitPieces(x.beh.answer.pieces, x.count(defaultLong))
			x.answer.reasoning, x.answer.calls = nil, nil
			x.pace.PerToken, x.pace.Jitter = x.delay(defaultPace), 0
		}, params("count", "delay"), "F16"),
		row("error-first", "an error object as the first event", errorAt(func(*exchange) int { return 0 }), words(), "F17"),
		row("role-then-error", "the role, then an error object", errorAt(func(x *exchange) int { return x.out.upTo(0) }), words(), "F18"),
		row("content-then-error", "so many content events, then an error object", errorAt(func(x *exchange) int {
			return x.out.upTo(x.after())
		}), params("after", "code", "type", "message"), "F19"),
		row("eof-after-content", "so many content events, then a clean end: no finish reason, no last event", endAt(func(x *exchange) int {
			return x.out.upTo(x.after())
		}), params("after"), "F20"),
		row("eof-no-events", "headers, then a clean end", endAt(func(*exchange) int { return 0 }), nil, "F21"),
		row("done-only", "the last event ([DONE]; Anthropic's message_stop; Gemini has none) and nothing else", func(x *exchange) {
			if x.openStream() {
				x.farewell()
			}
		}, nil, "F21"),
		row("eof-after-role", "the role (Anthropic's message_start; Gemini sends none), then a clean end", endAt(func(x *exchange) int { return x.out.upTo(0) }), nil, "F22"),
		row("no-done", "a whole stream without its last event ([DONE], message_stop), ended cleanly", endAt(func(x *exchange) int { return x.out.first(frameDone) }), nil, "F23"),
		row("stall-after-finish", "a whole stream without its last event ([DONE], message_stop), then nothing, ever", func(x *exchange) {
			if end := x.render().first(frameDone); x.openStream() && x.events(0, end) {
				x.hang()
			}
		}, nil, "F23"),
		row("after-done", "a whole stream, then another event and garbage after its end", func(x *exchange) {
			x.giveStream()
			at := x.out.first(frameContent)
			if x.burst(at, min(at+1, len(x.out.frames))) {
				x.event("", []byte("{garbage"))
			}
		}, nil, "F24"),
		row("malformed-event", "a whole stream with an event that is no JSON in it, after so many content events (0: before the role)", playMalformed, params("after"), "F25"),
		tuned("huge-event", AppliesStream, "a whole stream whose content is one event of size bytes (default 1MiB)", func(x *exchange) {
			x.answer.reasoning, x.answer.calls = nil, nil
			x.answer.pieces = []string{strings.Repeat("a", int(min(x.size(defaultEvent), maxEvent)))}
		}, params("size"), "F26"),
		tuned("usage-repeated", AppliesStream, "a whole stream that reports a growing usage in every content event; Anthropic's in several message_delta", func(x *exchange) {
			x.answer.usageForm = usageRepeated
		}, nil),
		tuned("usage-on-finish", AppliesStream, "a whole stream that reports its usage with the finish reason and nowhere else", func(x *exchange) {
			x.answer.usageForm = usageOnFinish
		}, nil),
		tuned("role-repeated", AppliesStream, "a whole stream with the role in every content event; Anthropic's with message_start twice", func(x *exchange) {
			x.answer.roleEach = true
		}, nil),
		only(AppliesMessages, row("spliced", "so many content events, then a whole stream of another message, as a proxy that tried again behind the client's back", playSpliced, params("after"))),
		tuned("prelude", AppliesStream, "a whole stream that begins with an event without choices, as Azure's does; Anthropic's with a ping, Gemini's with the usage alone", func(x *exchange) {
			x.answer.prelude = true
		}, nil),
	}
}

// The measures of faults about streams.
const (
	defaultSlow     = 5 * time.Second
	defaultPace     = 100 * time.Millisecond
	defaultLong     = 1000
	defaultComments = time.Second
	defaultEvent    = 1 << 20
	maxEvent        = 1 << 30
)

// errorAt sends the events before an index, then an error, then a clean end.
func errorAt(index func(*exchange) int) func(*exchange) {
	return func(x *exchange) {
		x.render()
		at := index(x)
		if !x.openStream() || !x.events(0, at) {
			return
		}
		if x.write(x.call.proto.broken(nil, x.call, &x.answer, x.said(sayBroken), at)) {
			x.flush()
		}
	}
}

// endAt sends the events before an index, then a clean end.
func endAt(index func(*exchange) int) func(*exchange) {
	return func(x *exchange) {
		x.render()
		if x.openStream() {
			x.events(0, index(x))
			x.flush()
		}
	}
}

// playComments keeps a connection alive and says nothing.
func playComments(x *exchange) {
	if !x.openStream() {
		return
	}
	sign := []byte(": keep-alive\n\n")
	if x.call.endpoint == EndpointMessages {
		sign = appendEvent(nil, x.call, eventPing, []byte(pingData))
	}
	for ok := true; ok; {
		ok = x.write(sign) && x.flush() && x.wait(x.delay(defaultComments))
	}
}

// playMalformed sends a whole stream with a broken event in it.
func playMalformed(x *exchange) {
	out := x.render()
	at := 0
	if x.after() > 0 {
		at = out.upTo(x.after())
	}
	model := min(at, len(out.frames)-1)
	broken := slices.Concat(out.data(model)[:20], []byte(`,"choices":[{"delta":{"content":"bro`))
	if x.openStream() && x.events(0, at) && x.event(out.frames[model].name, broken) {
		x.events(at, len(out.frames))
	}
}

// playSpliced sends the beginning of one stream and the whole of another.
func playSpliced(x *exchange) {
	at := x.render().upTo(x.after())
	if !x.openStream() || !x.events(0, at) {
		return
	}
	x.answer.id = x.dice.appendHex(nil, 2)
	x.out.reset()
	x.call.proto.render(x.out, x.call, &x.answer)
	x.events(0, len(x.out.frames))
}
