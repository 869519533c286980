package openai

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/openai"
)

// rawExchange is one call of a byte route as it runs.
type rawExchange struct {
	call
	raw *wire.RawPayload
}

// pass calls a byte route.
func (a *Adapter) pass(ctx context.Context, c *provider.Call, p *wire.RawPayload) (*provider.Response, error) {
	buf := provider.NewBuffer()
	buf.B = p.Request.Rewrite(buf.B, p.Body, a.model)
	body := provider.NewBody(buf)
	defer body.Release()
	x := rawExchange{a.newCall(c, nil), p}
	if err := x.Send(ctx, &provider.Outgoing{URL: a.rawURLs[p.Endpoint], Header: a.rawHeader(p), Body: body}); err != nil {
		return nil, err
	}
	out, err := x.answer(ctx)
	if err != nil || out.Stream == nil {
		_ = x.Body.Close()
	}
	return out, err
}

// rawHeader returns the headers of a request: ready ones, unless the body is a
// form or the client has some that may pass.
func (a *Adapter) rawHeader(p *wire.RawPayload) http.Header {
	h := passed.Onto(a.raw.Next(), p.Header)
	if form := p.Request.FormType(); form != "" {
		h = maps.Clone(h)
		h["Content-Type"] = []string{form}
	}
	return h
}

// answer reads what came back. What is neither JSON nor events is handed on as
// it comes, unless it can only be the page of something that stands in between.
func (x *rawExchange) answer(ctx context.Context) (*provider.Response, error) {
	switch status := x.Resp.StatusCode; {
	case status >= http.StatusBadRequest:
		return nil, x.ErrorAnswer()
	case status < http.StatusOK || status > http.StatusNonAuthoritativeInfo:
		return nil, exchange.NoAnswer(status)
	}
	if err := x.Decode(); err != nil {
		return nil, err
	}
	plain := x.Body == x.Resp.Body
	kind := exchange.MediaType(x.Resp.Header)
	if kind == "" {
		var err error
		if kind, err = x.sniff(); err != nil {
			return nil, exchange.Broken(err)
		}
	}
	switch {
	case strings.Contains(kind, "html"):
		return nil, exchange.WebPage()
	case kind == exchange.TypeEvents:
		return x.events(ctx), nil
	case strings.HasSuffix(kind, "json"), strings.HasPrefix(kind, "text/") && !x.raw.Request.Text:
		return x.whole()
	}
	return x.passed(ctx, plain), nil
}

// sniff tells the kind of an answer that does not say what it is, by its first
// bytes.
func (x *rawExchange) sniff() (string, error) {
	in := bufio.NewReader(x.Body)
	x.Body = exchange.Over(in, x.Body)
	for n := 1; n <= in.Size(); n++ {
		head, err := in.Peek(n)
		switch {
		case errors.Is(err, io.EOF):
			return typeBytes, nil // of nothing but blanks, if of anything
		case err != nil:
			return "", err
		case exchange.IsSpace(head[n-1]):
			continue
		case head[n-1] == '{':
			return exchange.TypeJSON, nil
		case head[n-1] == '<':
			return "text/html", nil
		default:
			return typeBytes, nil
		}
	}
	return typeBytes, nil
}

// whole reads one JSON answer.
func (x *rawExchange) whole() (*provider.Response, error) {
	out := provider.NewBuffer()
	answer, err := x.check(out)
	if err != nil {
		out.Free()
		return nil, err
	}
	if answer.NamesModel() {
		raw := out
		out = provider.NewBuffer()
		out.B = answer.AppendWithModel(out.B, raw.B, x.Call.PublicModel)
		raw.Free()
	}
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Status: x.Resp.StatusCode, Body: out.B, Usage: usage(answer.Usage), Free: out.Free,
	}, nil
}

// check reads a JSON answer into a buffer and judges it.
func (x *rawExchange) check(into *provider.Buffer) (wire.RawAnswer, error) {
	if err := x.Fill(into); err != nil {
		return wire.RawAnswer{}, err
	}
	answer, err := wire.CheckRaw(into.B)
	if err != nil {
		return wire.RawAnswer{}, x.Undecodable(err)
	}
	return answer, nil
}

// passed makes the response of a body that is handed on as it comes; plain says
// that the upstream did not encode it.
func (x *rawExchange) passed(ctx context.Context, plain bool) *provider.Response {
	header := x.ResponseHeader([]string{x.contentType()})
	if plain && x.Resp.ContentLength > 0 {
		header["Content-Length"] = []string{strconv.FormatInt(x.Resp.ContentLength, 10)}
	}
	return &provider.Response{
		Header: header, Status: x.Resp.StatusCode, Raw: true, Stream: newRawBody(ctx, &x.call),
	}
}

// contentType returns that of the upstream as it came, parameters included, if
// it is fit to be shown.
func (x *rawExchange) contentType() string {
	const longest = 128
	values := x.Resp.Header["Content-Type"]
	if len(values) != 1 || len(values[0]) > longest || strings.TrimSpace(values[0]) == "" {
		return typeBytes
	}
	return values[0]
}
