package translate

import (
	"gatewright/internal/wire/gemini"
)

// geminiDecoder reads a stream. Parts have no beginnings and ends there: a text
// goes on as long as texts of its kind follow.
type geminiDecoder struct {
	stream gemini.Stream
	mapper geminiMapper

	started  bool
	finished bool
	over     bool // an error came
	open     bool
	kind     Kind // of the open part
	signed   bool // the open part has its signature
	usage    Usage
}

func newGeminiDecoder(r *Request, _ *Upstream) Decoder {
	return &geminiDecoder{mapper: geminiMapper{r: r}}
}

// Event implements [Decoder].
func (d *geminiDecoder) Event(dst []Event, _, data []byte) ([]Event, error) {
	if d.over {
		return dst, nil
	}
	chunk, info, err := d.stream.Chunk(data)
	switch {
	case err != nil:
		return dst, err
	case info.Fault != nil:
		d.over = true
		return append(dst, Event{Kind: EventError, Fault: info.Fault}), nil
	}
	if !d.started && (chunk.ID != "" || info.Content || len(chunk.Candidates) > 0) {
		d.started = true
		d.mapper.id = chunk.ID
		if chunk.ID == "" {
			d.mapper.id = string(data)
		}
		dst = append(dst, Event{Kind: EventStart, ID: chunk.ID})
	}
	for i := range chunk.Candidates {
		if c := &chunk.Candidates[i]; c.Index == 0 {
			dst = d.candidate(dst, c)
		}
	}
	if u := geminiUsage(d.stream.Usage()); u.Known && u != d.usage {
		d.usage = u
		dst = append(dst, Event{Kind: EventUsage, Usage: u})
	}
	if info.Finish && len(chunk.Candidates) == 0 && !d.finished { // the prompt was blocked
		dst = d.finish(dst, End{Finish: FinishFilter, Reason: chunk.BlockReason}, chunk.BlockMessage)
	}
	return dst, nil
}

func (d *geminiDecoder) candidate(dst []Event, c *gemini.Candidate) []Event {
	if d.finished {
		return dst
	}
	for i := range c.Parts {
		dst = d.part(dst, &c.Parts[i])
	}
	if gemini.FinishOf(c.Reason) == gemini.FinishNone {
		return dst
	}
	return d.finish(dst, geminiEnd(c.Reason, d.mapper.calls > 0), c.Message)
}

// finish ends the answer. What the service says of a refusal is told as one.
func (d *geminiDecoder) finish(dst []Event, end End, message string) []Event {
	d.finished = true
	dst = d.end(dst)
	if end.Finish == FinishFilter && message != "" {
		dst = append(dst, Event{Kind: EventPart, Part: Part{Kind: KindRefusal}}, Event{Kind: EventDelta, Text: message}, Event{Kind: EventPartEnd})
	}
	return append(dst, Event{Kind: EventFinish, End: end})
}

// end ends the open part.
func (d *geminiDecoder) end(dst []Event) []Event {
	if !d.open {
		return dst
	}
	d.open = false
	return append(dst, Event{Kind: EventPartEnd})
}

func (d *geminiDecoder) part(dst []Event, p *gemini.Part) []Event {
	signature := googleSignature(p.Signature)
	kind := geminiTextKind(p)
	if kind == KindText || kind == KindReasoning {
		return d.text(dst, kind, p.Text, signature)
	}
	if p.Kind == gemini.PartOther {
		return dst
	}
	dst = d.end(dst)
	one := d.mapper.whole(p)
	one.Signature = signature
	arguments := one.Call.Arguments
	one.Call.Arguments = ""
	dst = append(dst, Event{Kind: EventPart, Part: one})
	if arguments != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: arguments})
	}
	return append(dst, Event{Kind: EventPartEnd})
}

// text takes a piece of a text. A signature that comes with nothing belongs to
// the text before it.
func (d *geminiDecoder) text(dst []Event, kind Kind, text string, signature Signature) []Event {
	if text == "" && signature.Data == "" {
		return dst
	}
	if goesOn := d.open && !d.signed && (d.kind == kind || text == ""); !goesOn {
		dst = d.end(dst)
		if text == "" {
			redacted := Part{Kind: KindReasoning, Redacted: true, Signature: signature}
			return append(dst, Event{Kind: EventPart, Part: redacted}, Event{Kind: EventPartEnd})
		}
		d.open, d.kind, d.signed = true, kind, false
		dst = append(dst, Event{Kind: EventPart, Part: Part{Kind: kind}})
	}
	if text != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: text})
	}
	if signature.Data != "" {
		d.signed = true
		dst = append(dst, Event{Kind: EventSignature, Part: Part{Kind: d.kind, Signature: signature}})
	}
	return dst
}

// Close implements [Decoder].
func (d *geminiDecoder) Close(dst []Event) []Event {
	if d.over || !d.finished || !d.stream.Finished() {
		return dst
	}
	return append(dst, Event{Kind: EventEnd})
}
