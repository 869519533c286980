package openai

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
)

// responsesPaths are the paths below …/responses, by responses.Endpoint.
var responsesPaths = [...]string{responses.Create: "", responses.Compact: "compact", responses.InputTokens: "input_tokens"}

// responsesEndpoints are the engine's names of them.
var responsesEndpoints = [...]engine.Endpoint{
	responses.Create: engine.EndpointResponses, responses.Compact: engine.EndpointCompact, responses.InputTokens: engine.EndpointInputTokens,
}

// creation is a call of an endpoint of package wire/responses.
type creation struct {
	call
	payload *responses.Payload
}

var _ exchange.Reader = (*creation)(nil)

// respond calls one of the endpoints of package wire/responses.
func (a *Adapter) respond(ctx context.Context, c *provider.Call, p *responses.Payload) (*provider.Response, error) {
	buf := provider.NewBuffer()
	buf.B = p.Request.Rewrite(buf.B, p.Body, a.model)
	body := provider.NewBody(buf)
	defer body.Release()
	x := &creation{call: a.newCall(c, &p.Request.Owned), payload: p}
	return x.Run(ctx, x, &provider.Outgoing{
		URL: a.responsesURL(responsesPaths[p.Endpoint]), Header: a.header(p.Header, c.Request.Stream), Body: body,
		Once: c.Request.Async,
	})
}

// responsesURL returns the address of something below …/responses.
func (a *Adapter) responsesURL(path ...string) *url.URL {
	if len(path) == 1 && path[0] == "" {
		return a.responses
	}
	return a.responses.JoinPath(path...)
}

// Whole implements [exchange.Reader].
func (x *creation) Whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	return x.checked(raw.B)
}

// Folded implements [exchange.Reader].
func (x *creation) Folded() (*provider.Response, error) {
	raw, err := responses.FoldStream(x.Unread(), int(min(x.AnswerLimit(), math.MaxInt32)))
	if err != nil {
		return nil, x.Undecodable(err)
	}
	return x.checked(raw)
}

// checked makes the response of a JSON answer's text.
func (x *creation) checked(raw []byte) (*provider.Response, error) {
	answer, err := responses.CheckAnswer(x.payload.Endpoint, raw)
	if err != nil {
		return nil, x.Undecodable(err)
	}
	x.issued(&answer.Owned, keeps(x.payload.Request))
	out := provider.NewBuffer()
	out.B = answer.AppendWithModel(out.B, raw, x.Call.PublicModel)
	header := x.ResponseHeader(exchange.JSONType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: responsesUsage(answer.Usage), Refused: answer.Refused, Free: out.Free,
	}, nil
}

// Streamed implements [exchange.Reader].
func (x *creation) Streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := newEventStream(ctx, &x.call, body)
	s.keeps = keeps(x.payload.Request)
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

// Unfolded implements [exchange.Reader].
func (x *creation) Unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := x.Fill(raw); err != nil {
		return nil, err
	}
	if _, err := responses.CheckAnswer(x.payload.Endpoint, raw.B); err != nil {
		return nil, x.Undecodable(err)
	}
	events := responses.UnfoldAnswer(raw.B)
	if events == nil {
		return nil, provider.BadAnswer("the upstream's answer is not whole, and no stream", nil)
	}
	return x.Streamed(ctx, bytes.NewReader(events))
}

// keeps reports whether the upstream keeps the answer to a request, so that its
// names can be used later.
func keeps(r *responses.Request) bool { return r.Stored || r.Owned.Conversation != "" }

// aboutState makes a refusal the caller's that is about something that the
// request names and the upstream does not have (any more): no other deployment
// has it, and nothing is wrong with this one. Ids in a message may have been
// taken for secrets and masked, so it goes by the words around them.
func aboutState(f *fault.Fault) {
	switch {
	case f.Kind == fault.BadRequest:
		return
	case f.Param == "previous_response_id", f.Param == "conversation", strings.HasPrefix(f.Code, "previous_response_"):
	case f.Kind == fault.NotFound && (f.Param == "input" || strings.Contains(strings.ToLower(f.Message), " with id ")):
	default:
		return
	}
	f.Kind = fault.BadRequest
	if f.Status != http.StatusNotFound {
		f.Status = http.StatusBadRequest
	}
}

func responsesUsage(u responses.Usage) engine.Usage {
	return engine.Usage{
		Known: u.Known, Input: u.InputTokens, Output: u.OutputTokens,
		Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens, Reasoning: u.ReasoningTokens,
	}
}
