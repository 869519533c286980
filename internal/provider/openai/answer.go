package openai

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// Whole implements [exchange.Reader].
func (x *chat) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	return x.checked(raw.B)
}

// checked makes the response of a JSON answer's text.
func (x *chat) checked(raw []byte) (*provider.Response, error) {
	answer, err := wire.CheckAnswer(x.payload.Endpoint, raw)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	out := provider.NewBuffer()
	if out.B, err = x.appendAnswer(out.B, raw, &answer); err != nil {
		out.Free()
		return nil, x.Undecodable(err)
	}
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: usage(answer.Usage), Refused: answer.Refused, Free: out.Free,
	}, nil
}

// appendAnswer appends the client's text of an answer.
func (x *chat) appendAnswer(dst, raw []byte, answer *wire.Answer) ([]byte, error) {
	switch {
	case x.payload.Endpoint == wire.Embeddings:
		return answer.AppendEmbeddings(dst, raw, x.Call.PublicModel, x.payload.Request.EncodingFormat)
	case x.payload.Endpoint == wire.Chat && x.thinkTags:
		answer.SplitThinking(raw)
	}
	return answer.AppendWithModel(dst, raw, x.Call.PublicModel), nil
}

// Folded implements [exchange.Reader].
func (x *chat) Folded() (*provider.Response, error) {
	limit := int(min(x.AnswerLimit(), math.MaxInt32))
	raw, err := wire.FoldStream(x.payload.Endpoint, x.Unread(), x.Call.PublicModel, limit)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	return x.checked(raw)
}

// Unfolded implements [exchange.Reader].
func (x *chat) Unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	if _, err := wire.CheckAnswer(x.payload.Endpoint, raw.B); err != nil {
		return nil, x.Undecodable(err)
	}
	var events []byte
	for _, chunk := range wire.UnfoldAnswer(raw.B, x.Call.PublicModel, true) {
		events = sse.Append(events, "", chunk)
	}
	return x.Streamed(ctx, bytes.NewReader(append(events, tail...)))
}
