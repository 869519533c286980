package translate

import (
	"bytes"
	"slices"
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
)

// responsesDecoder reads a stream. Items are announced, grow and end; some
// services end one when the next has begun, or tell a text only at its end. A
// part of the neutral form is what one item tells of one kind: all that a
// reasoning item thinks, one text of a message, one call.
//
// Texts go out as they come. If an item goes on after another one began, the
// rest of its text is a further part. Arguments of a call must not be torn: what
// others tell meanwhile waits until the call has ended.
type responsesDecoder struct {
	r      *Request
	stream *responses.Stream
	frame  []byte // what a client of the same protocol would get; not used

	started  bool
	over     bool
	finished bool
	called   bool
	items    map[int64]*streamItem

	open     *streamItem // whose part is open, nil if none is
	openKind Kind
	openPart int64
	text     pieces // of the open part

	held      []*streamEvent // that wait for the end of a call
	heldBytes int
}

// streamItem is what a stream has told of an item.
type streamItem struct {
	kind   string
	callID string
	begun  bool // a part of it was opened
	done   bool
	told   []place
	// standIn: the call is one of a function that stands in for a custom tool, so
	// the input is known only once all arguments have come.
	standIn   bool
	arguments strings.Builder
	pieces    pieces // of the arguments of a stand-in
}

// place names a part of an item.
type place struct {
	list string
	part int64
}

// Limits of what a decoder keeps.
const (
	maxHeldBytes   = 4 << 20 // of events that wait
	maxStreamItems = 4096
)

func newResponsesDecoder(r *Request, _ *Upstream) Decoder {
	return &responsesDecoder{r: r, stream: responses.NewStream(""), items: map[int64]*streamItem{}}
}

// Event implements [Decoder].
func (d *responsesDecoder) Event(dst []Event, name, data []byte) ([]Event, error) {
	if d.over || d.finished {
		return dst, nil
	}
	var info responses.EventInfo
	var err error
	d.frame, info, err = d.stream.Event(d.frame[:0], name, data)
	switch {
	case err != nil:
		return dst, err
	case info.Fault != nil:
		d.over = true
		return append(dst, Event{Kind: EventError, Fault: info.Fault}), nil
	case info.Drop:
		return dst, nil
	}
	ev := readStreamEvent(data, name)
	if d.inCall() && ev.index >= 0 && d.items[ev.index] != d.open {
		if d.heldBytes += len(data); d.heldBytes > maxHeldBytes {
			return dst, fault.Undecodable("too much is told while a call has not ended")
		}
		d.held = append(d.held, readStreamEvent(bytes.Clone(data), name))
		return dst, nil
	}
	if dst, err = d.apply(dst, ev); err != nil {
		return dst, err
	}
	return d.release(dst)
}

// inCall reports whether a call is open.
func (d *responsesDecoder) inCall() bool { return d.open != nil && d.openKind == KindCall }

// release takes the events that waited, as long as they are not about another
// item than an open call.
func (d *responsesDecoder) release(dst []Event) (_ []Event, err error) {
	for {
		at := slices.IndexFunc(d.held, func(ev *streamEvent) bool {
			return !d.inCall() || d.items[ev.index] == d.open
		})
		if at < 0 {
			return dst, nil
		}
		ev := d.held[at]
		d.held = slices.Delete(d.held, at, at+1)
		if len(d.held) == 0 {
			d.heldBytes = 0
		}
		if dst, err = d.apply(dst, ev); err != nil {
			return dst, err
		}
	}
}

// apply takes one event.
func (d *responsesDecoder) apply(dst []Event, ev *streamEvent) ([]Event, error) {
	if !d.started && (ev.response.there || ev.index >= 0) {
		d.started = true
		dst = append(dst, Event{Kind: EventStart, ID: ev.response.id, Created: ev.response.created})
	}
	if ev.isFinal() {
		return d.end(dst, ev)
	}
	if ev.index < 0 {
		return dst, nil
	}
	it := d.items[ev.index]
	if it == nil {
		if len(d.items) == maxStreamItems {
			return dst, fault.Undecodable("there are more than %d items", maxStreamItems)
		}
		it = &streamItem{}
		d.items[ev.index] = it
	}
	switch ev.kind {
	case "response.output_item.added":
		dst = d.added(dst, it, ev.item)
	case "response.output_item.done":
		dst = d.itemDone(dst, it, ev.item)
	case "response.output_text.delta":
		dst = d.words(dst, it, KindText, ev, ev.delta)
	case "response.output_text.done":
		dst = d.rest(dst, it, KindText, ev)
	case "response.refusal.delta":
		dst = d.words(dst, it, KindRefusal, ev, ev.delta)
	case "response.refusal.done":
		dst = d.rest(dst, it, KindRefusal, ev)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		dst = d.words(dst, it, KindReasoning, ev, ev.delta)
	case "response.reasoning_text.done", "response.reasoning_summary_text.done":
		dst = d.rest(dst, it, KindReasoning, ev)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		dst = d.input(dst, it, ev.delta)
	}
	return dst, nil
}

// words takes a piece of a text.
func (d *responsesDecoder) words(dst []Event, it *streamItem, kind Kind, ev *streamEvent, piece []byte) []Event {
	if !isText(piece) {
		return dst
	}
	at := place{ev.list, ev.part}
	isNew := !slices.Contains(it.told, at)
	goesOn := d.open == it && d.openKind == kind && (kind == KindReasoning || d.openPart == ev.part)
	if !goesOn {
		dst = d.close(dst)
		d.open, d.openKind, d.openPart = it, kind, ev.part
		dst = append(dst, Event{Kind: EventPart, Part: Part{Kind: kind}})
	}
	if kind == KindReasoning && isNew && len(it.told) > 0 && goesOn {
		dst = append(dst, Event{Kind: EventDelta, Text: reasoningBreak})
	}
	it.begun = true
	if isNew {
		it.told = append(it.told, at)
	}
	if text := d.text.text(newAnswerReader(piece)); text != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: text})
	}
	return dst
}

// rest takes all of a text at its end, where no piece of it came before.
func (d *responsesDecoder) rest(dst []Event, it *streamItem, kind Kind, ev *streamEvent) []Event {
	if slices.Contains(it.told, place{ev.list, ev.part}) {
		return dst
	}
	return d.words(dst, it, kind, ev, ev.whole)
}

// close ends the open part. A call of a function that got no arguments has none.
func (d *responsesDecoder) close(dst []Event) []Event {
	if d.open == nil {
		return dst
	}
	rest := d.text.rest()
	if it := d.open; d.openKind == KindCall {
		switch {
		case it.standIn:
			rest = unwrapCustom(it.arguments.String() + it.pieces.rest())
		case len(it.told) == 0 && it.kind == "function_call":
			rest = "{}"
		}
	}
	if rest != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: rest})
	}
	d.open = nil
	return append(dst, Event{Kind: EventPartEnd})
}

// added takes the announcement of an item. Of all but calls nothing is known
// yet.
func (d *responsesDecoder) added(dst []Event, it *streamItem, item *outputItem) []Event {
	if item == nil || it.kind != "" {
		return dst
	}
	it.kind = item.kind
	if !item.isCall() {
		return dst
	}
	return d.beginCall(dst, it, item)
}

func (it *outputItem) isCall() bool {
	return it.kind == "function_call" || it.kind == "custom_tool_call"
}

func (d *responsesDecoder) beginCall(dst []Event, it *streamItem, item *outputItem) []Event {
	dst = d.close(dst)
	call := item.call(d.r)
	call.Arguments = ""
	it.kind, it.callID, it.begun = item.kind, item.callID, true
	it.standIn = call.Custom && item.kind == "function_call"
	d.called = true
	d.open, d.openKind = it, KindCall
	return append(dst, Event{Kind: EventPart, Part: Part{Kind: KindCall, Call: call}})
}

// input takes a piece of the arguments of a call.
func (d *responsesDecoder) input(dst []Event, it *streamItem, piece []byte) []Event {
	if d.open != it || d.openKind != KindCall || !isText(piece) {
		return dst
	}
	it.told = append(it.told[:0], place{})
	if it.standIn {
		it.arguments.WriteString(it.pieces.text(newAnswerReader(piece)))
		return dst
	}
	if text := d.text.text(newAnswerReader(piece)); text != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: text})
	}
	return dst
}

// itemDone takes the end of an item, which repeats it whole: what of it was not
// told yet is told now.
func (d *responsesDecoder) itemDone(dst []Event, it *streamItem, item *outputItem) []Event {
	if it.done || item == nil {
		return dst
	}
	it.done = true
	switch {
	case item.isCall():
		dst = d.callDone(dst, it, item)
	case item.kind == "reasoning":
		dst = d.reasoningDone(dst, it, item)
	case item.kind == "message":
		for i := range item.content {
			if slices.Contains(it.told, place{"content", int64(i)}) {
				continue
			}
			dst = d.wholePart(dst, item.content[i])
		}
	case item.kind == "image_generation_call" && item.image != "":
		dst = d.wholePart(dst, Part{Kind: KindImage, Media: item.media()})
	}
	if d.open == it {
		dst = d.close(dst)
	}
	return dst
}

func (d *responsesDecoder) callDone(dst []Event, it *streamItem, item *outputItem) []Event {
	if !it.begun {
		dst = d.beginCall(dst, it, item)
	}
	if d.open != it {
		return dst
	}
	if text := item.arguments; len(it.told) == 0 && text != "" {
		it.told = append(it.told, place{})
		if it.standIn {
			it.arguments.WriteString(text)
		} else {
			dst = append(dst, Event{Kind: EventDelta, Text: text})
		}
	}
	return d.close(dst)
}

func (d *responsesDecoder) reasoningDone(dst []Event, it *streamItem, item *outputItem) []Event {
	signature := openAISignature(item.id, item.encrypted)
	thoughts := strings.Join(item.thoughts, reasoningBreak)
	switch {
	case !it.begun && thoughts != "":
		return d.wholePart(dst, Part{Kind: KindReasoning, Text: thoughts, Signature: signature})
	case signature.Data == "":
		return dst
	case it.begun && d.open == it:
		return append(dst, Event{Kind: EventSignature, Part: Part{Kind: KindReasoning, Signature: signature}})
	}
	return d.wholePart(dst, Part{Kind: KindReasoning, Redacted: true, Signature: signature})
}

// wholePart tells a part that has all come at once.
func (d *responsesDecoder) wholePart(dst []Event, p Part) []Event {
	dst = d.close(dst)
	if p.Redacted || p.Kind == KindImage {
		return append(dst, Event{Kind: EventPart, Part: p}, Event{Kind: EventPartEnd})
	}
	dst = append(dst, Event{Kind: EventPart, Part: Part{Kind: p.Kind}})
	if p.Text != "" {
		dst = append(dst, Event{Kind: EventDelta, Text: p.Text})
	}
	if p.Signature.Data != "" {
		dst = append(dst, Event{Kind: EventSignature, Part: Part{Kind: p.Kind, Signature: p.Signature}})
	}
	return append(dst, Event{Kind: EventPartEnd})
}

// end takes the final event, which repeats the whole answer. Its output counts
// only where the stream told no items: the places in it are not always those
// that the events name.
func (d *responsesDecoder) end(dst []Event, ev *streamEvent) (_ []Event, err error) {
	for more := true; more; more = len(d.held) > 0 {
		if d.inCall() {
			dst = d.endCall(dst, ev.response.output)
		}
		if dst, err = d.release(dst); err != nil {
			return dst, err
		}
	}
	if len(d.items) == 0 {
		for _, item := range ev.response.output {
			dst = d.itemDone(dst, &streamItem{}, item)
		}
	}
	dst = d.close(dst)
	d.finished = true
	if u := responsesUsage(d.stream.Usage()); u.Known {
		dst = append(dst, Event{Kind: EventUsage, Usage: u})
	}
	status := ev.response.status
	if status == "" {
		status = strings.TrimPrefix(ev.kind, "response.")
	}
	end := responsesEnd(status, ev.response.reason, nil)
	if d.called && end.Finish == FinishStop {
		end.Finish = FinishCalls
	}
	return append(dst, Event{Kind: EventFinish, End: end}), nil
}

// endCall ends the open call with what the final event says of it.
func (d *responsesDecoder) endCall(dst []Event, output []*outputItem) []Event {
	for _, item := range output {
		if item.isCall() && item.callID == d.open.callID {
			return d.itemDone(dst, d.open, item)
		}
	}
	return d.close(dst)
}

// Close implements [Decoder].
func (d *responsesDecoder) Close(dst []Event) []Event {
	if d.over || !d.finished {
		return dst
	}
	return append(dst, Event{Kind: EventEnd})
}
