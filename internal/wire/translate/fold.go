package translate

// Fold puts the events of a stream together to a whole answer, for a client that
// did not ask for a stream. The zero value is ready; it is not safe for
// concurrent use.
type Fold struct {
	answer Answer
	text   []byte // of the open part
	ended  bool
}

// Add adds an event. Errors and pings are not part of an answer and ignored.
func (f *Fold) Add(ev *Event) {
	a := &f.answer
	var open *Part
	if n := len(a.Parts); n > 0 {
		open = &a.Parts[n-1]
	}
	switch ev.Kind {
	case EventStart:
		a.ID, a.Created = ev.ID, ev.Created
	case EventPart:
		a.Parts = append(a.Parts, ev.Part)
		f.text = f.text[:0]
	case EventDelta:
		f.text = append(f.text, ev.Text...)
	case EventSignature:
		if open != nil {
			open.Signature = ev.Part.Signature
		}
	case EventPartEnd:
		f.close(open)
	case EventUsage:
		a.Usage = ev.Usage
	case EventFinish:
		a.End = ev.End
	case EventEnd:
		f.ended = true
	case EventError, EventPing:
	}
}

// close ends the open part; a text that says nothing is none.
func (f *Fold) close(open *Part) {
	a := &f.answer
	switch {
	case open == nil:
	case open.Kind == KindCall:
		open.Call.Arguments += string(f.text)
	default:
		open.Text += string(f.text)
		if isEmptyText(open) {
			a.Parts = a.Parts[:len(a.Parts)-1]
		}
	}
	f.text = f.text[:0]
}

func isEmptyText(p *Part) bool {
	text := p.Kind == KindText || p.Kind == KindRefusal || p.Kind == KindReasoning
	return text && p.Text == "" && p.Signature.Data == ""
}

// Answer returns the answer, which the caller owns, and false unless the stream
// came to its end.
func (f *Fold) Answer() (*Answer, bool) { return &f.answer, f.ended }

// Unfold returns the events of a whole answer, for a client that asked for a
// stream.
func Unfold(a *Answer) []Event {
	events := []Event{{Kind: EventStart, ID: a.ID, Created: a.Created}}
	for i := range a.Parts {
		begin, text := a.Parts[i], a.Parts[i].Text
		switch begin.Kind {
		case KindCall:
			text, begin.Call.Arguments = begin.Call.Arguments, ""
		case KindText, KindRefusal, KindReasoning, KindImage, KindAudio, KindVideo, KindDocument, KindResult:
			begin.Text = ""
		}
		signature := begin.Signature
		if !begin.Redacted {
			begin.Signature = Signature{}
		}
		events = append(events, Event{Kind: EventPart, Part: begin})
		if text != "" {
			events = append(events, Event{Kind: EventDelta, Text: text})
		}
		if signature.Data != "" && !begin.Redacted {
			events = append(events, Event{Kind: EventSignature, Part: Part{Kind: begin.Kind, Signature: signature}})
		}
		events = append(events, Event{Kind: EventPartEnd})
	}
	if a.Usage.Known {
		events = append(events, Event{Kind: EventUsage, Usage: a.Usage})
	}
	return append(events, Event{Kind: EventFinish, End: a.End}, Event{Kind: EventEnd})
}
