package translate

import (
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
)

// chatDecoder reads the stream of an upstream that speaks chat completions. The
// package of the protocol judges its chunks and mends what services do
// differently; chat_queue.go puts parts in order.
type chatDecoder struct {
	r        *Request
	stream   *openai.Stream
	scratch  []byte
	queue    chatQueue
	texts    [3]pieces
	plain    bool // thoughts are told as plain text
	started  bool
	finished bool
	ended    bool // nothing follows
	usage    Usage
	counted  openai.Usage // of which usage was told
}

func newChatDecoder(r *Request, up *Upstream) Decoder {
	d := &chatDecoder{r: r, stream: openai.NewStream(openai.Chat, "", true), queue: chatQueue{r: r}}
	if up.ThinkTags {
		d.stream.SplitThinking()
	}
	return d
}

// Event implements [Decoder].
func (d *chatDecoder) Event(dst []Event, name, data []byte) ([]Event, error) {
	if d.ended {
		return dst, nil
	}
	out, info, err := d.stream.Chunk(d.scratch[:0], data)
	d.scratch = out
	switch {
	case err != nil:
		d.ended = true
		return dst, err
	case info.Fault != nil:
		d.ended = true
		if d.started {
			dst = d.told(dst)
		}
		return append(dst, Event{Kind: EventError, Fault: info.Fault}), nil
	case string(name) == "error" && !info.Done:
		const statusOK = 200
		f := fault.Parse(statusOK, data)
		d.ended = true
		return append(dst, Event{Kind: EventError, Fault: &f}), nil
	case info.Done:
		return d.done(dst)
	case info.Drop:
		return dst, nil
	}
	return d.chunk(dst, out)
}

// done takes the end of the stream. Some services leave out why the answer ended.
func (d *chatDecoder) done(dst []Event) (out []Event, err error) {
	d.scratch = d.stream.AppendFinish(d.scratch[:0])
	if len(d.scratch) > 0 {
		if dst, err = d.chunk(dst, d.scratch); err != nil {
			return dst, err
		}
	}
	return d.Close(dst), nil
}

// chunk reads a chunk that has been mended.
func (d *chatDecoder) chunk(dst []Event, data []byte) ([]Event, error) {
	a := chatAnswer{reader: newAnswerReader(data), r: d.r, halves: &d.texts, args: d.queue.callPieces}
	start := Event{Kind: EventStart}
	spoke := false
	a.object(func() {
		switch string(a.Key()) {
		case "id":
			start.ID = a.text()
		case "created":
			start.Created = a.tokens()
		case "usage":
			a.audioTokens(&d.usage)
		case "choices":
			a.array(func(i int) {
				if spoke = true; i == 0 {
					a.object(a.choice)
				}
			})
		}
	})
	if err := a.finish(); err != nil {
		return dst, fault.Undecodable("%v", err)
	}
	if spoke && !d.started {
		d.started = true
		dst = append(dst, start)
	}
	if !d.finished {
		var err error
		if dst, err = d.message(dst, &a); err != nil {
			return dst, err
		}
	}
	return d.told(dst), nil
}

// told tells the usage if there is a new one.
func (d *chatDecoder) told(dst []Event) []Event {
	u := d.stream.Usage()
	if !u.Known || u == d.counted {
		return dst
	}
	d.counted = u
	audio := d.usage
	d.usage = chatUsage(u)
	d.usage.InputAudio, d.usage.OutputAudio = audio.InputAudio, audio.OutputAudio
	return append(dst, Event{Kind: EventUsage, Usage: d.usage})
}

// message takes what a delta adds to the message and, at the end, why it ended.
func (d *chatDecoder) message(dst []Event, a *chatAnswer) ([]Event, error) {
	q := &d.queue
	d.plain = d.plain || a.thoughts.plain != ""
	dst = q.text(dst, KindReasoning, a.thoughts.plain)
	for i := range a.thoughts.details {
		dst = q.detail(dst, &a.thoughts.details[i], !d.plain)
	}
	dst = q.text(dst, KindText, a.content)
	if a.signature.Data != "" {
		q.sign(KindText, a.signature)
	}
	dst = q.text(dst, KindRefusal, a.refusal)
	for i := range a.images {
		dst = q.whole(dst, &a.images[i])
	}
	for i := range a.calls {
		dst = q.call(dst, &a.calls[i])
	}
	if a.reason != "" {
		dst = q.flush(dst, &d.texts)
		d.finished = true
		dst = append(dst, Event{Kind: EventFinish, End: End{Finish: chatFinish(a.reason, q.calls > 0), Reason: a.reason}})
	}
	d.ended = q.err != nil
	return dst, q.err
}

// Close implements [Decoder].
func (d *chatDecoder) Close(dst []Event) []Event {
	if !d.finished || d.ended {
		return dst
	}
	d.ended = true
	return append(dst, Event{Kind: EventEnd})
}
