package translate

import (
	"bytes"
	"encoding/json"

	"gatewright/internal/wire/fault"
)

// chatQueue puts the parts of a streamed answer in order. Pieces of several
// calls may mix: the one that has begun is told to its end, which is where its
// arguments are whole, and what comes for others in the meantime waits.
type chatQueue struct {
	r        *Request
	assembly assembly
	parts    []*chatPiece // in the order in which they began
	done     int          // of them that have ended; the next one is open
	waiting  int          // bytes
	calls    int
	ofCalls  map[string]Signature // told apart from the calls, by their ids
	halves   map[int64]*pieces    // of the arguments of calls, by their indexes
	err      error
}

// chatPiece is a part of a streamed answer.
type chatPiece struct {
	part   Part
	index  int64  // of a call
	id     string // of a call, as the upstream named it
	wait   []byte // what came while another part was open
	args   []byte // of the open call, to see when they are whole
	signed Signature
}

// last returns the part that began last, if it is of a kind and has not ended.
func (q *chatQueue) last(kind Kind) *chatPiece {
	if n := len(q.parts); n > q.done && q.parts[n-1].part.Kind == kind {
		return q.parts[n-1]
	}
	return nil
}

// text adds a piece of a text, a thought or a refusal.
func (q *chatQueue) text(dst []Event, kind Kind, text string) []Event {
	if text == "" {
		return dst
	}
	p := q.last(kind)
	if p == nil {
		p = &chatPiece{part: Part{Kind: kind}}
		dst = q.begin(dst, p)
	}
	return q.add(dst, p, text)
}

// sign tells the signature of the part of a kind that began last.
func (q *chatQueue) sign(kind Kind, s Signature) {
	if p := q.last(kind); p != nil {
		p.signed = s
	}
}

// whole adds a part that has no pieces.
func (q *chatQueue) whole(dst []Event, part *Part) []Event {
	return q.begin(dst, &chatPiece{part: *part})
}

// detail takes what a maker tells of a thought; words says that its text is told
// nowhere else.
func (q *chatQueue) detail(dst []Event, d *reasoningDetail, words bool) []Event {
	encrypted := d.kind == "reasoning.encrypted"
	switch {
	case encrypted && d.origin == OriginGoogle && d.id != "":
		q.signCall(d.id, Signature{Origin: OriginGoogle, Data: d.data})
		return dst
	case encrypted && d.origin == OriginAnthropic:
		return q.whole(dst, &Part{Kind: KindReasoning, Redacted: true, Signature: redactedSignature(d.data)})
	case words:
		dst = q.text(dst, KindReasoning, d.text)
	}
	signature := Signature{Origin: d.origin, ID: d.id, Data: d.signature}
	if encrypted {
		signature.Data = d.data
	}
	if signature.Data == "" || signature.Origin == OriginNone {
		return dst
	}
	if q.last(KindReasoning) == nil {
		return q.whole(dst, &Part{Kind: KindReasoning, Redacted: true, Signature: signature})
	}
	q.sign(KindReasoning, signature)
	return dst
}

// signCall tells the signature of a call, which may not have begun.
func (q *chatQueue) signCall(id string, s Signature) {
	if q.ofCalls == nil {
		q.ofCalls = map[string]Signature{}
	}
	q.ofCalls[id] = s
	for _, p := range q.parts[q.done:] {
		if p.part.Kind == KindCall && p.id == id {
			p.signed = s
		}
	}
}

// findCall returns the call with an index, nil if it has not begun.
func (q *chatQueue) findCall(index int64) (p *chatPiece, ended bool) {
	for i, p := range q.parts {
		if p.part.Kind == KindCall && p.index == index {
			return p, i < q.done
		}
	}
	return nil, false
}

// callPieces returns what joins the pieces of a call's arguments.
func (q *chatQueue) callPieces(index int64) *pieces {
	if q.halves == nil {
		q.halves = map[int64]*pieces{}
	}
	p := q.halves[index]
	if p == nil {
		p = &pieces{}
		q.halves[index] = p
	}
	return p
}

// call adds a piece of a call.
func (q *chatQueue) call(dst []Event, c *chatCall) []Event {
	p, ended := q.findCall(c.index)
	switch {
	case ended && !isBlank(c.call.Arguments):
		q.err = fault.Undecodable("a call goes on after its arguments were whole")
		return dst
	case ended:
		return dst
	case p == nil:
		p = &chatPiece{index: c.index, id: c.call.ID, signed: q.ofCalls[c.call.ID]}
		p.part = Part{Kind: KindCall, Call: Call{ID: c.call.ID, Name: c.call.Name}}
		resolveCall(&p.part.Call, q.r, fitOpenAIName)
		q.calls++
		dst = q.begin(dst, p)
	}
	if c.signature.Data != "" {
		p.signed = c.signature
	}
	return q.add(dst, p, c.call.Arguments)
}

// begin adds a part. It opens at once unless another one is open and not whole.
func (q *chatQueue) begin(dst []Event, p *chatPiece) []Event {
	q.parts = append(q.parts, p)
	if q.done == len(q.parts)-1 {
		return q.open(dst)
	}
	return q.settle(dst)
}

// add adds a piece to a part.
func (q *chatQueue) add(dst []Event, p *chatPiece, text string) []Event {
	if text == "" {
		return dst
	}
	if p == q.parts[q.done] {
		if p.part.Kind == KindCall {
			p.args = append(p.args, text...)
		}
		if max(len(p.args), len(q.assembly.held)) > maxWaiting {
			q.err = tooMuchWaits()
		}
		return q.assembly.delta(dst, text)
	}
	p.wait = append(p.wait, text...)
	if q.waiting += len(text); q.waiting > maxWaiting {
		q.err = tooMuchWaits()
	}
	return q.settle(dst)
}

// settle ends the open part, and those after it, as long as they are whole and
// another one waits.
func (q *chatQueue) settle(dst []Event) []Event {
	for q.done < len(q.parts)-1 && q.parts[q.done].isWhole() {
		dst = q.open(q.end(dst))
	}
	return dst
}

// open opens the next part and tells what has waited for it.
func (q *chatQueue) open(dst []Event) []Event {
	p := q.parts[q.done]
	dst = q.assembly.begin(dst, &p.part)
	if len(p.wait) == 0 {
		return dst
	}
	text := string(p.wait)
	q.waiting -= len(p.wait)
	p.wait = nil
	return q.add(dst, p, text)
}

// end ends the open part.
func (q *chatQueue) end(dst []Event) []Event {
	p := q.parts[q.done]
	dst = q.assembly.end(q.assembly.signature(dst, p.signed))
	p.args = nil
	q.done++
	return dst
}

// flush ends all parts.
func (q *chatQueue) flush(dst []Event, texts *[3]pieces) []Event {
	for i, kind := range [...]Kind{KindText, KindReasoning, KindRefusal} {
		dst = q.text(dst, kind, texts[i].rest())
	}
	for q.done < len(q.parts) {
		p := q.parts[q.done]
		if p.part.Kind == KindCall {
			dst = q.add(dst, p, q.callPieces(p.index).rest())
		}
		if dst = q.end(dst); q.done < len(q.parts) {
			dst = q.open(dst)
		}
	}
	return dst
}

// isWhole reports whether nothing more can come for the part that is open: it is
// no call, or its arguments are an object.
func (p *chatPiece) isWhole() bool {
	if p.part.Kind != KindCall {
		return true
	}
	args := bytes.TrimRight(p.args, " \t\r\n")
	return len(args) > 0 && args[len(args)-1] == '}' && json.Valid(args)
}
