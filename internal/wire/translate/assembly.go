package translate

import (
	"gatewright/internal/wire/fault"
)

// maxWaiting bounds, in bytes, what a stream makes its reader keep: what waits
// for its turn, and arguments until they are whole.
const maxWaiting = 32 << 20

func tooMuchWaits() error {
	return fault.Undecodable("more than %d bytes wait for the end of a part", maxWaiting)
}

// assembly keeps the order of parts that a decoder owes to encoders: one is open
// at a time, calls have arguments, and those of custom tools are their input.
type assembly struct {
	open   bool
	kind   Kind
	custom bool
	some   bool   // of a call: a piece of the arguments came
	held   []byte // the arguments of a custom tool, which are told at the end
}

// begin begins a part, after the end of the one that is open.
func (a *assembly) begin(dst []Event, p *Part) []Event {
	dst = a.end(dst)
	a.open, a.kind, a.custom, a.some = true, p.Kind, p.Call.Custom, false
	return append(dst, Event{Kind: EventPart, Part: *p})
}

// delta adds a piece to the open part.
func (a *assembly) delta(dst []Event, text string) []Event {
	switch {
	case text == "" || !a.open:
		return dst
	case a.kind == KindCall && a.custom:
		a.held = append(a.held, text...)
		return dst
	}
	a.some = true
	return append(dst, Event{Kind: EventDelta, Text: text})
}

// signature tells the signature of the open part.
func (a *assembly) signature(dst []Event, s Signature) []Event {
	if !a.open || s.Data == "" {
		return dst
	}
	return append(dst, Event{Kind: EventSignature, Part: Part{Kind: a.kind, Signature: s}})
}

// end ends the open part, if there is one.
func (a *assembly) end(dst []Event) []Event {
	if !a.open {
		return dst
	}
	a.open = false
	switch {
	case a.kind == KindCall && a.custom:
		if input := unwrapCustom(string(a.held)); input != "" {
			dst = append(dst, Event{Kind: EventDelta, Text: input})
		}
		a.held = a.held[:0]
	case a.kind == KindCall && !a.some:
		dst = append(dst, Event{Kind: EventDelta, Text: "{}"})
	}
	return append(dst, Event{Kind: EventPartEnd})
}
