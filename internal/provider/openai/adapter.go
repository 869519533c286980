package openai

import (
	"context"
	"net/http"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/anthropic"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
)

const (
	typeAny   = "*/*"
	typeBytes = "application/octet-stream"
)

// passed are the client's headers that these upstreams may see.
var passed = append(exchange.Passed{"Openai-Beta"}, exchange.Trace...)

// call is one call as it runs.
type call struct {
	exchange.Exchange
	*Adapter
	about *responses.Owned // what the request names of the upstream's state; nil = nothing
}

// newCall begins a call; about is what the request names of the upstream's
// state.
func (a *Adapter) newCall(c *provider.Call, about *responses.Owned) call {
	x := call{Exchange: exchange.Exchange{Service: a.service, Call: c}, Adapter: a, about: about}
	if x.names() {
		x.Amend = aboutState
	}
	return x
}

// Do implements [provider.Adapter].
func (a *Adapter) Do(ctx context.Context, c *provider.Call) (*provider.Response, error) {
	switch p := c.Request.Payload.(type) {
	case *wire.Payload:
		if p.Endpoint == wire.Chat && !a.native.Has(engine.EndpointChat) {
			return a.translator.Do(ctx, c)
		}
		if int(p.Endpoint) < len(endpoints) {
			return a.ask(ctx, c, p)
		}
	case *anthropic.Payload:
		return a.translator.Do(ctx, c)
	case *responses.Payload:
		switch {
		case int(p.Endpoint) >= len(responsesPaths):
		case a.native.Has(responsesEndpoints[p.Endpoint]):
			return a.respond(ctx, c, p)
		default:
			return a.translator.Do(ctx, c)
		}
	case *wire.RawPayload:
		if int(p.Endpoint) < len(a.rawURLs) {
			return a.pass(ctx, c, p)
		}
	case *wire.Stored:
		return a.fetch(ctx, c, p)
	}
	return nil, &provider.Failure{Class: engine.ClassLocal, Message: "the request is not of OpenAI's protocol"}
}

// ask calls one of the endpoints of package wire/openai.
func (a *Adapter) ask(ctx context.Context, c *provider.Call, p *wire.Payload) (*provider.Response, error) {
	buf := provider.NewBuffer()
	rewrite := a.rewrite
	rewrite.AddStreamUsage = p.Request.Stream && a.includeUsage
	buf.B = p.Request.Rewrite(buf.B, p.Body, rewrite)
	body := provider.NewBody(buf)
	defer body.Release()
	x := &chat{call: a.newCall(c, nil), payload: p}
	return x.Run(ctx, x, &provider.Outgoing{URL: a.urls[p.Endpoint], Header: a.header(p.Header, p.Request.Stream), Body: body})
}

// chat is a call of an endpoint of package wire/openai.
type chat struct {
	call
	payload *wire.Payload
}

var _ exchange.Reader = (*chat)(nil)

// header returns the headers of a request: ready ones, unless the client has
// some that may pass.
func (a *Adapter) header(client http.Header, stream bool) http.Header {
	return passed.Onto(a.ready(stream), client)
}

// ready returns the headers of a request.
func (a *Adapter) ready(stream bool) http.Header {
	if stream {
		return a.streams.Next()
	}
	return a.plain.Next()
}

func usage(u wire.Usage) engine.Usage {
	return engine.Usage{
		Known: u.Known, Input: u.InputTokens, Output: u.OutputTokens,
		Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens, Reasoning: u.ReasoningTokens,
	}
}
