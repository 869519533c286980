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
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/sse"
)

// responsesPaths are the paths below …/responses, by responses.Endpoint.
var responsesPaths = [...]string{responses.Create: "", responses.Compact: "compact", responses.InputTokens: "input_tokens"}

// creation is a call of an endpoint of package wire/responses.
type creation struct {
	exchange
	payload *responses.Payload
}

var _ reader = (*creation)(nil)

// respond calls one of the endpoints of package wire/responses.
func (a *Adapter) respond(ctx context.Context, c *provider.Call, p *responses.Payload) (*provider.Response, error) {
	buf := provider.NewBuffer()
	buf.B = p.Request.Rewrite(buf.B, p.Body, a.model)
	body := provider.NewBody(buf)
	defer body.Release()
	x := &creation{exchange: exchange{Adapter: a, call: c, about: &p.Request.Owned}, payload: p}
	return x.run(ctx, x, &provider.Outgoing{
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

// whole implements reader.
func (x *creation) whole() (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := raw.Fill(x.body, x.resp.ContentLength, x.answerLimit); err != nil {
		return nil, x.broken(err)
	}
	return x.checked(raw.B)
}

// folded implements reader.
func (x *creation) folded() (*provider.Response, error) {
	raw, err := responses.FoldStream(sse.NewReader(x.body, x.eventLimit), int(min(x.answerLimit, math.MaxInt32)))
	if err != nil {
		return nil, x.undecodable(err)
	}
	return x.checked(raw)
}

// checked makes the response of a JSON answer's text.
func (x *creation) checked(raw []byte) (*provider.Response, error) {
	answer, err := responses.CheckAnswer(x.payload.Endpoint, raw)
	if err != nil {
		return nil, x.undecodable(err)
	}
	x.issued(&answer.Owned, keeps(x.payload.Request))
	out := provider.NewBuffer()
	out.B = answer.AppendWithModel(out.B, raw, x.call.PublicModel)
	header := x.responseHeader(jsonType)
	header["Content-Length"] = []string{strconv.Itoa(len(out.B))}
	return &provider.Response{
		Header: header, Body: out.B, Usage: responsesUsage(answer.Usage), Refused: answer.Refused, Free: out.Free,
	}, nil
}

// streamed implements reader.
func (x *creation) streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := newEventStream(ctx, &x.exchange, body)
	s.keeps = keeps(x.payload.Request)
	return &provider.Response{Header: x.responseHeader(eventsType), Stream: s}, nil
}

// unfolded implements reader.
func (x *creation) unfolded(ctx context.Context) (*provider.Response, error) {
	raw := provider.NewBuffer()
	defer raw.Free()
	if err := raw.Fill(x.body, x.resp.ContentLength, x.answerLimit); err != nil {
		return nil, x.broken(err)
	}
	if _, err := responses.CheckAnswer(x.payload.Endpoint, raw.B); err != nil {
		return nil, x.undecodable(err)
	}
	events := responses.UnfoldAnswer(raw.B)
	if events == nil {
		return nil, provider.BadAnswer("the upstream's answer is not whole, and no stream", nil)
	}
	return x.streamed(ctx, bytes.NewReader(events))
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
