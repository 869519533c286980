package translate

import (
	"hash/fnv"
	"strconv"
	"strings"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/fault"
)

// decodeMessagesAnswer reads a message.
func decodeMessagesAnswer(body []byte, r *Request, up *Upstream) (*Answer, error) {
	checked, err := anthropic.CheckAnswer(anthropic.Messages, body)
	if err != nil {
		return nil, err
	}
	a := &Answer{Usage: messagesUsage(checked.Usage)}
	a.End = End{Finish: messagesFinish(checked.StopReason), Reason: checked.StopReason}
	m := messagesReader{reader: newAnswerReader(body), r: r}
	var explanation string
	m.object(func() {
		switch string(m.Key()) {
		case "id":
			a.ID = m.text()
		case "content":
			a.Parts = ownSignatures(m.content())
		case "stop_sequence":
			a.End.StopSequence = m.text()
		case "stop_details":
			explanation = m.explanation()
		}
	})
	if err := m.finish(); err != nil {
		return nil, fault.Undecodable("%v", err)
	}
	plan := planMessagesFormat(r, up)
	answer := plan.tool
	calls, answerAt := 0, -1
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Kind == KindText && plan.instruction != "" {
			p.Text = new(fence).trim(p.Text)
		}
		if p.Kind != KindCall {
			continue
		}
		if answer != nil && p.Call.Name == answer.Name {
			*p, answerAt = Part{Kind: KindText, Text: p.Call.Arguments}, i
			continue
		}
		calls++
		resolveCall(&p.Call, r, fitMessagesName)
		if p.Call.Custom {
			p.Call.Arguments = unwrapCustom(p.Call.Arguments)
		}
	}
	if answerAt >= 0 {
		a.Parts = onlyAnswer(a.Parts, answerAt)
	}
	switch {
	case a.End.Finish == FinishCalls && calls == 0:
		a.End.Finish = FinishStop
	case a.End.Finish == FinishStop && calls > 0:
		a.End.Finish = FinishCalls
	}
	if a.End.Finish == FinishFilter && explanation != "" {
		a.Parts = append(a.Parts, Part{Kind: KindRefusal, Text: explanation})
	}
	return a, nil
}

// explanation reads the words of a refusal.
func (r *reader) explanation() (words string) {
	r.object(func() {
		if string(r.Key()) == "explanation" {
			words = r.text()
		}
	})
	return words
}

// onlyAnswer drops the texts that a model says beside an answer in the form that
// the client wants, which is part number at.
func onlyAnswer(parts []Part, at int) []Part {
	out := parts[:0]
	for i := range parts {
		if parts[i].Kind != KindText || i == at {
			out = append(out, parts[i])
		}
	}
	return out
}

// encodeMessagesAnswer writes a message for a client.
func encodeMessagesAnswer(dst []byte, a *Answer, r *Request, model string) []byte {
	w := writer{b: append(dst, '{')}
	w.key("id")
	w.text(messageID(a))
	w.textMember("type", "message")
	w.textMember("role", "assistant")
	w.key("model")
	w.text(model)
	w.key("content")
	w.open('[')
	var calls, refused, said bool
	for i := range a.Parts {
		p := &a.Parts[i]
		w.answerBlock(p, r, a.ID)
		calls = calls || p.Kind == KindCall
		refused = refused || p.Kind == KindRefusal
		said = said || p.Kind == KindText && p.Text != ""
	}
	w.close(']')
	w.key("stop_reason")
	w.text(messagesReason(a.End, calls, refused && !said))
	w.stopSequence(&a.End)
	w.key("usage")
	w.messagesUsage(&a.Usage)
	w.close('}')
	return w.b
}

func (w *writer) stopSequence(end *End) {
	w.key("stop_sequence")
	if end.StopSequence == "" {
		w.raw([]byte("null"))
	} else {
		w.text(end.StopSequence)
	}
}

// wantsThoughts reports whether a client of Messages gets what the model thinks.
// The service tells it to those who ask; others may well take the first block
// for the answer.
func (r *Request) wantsThoughts() bool {
	t := &r.Thinking
	asks := t.Adaptive || t.Budget > 0 || t.Effort != EffortDefault && t.Effort != EffortNone
	return asks && t.Summary != "none"
}

// answerBlock writes a part of an answer as a block. The protocol has no media
// that a model makes.
func (w *writer) answerBlock(p *Part, r *Request, answer string) {
	switch p.Kind {
	case KindText, KindRefusal:
		if p.Text != "" {
			w.open('{')
			w.textMember("type", "text")
			w.textMember("text", p.Text)
			w.close('}')
		}
	case KindReasoning:
		if r.wantsThoughts() {
			w.thinkingBlock(p)
		}
		return
	case KindCall:
		w.open('{')
		w.textMember("type", "tool_use")
		w.key("id")
		w.text(messagesAnswerID(p.Call.ID, answer))
		w.key("name")
		w.text(p.Call.Name)
		w.key("input")
		arguments := p.Call.Arguments
		if !isObject(arguments) {
			arguments = objectArguments(arguments)
		}
		w.raw([]byte(arguments))
		w.close('}')
	case KindImage, KindAudio, KindVideo, KindDocument, KindResult:
		return
	}
	if keepsSignature(p, r) {
		w.signatureBehind(p.Signature)
	}
}

// keepsSignature reports whether a part that is no thought is followed by its
// signature: that of a call always, since its maker refuses the call without.
func keepsSignature(p *Part, r *Request) bool {
	return p.Signature.Data != "" && (p.Kind == KindCall || r.wantsThoughts())
}

// messageID returns the id of a message in the form that the protocol has: the
// upstream's, or one made of what the answer says.
func messageID(a *Answer) string {
	if a.ID != "" {
		return fitMessageID(a.ID)
	}
	h := fnv.New64a()
	for i := range a.Parts {
		_, _ = h.Write([]byte(a.Parts[i].Text + a.Parts[i].Call.ID + a.Parts[i].Call.Arguments))
	}
	return "msg_" + strconv.FormatUint(h.Sum64(), 36)
}

// fitMessageID returns an upstream's id as the id of a message.
func fitMessageID(id string) string {
	const prefix = "msg_"
	if strings.HasPrefix(id, prefix) {
		return id
	}
	return prefix + fitMessagesID(id)
}
