package openai

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// Values of Content-Type, shared by all answers.
var (
	jsonType   = []string{typeJSON}
	eventsType = []string{typeEvents}
)

// whole reads one JSON answer.
func (x *chat) whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := raw.Fill(x.body, x.resp.ContentLength, x.answerLimit); err != nil {
		return nil, x.broken(err)
	}
	return x.checked(raw.B)
}

// checked makes the response of a JSON answer's text.
func (x *chat) checked(raw []byte) (*provider.Response, error) {
	answer, err := wire.CheckAnswer(x.payload.Endpoint, raw)
	if err != nil {
		return nil, x.undecodable(err)
	}
	out := provider.NewBuffer()
	out.B = answer.AppendWithModel(out.B, raw, x.call.PublicModel)
	header := x.responseHeader(jsonType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: usage(answer.Usage), Refused: answer.Refused, Free: out.Free,
	}, nil
}

// folded makes one JSON answer of a stream that nobody asked for.
func (x *chat) folded() (*provider.Response, error) {
	limit := int(min(x.answerLimit, math.MaxInt32))
	events := sse.NewReader(x.body, x.eventLimit)
	raw, err := wire.FoldStream(x.payload.Endpoint, events, x.call.PublicModel, limit)
	if err != nil {
		return nil, x.undecodable(err)
	}
	return x.checked(raw)
}

// unfolded makes a stream of one JSON answer, where a stream was asked for.
func (x *chat) unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := raw.Fill(x.body, x.resp.ContentLength, x.answerLimit); err != nil {
		return nil, x.broken(err)
	}
	if _, err := wire.CheckAnswer(x.payload.Endpoint, raw.B); err != nil {
		return nil, x.undecodable(err)
	}
	var events []byte
	for _, chunk := range wire.UnfoldAnswer(raw.B, x.call.PublicModel, true) {
		events = sse.Append(events, "", chunk)
	}
	return x.streamed(ctx, bytes.NewReader(append(events, tail...)))
}
