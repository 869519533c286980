package anthropic

import (
	"context"
	"io"
	"strconv"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/anthropic"
)

// messages is a call that a client makes in the protocol itself.
type messages struct {
	exchange.Exchange
	adapter *Adapter
	payload *wire.Payload
}

var _ exchange.Reader = (*messages)(nil)

// Whole implements [exchange.Reader].
func (x *messages) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	answer, err := wire.CheckAnswer(x.payload.Endpoint, raw.B)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	out := provider.NewBuffer()
	out.B = answer.AppendWithModel(out.B, raw.B, x.Call.PublicModel)
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: usage(answer.Usage), Refused: answer.Refused, Free: out.Free,
	}, nil
}

// Folded implements [exchange.Reader].
func (x *messages) Folded() (*provider.Response, error) {
	as, err := x.inOtherForm()
	if err != nil {
		return nil, err
	}
	return as.Folded()
}

// Streamed implements [exchange.Reader].
func (x *messages) Streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := &stream{messages: x, ctx: ctx, events: x.Events(body), answer: wire.NewStream(x.Call.PublicModel)}
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

// Unfolded implements [exchange.Reader].
func (x *messages) Unfolded(ctx context.Context) (*provider.Response, error) {
	as, err := x.inOtherForm()
	if err != nil {
		return nil, err
	}
	return as.Unfolded(ctx)
}

// inOtherForm returns the reader of an answer that came as a stream and should not
// have, or the reverse.
func (x *messages) inOtherForm() (exchange.Reader, error) {
	if x.payload.Endpoint == wire.CountTokens {
		return nil, provider.BadAnswer("the upstream answered with a stream to a question for a count", nil)
	}
	return x.adapter.translator.Reader(&x.Exchange)
}

func usage(u wire.Usage) engine.Usage {
	return engine.Usage{
		Known: u.Known, Input: u.InputTokens, Output: u.OutputTokens,
		Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens, Reasoning: u.ReasoningTokens,
	}
}
