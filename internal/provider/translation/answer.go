package translation

import (
	"context"
	"io"
	"strconv"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/translate"
)

// answer makes the client's answer of what the upstream sent.
type answer struct {
	exchange.Exchange
	in      *translate.Codec // of the client
	up      *translate.Codec
	about   *translate.Upstream
	request *translate.Request
}

var _ exchange.Reader = (*answer)(nil)

func (t *Translator) newAnswer(x exchange.Exchange, in *inbound, r *translate.Request) *answer {
	return &answer{Exchange: x, in: in.codec, up: t.codec, about: &t.Upstream, request: r}
}

// Whole implements [exchange.Reader].
func (x *answer) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	a, err := x.read(raw)
	if err != nil {
		return nil, err
	}
	return x.encoded(a), nil
}

// read reads one JSON answer, which shares memory with the buffer.
func (x *answer) read(into *provider.Buffer) (*translate.Answer, error) {
	if err := x.Fill(into); err != nil {
		return nil, err
	}
	a, err := x.up.DecodeAnswer(into.B, x.request, x.about)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	return a, nil
}

// encoded makes the response of an answer.
func (x *answer) encoded(a *translate.Answer) *provider.Response {
	if a.Created == 0 {
		a.Created = x.Call.Clock().Unix()
	}
	out := provider.NewBuffer()
	out.B = x.in.EncodeAnswer(out.B, a, x.request, x.Call.PublicModel)
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: usage(a.Usage), Refused: a.Refused(), Free: out.Free,
	}
}

// Folded implements [exchange.Reader].
func (x *answer) Folded() (*provider.Response, error) {
	decoder := x.up.NewDecoder(x.request, x.about)
	in := x.Events(x.Body)
	var fold translate.Fold
	var list []translate.Event
	size := int64(0)
	for {
		ev, err := in.Next()
		if isEnd(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if size += int64(len(ev.Data)); size > x.AnswerLimit() {
			return nil, exchange.Broken(provider.ErrTooLarge)
		}
		if list, err = decoder.Event(list[:0], ev.Name, ev.Data); err != nil {
			return nil, x.Undecodable(err)
		}
		if err := x.add(&fold, list); err != nil {
			return nil, err
		}
		if a, whole := fold.Answer(); whole {
			return x.encoded(a), nil
		}
	}
	if err := x.add(&fold, decoder.Close(list[:0])); err != nil {
		return nil, err
	}
	a, whole := fold.Answer()
	if !whole {
		return nil, exchange.Broken(io.ErrUnexpectedEOF)
	}
	return x.encoded(a), nil
}

// add folds events in. An error among them is the call's, unless the answer has
// ended before it: what comes then changes nothing.
func (x *answer) add(fold *translate.Fold, list []translate.Event) error {
	for i := range list {
		ev := &list[i]
		if ev.Kind != translate.EventError {
			fold.Add(ev)
			continue
		}
		if a, _ := fold.Answer(); a.End.Finish == translate.FinishNone {
			return x.Failure(ev.Fault)
		}
		fold.Add(&translate.Event{Kind: translate.EventEnd})
	}
	return nil
}

// Unfolded implements [exchange.Reader].
func (x *answer) Unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	a, err := x.read(raw)
	if err != nil {
		return nil, err
	}
	if a.Created == 0 {
		a.Created = x.Call.Clock().Unix()
	}
	encoder := x.in.NewEncoder(x.request, x.Call.PublicModel)
	var frames []byte
	for _, ev := range translate.Unfold(a) {
		frames = encoder.Event(frames, &ev)
	}
	s := &ready{answer: x, ctx: ctx, frames: frames, refused: a.Refused(), usage: usage(a.Usage)}
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

func usage(u translate.Usage) engine.Usage {
	return engine.Usage{
		Known: u.Known, Input: u.Input, Output: u.Output,
		Cached: u.Cached, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
	}
}
