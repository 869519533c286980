package translate

import "gatewright/internal/wire/fault"

// Answer is a whole answer of any protocol.
type Answer struct {
	// ID is the upstream's id, empty if it gave none. Encoders give it the form
	// that their protocol wants.
	ID string
	// Created is a Unix time in seconds, 0 if not known.
	Created int64
	// Parts are texts, reasoning, refusals, calls and media in order.
	Parts []Part
	End   End
	Usage Usage
}

// Refused reports whether the answer holds nothing but a refusal, or the content
// policy ended it before it said anything.
func (a *Answer) Refused() bool {
	refused := a.End.Finish == FinishFilter
	for i := range a.Parts {
		switch p := &a.Parts[i]; {
		case p.Kind == KindRefusal:
			refused = true
		case p.Kind != KindText || p.Text != "":
			return false
		}
	}
	return refused
}

// Finish says why an answer ended.
type Finish uint8

// The ways to end.
const (
	FinishNone   Finish = iota // it did not: a stream that broke off
	FinishStop                 // by itself or at a stop sequence
	FinishLength               // at the output limit or the end of the window
	FinishCalls                // to have tools called
	FinishFilter               // content policy: a filter, or a refusal
)

// End is the end of an answer.
type End struct {
	Finish Finish
	// Reason is the upstream's own word for it.
	Reason string
	// StopSequence is the one that was met, empty if none or not told.
	StopSequence string
}

// Usage is what an answer consumed, in tokens. Cached and CacheWrite are inside
// Input, CacheWriteLong inside CacheWrite, Reasoning inside Output.
type Usage struct {
	Input          int64
	Output         int64
	Cached         int64 // read from a prompt cache
	CacheWrite     int64 // written to a prompt cache, with whatever lifetime
	CacheWriteLong int64 // of it with a lifetime of an hour
	Reasoning      int64
	InputAudio     int64
	OutputAudio    int64
	// Known is false if the upstream did not say.
	Known bool
}

// EventKind says what an Event is.
type EventKind uint8

// The kinds of events and the fields of [Event] that they use.
const (
	// EventStart comes once, before all but pings and errors: ID, Created.
	EventStart EventKind = iota
	// EventPart begins a part: Part. A text, reasoning or refusal begins empty
	// and a call without Arguments; what has no deltas, as media and redacted
	// reasoning, is whole.
	EventPart
	// EventDelta adds to the open part: Text, which is text or a piece of the
	// arguments.
	EventDelta
	// EventSignature tells the signature of the open part: Part.Signature.
	EventSignature
	// EventPartEnd ends the open part.
	EventPartEnd
	// EventUsage tells the usage so far: Usage. It counts up; the last one is
	// right. It may come after EventFinish.
	EventUsage
	// EventFinish says that the answer is whole: End. It comes at most once, and
	// no part is open then or begins later.
	EventFinish
	// EventEnd is the end of the stream; nothing follows. It comes only after
	// EventFinish.
	EventEnd
	// EventError is an error that the upstream sent in the stream: Fault. Nothing
	// follows.
	EventError
	// EventPing keeps the connection alive.
	EventPing
)

// Event is one step of a streamed answer. Parts come one after the other and
// never overlap: each begins, grows and ends before the next begins. A decoder
// whose protocol lets pieces of several parts mix puts them in order.
type Event struct {
	Kind    EventKind
	ID      string
	Created int64
	Part    Part
	Text    string
	End     End
	Usage   Usage
	Fault   *fault.Fault
}
