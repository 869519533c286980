package openai

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
	typeAny    = "*/*"
	typeBytes  = "application/octet-stream"
)

// errorWait is how long the rest of an error's body is awaited: its status has
// come, and says most.
const errorWait = 2 * time.Second

// exchange is one call as it runs.
type exchange struct {
	*Adapter
	call  *provider.Call
	resp  *http.Response
	body  io.ReadCloser    // of resp, decoded
	about *responses.Owned // what the request names of the upstream's state; nil = nothing
}

// reader makes the response of an answer, in the text of the endpoint that was
// called.
type reader interface {
	// whole reads one JSON answer.
	whole() (*provider.Response, error)
	// folded makes one JSON answer of a stream that nobody asked for.
	folded() (*provider.Response, error)
	// streamed makes the response of an event stream. Nothing of it has been read.
	streamed(ctx context.Context, body io.Reader) (*provider.Response, error)
	// unfolded makes a stream of one JSON answer, where a stream was asked for.
	unfolded(ctx context.Context) (*provider.Response, error)
}

// Do implements [provider.Adapter].
func (a *Adapter) Do(ctx context.Context, c *provider.Call) (*provider.Response, error) {
	switch p := c.Request.Payload.(type) {
	case *wire.Payload:
		if int(p.Endpoint) < len(endpoints) {
			return a.ask(ctx, c, p)
		}
	case *responses.Payload:
		if int(p.Endpoint) < len(responsesPaths) {
			return a.respond(ctx, c, p)
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
	buf.B = p.Request.Rewrite(buf.B, p.Body, wire.Rewrite{
		Model: a.model, AddStreamUsage: p.Request.Stream && a.includeUsage, DropStreamOptions: !a.includeUsage,
	})
	body := provider.NewBody(buf)
	defer body.Release()
	x := &chat{exchange: exchange{Adapter: a, call: c}, payload: p}
	return x.run(ctx, x, &provider.Outgoing{URL: a.urls[p.Endpoint], Header: a.header(p.Header, p.Request.Stream), Body: body})
}

// chat is a call of an endpoint of package wire/openai.
type chat struct {
	exchange
	payload *wire.Payload
}

var _ reader = (*chat)(nil)

// send sends a request; what comes back is in resp and body.
func (x *exchange) send(ctx context.Context, o *provider.Outgoing) error {
	o.Again = x.call.Again
	resp, err := x.client.Send(ctx, o) //nolint:bodyclose // closed through x.body, or with the stream
	x.call.Reached = o.Reached
	if err != nil {
		return err
	}
	x.resp, x.body = resp, resp.Body
	x.call.Seen = provider.Seen{
		Status: resp.StatusCode, RequestID: provider.RequestID(resp.Header), At: x.call.Clock(), Header: resp.Header,
	}
	return nil
}

// run sends a request and reads what comes back.
func (x *exchange) run(ctx context.Context, as reader, o *provider.Outgoing) (*provider.Response, error) {
	if err := x.send(ctx, o); err != nil {
		return nil, err
	}
	out, err := x.answer(ctx, as)
	if err != nil || out.Stream == nil {
		_ = x.body.Close()
	}
	return out, err
}

// header returns the headers of a request: ready ones, unless the client has
// some that may pass.
func (a *Adapter) header(client http.Header, stream bool) http.Header {
	pair := &a.headers[max(a.keys.Turn(), 0)]
	h := pair.whole
	if stream {
		h = pair.stream
	}
	if !provider.HasPassUp(client) {
		return h
	}
	return withClients(h, client)
}

// withClients returns a copy of ready headers with those of the client's that
// may pass.
func withClients(ready, client http.Header) http.Header {
	own := maps.Clone(ready)
	for name, values := range client {
		if provider.MayPassUp(name) && own[name] == nil {
			own[name] = values
		}
	}
	return own
}

// answer reads what came back.
func (x *exchange) answer(ctx context.Context, as reader) (*provider.Response, error) {
	switch status := x.resp.StatusCode; {
	case status >= http.StatusBadRequest:
		return nil, x.errorAnswer()
	case status != http.StatusOK && status != http.StatusCreated && status != http.StatusNonAuthoritativeInfo:
		return nil, provider.BadAnswer("the upstream answered with a status that is none of an answer: "+statusText(status), nil)
	}
	decoded, err := decoded(x.resp)
	if err != nil {
		return nil, provider.BadAnswer("the upstream's answer could not be decoded", err)
	}
	x.body = decoded
	streams := x.call.Request.Stream
	switch kind := mediaType(x.resp.Header); {
	case strings.Contains(kind, "html"):
		return nil, provider.BadAnswer("the upstream answered with a web page", nil)
	case !streams && kind == typeEvents:
		return as.folded()
	case !streams:
		return as.whole()
	case kind == typeEvents:
		return as.streamed(ctx, x.body)
	case strings.HasSuffix(kind, "json"):
		return as.unfolded(ctx)
	}
	return x.sniffed(ctx, as)
}

// sniffed reads the answer to a streamed request that does not say what it is.
func (x *exchange) sniffed(ctx context.Context, as reader) (*provider.Response, error) {
	head := make([]byte, 1, 8)
	for {
		if _, err := io.ReadFull(x.body, head[:1]); err != nil {
			return nil, x.broken(err)
		}
		if !isSpace(head[0]) {
			break
		}
	}
	rest := io.MultiReader(strings.NewReader(string(head)), x.body)
	switch head[0] {
	case '{', '[':
		x.body = &decoder{Reader: rest, body: x.body}
		return as.unfolded(ctx)
	case 'd', 'e', 'i', 'r', ':', 0xef: // data, event, id, retry, a comment, a byte order mark
		return as.streamed(ctx, rest)
	}
	return nil, provider.BadAnswer("the upstream's answer is neither a stream nor JSON", nil)
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// mediaType returns the content type without its parameters, lower case.
func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "unknown"
}

// errorAnswer reads an answer with an error status. What cannot be read of its
// body does not matter: the status stands.
func (x *exchange) errorAnswer() *provider.Failure {
	hurry := time.AfterFunc(errorWait, func() { _ = x.resp.Body.Close() })
	defer hurry.Stop()
	buf := provider.NewBuffer()
	defer buf.Free()
	if body, err := decoded(x.resp); err == nil {
		x.body = body
		_ = buf.Fill(io.LimitReader(body, fault.MaxBody), x.resp.ContentLength, fault.MaxBody)
	}
	f := fault.Parse(x.resp.StatusCode, buf.B)
	return x.failure(&f)
}

// failure makes a Failure of a fault.
func (x *exchange) failure(f *fault.Fault) *provider.Failure {
	if x.names() {
		aboutState(f)
	}
	out := provider.FromFault(x.resp.StatusCode, x.resp.Header, f, x.call.Clock())
	out.Message, out.Code, out.Type, out.Param = x.mask(out.Message), x.mask(out.Code), x.mask(out.Type), x.mask(out.Param)
	out.Header = x.withoutSecrets(out.Header)
	return out
}

// broken says why a body could not be read.
func (x *exchange) broken(err error) *provider.Failure {
	if errors.Is(err, provider.ErrTooLarge) {
		return provider.BadAnswer("the upstream's answer is too large", err)
	}
	return provider.BadAnswer("the upstream broke off its answer", err)
}

// undecodable says why an answer is none.
func (x *exchange) undecodable(err error) *provider.Failure {
	if inside, ok := errors.AsType[*wire.FaultError](err); ok {
		return x.failure(&inside.Fault)
	}
	if inside, ok := errors.AsType[*responses.FaultError](err); ok {
		return x.failure(&inside.Fault)
	}
	return provider.BadAnswer("the upstream's answer is not one", err)
}

// responseHeader returns what of the upstream's headers goes to the client.
func (x *exchange) responseHeader(kind []string) http.Header {
	h := x.withoutSecrets(provider.ResponseHeader(x.resp.Header))
	if h == nil {
		h = make(http.Header, 1)
	}
	h["Content-Type"] = kind
	return h
}

func usage(u wire.Usage) engine.Usage {
	return engine.Usage{
		Known: u.Known, Input: u.InputTokens, Output: u.OutputTokens,
		Cached: u.CachedTokens, CacheWrite: u.CacheWriteTokens, Reasoning: u.ReasoningTokens,
	}
}
