package anthropic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/provider/translation"
	wire "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/translate"
)

// Config says how one deployment is called.
type Config struct {
	// BaseURL is the address before /messages. A query in it is kept.
	BaseURL string
	// Model is the upstream's name of the model.
	Model string
	// Version is the interface version of requests that are not a client's own; ""
	// = the oldest.
	Version string
	// Keys are the provider's credentials; nil = none is sent.
	Keys *provider.Keyring
	// Header holds configured headers; they go before everything but the
	// credential. Betas are joined with those of the client.
	Header http.Header
	// Client makes the calls. It is shared by the deployments of a provider.
	Client *provider.Client
	// CountTokens says that the upstream counts the tokens of a request; else they
	// are estimated.
	CountTokens bool
	// Translation is what is known of the model for requests of other protocols;
	// its Model and Version are those of the Config.
	Translation translate.Upstream
	// AnswerLimit bounds an answer that is held whole, decoded, in bytes; 0 = 32
	// MiB.
	AnswerLimit int64
	// EventLimit bounds one event of a stream, in bytes; 0 = 16 MiB.
	EventLimit int
}

// The headers of the protocol.
const (
	headerVersion = "Anthropic-Version"
	headerBeta    = "Anthropic-Beta"
)

// paths are the paths below the base URL, by wire.Endpoint.
var paths = [...]string{wire.Messages: "messages", wire.CountTokens: "messages/count_tokens"}

// Adapter calls one deployment. It is immutable and used in parallel.
type Adapter struct {
	service    *exchange.Service
	translator *translation.Translator
	model      string
	urls       [len(paths)]*url.URL
	counts     bool
	fixed      bool // the interface version is configured as a header

	plain, streams *exchange.Headers // of requests for JSON, and for a stream
}

var _ provider.Adapter = (*Adapter)(nil)

// New returns the adapter of a deployment, or every fault of its configuration.
func New(c Config) (*Adapter, error) {
	service, base, err := exchange.New(&exchange.Config{
		BaseURL: c.BaseURL, Keys: c.Keys, Header: c.Header, Client: c.Client,
		AnswerLimit: c.AnswerLimit, EventLimit: c.EventLimit,
	})
	if c.Version == "" {
		c.Version = wire.Version20230601
	}
	if err := errors.Join(err, checkVersion(c.Version)); err != nil {
		return nil, err
	}
	a := &Adapter{service: service, model: c.Model, counts: c.CountTokens, fixed: c.Header[headerVersion] != nil}
	for e, path := range paths {
		a.urls[e] = base.JoinPath(path)
	}
	version := http.Header{headerVersion: {c.Version}}
	a.plain = service.Headers(exchange.TypeJSON, version)
	a.streams = service.Headers(exchange.TypeEvents, version)
	c.Translation.Version = c.Version
	t := translation.Config{
		Service: service, Protocol: translate.Messages, Model: c.Model, Upstream: c.Translation, Route: a.route,
	}
	if c.CountTokens {
		t.Count = &translation.Counter{Route: a.countRoute, Body: question, Member: "input_tokens"}
	}
	a.translator = translation.New(t)
	return a, nil
}

// checkVersion refuses what cannot be a version: it goes into a header.
func checkVersion(version string) error {
	if strings.Trim(version, "0123456789-") != "" {
		return fmt.Errorf("version %q is no date: write for example %s", version, wire.Version20230601)
	}
	return nil
}

// String names the deployment's model only: the adapter holds secrets.
func (a *Adapter) String() string { return "anthropic:" + a.model }

// GoString implements [fmt.GoStringer], for the same reason.
func (a *Adapter) GoString() string { return a.String() }

// Do implements [provider.Adapter].
func (a *Adapter) Do(ctx context.Context, c *provider.Call) (*provider.Response, error) {
	p, ok := c.Request.Payload.(*wire.Payload)
	switch {
	case !ok:
		return a.translator.Do(ctx, c)
	case p.Endpoint == wire.CountTokens && !a.counts:
		return a.translator.Estimate(c)
	}
	buf := provider.NewBuffer()
	buf.B = p.Request.Rewrite(buf.B, p.Body, wire.Rewrite{Model: a.model})
	body := provider.NewBody(buf)
	defer body.Release()
	x := &messages{Exchange: exchange.Exchange{Service: a.service, Call: c}, adapter: a, payload: p}
	return x.Run(ctx, x, &provider.Outgoing{URL: a.urls[p.Endpoint], Header: a.header(p.Header, c.Request.Stream), Body: body})
}

// ready returns the headers of a request that is not a client's own.
func (a *Adapter) ready(stream bool) http.Header {
	if stream {
		return a.streams.Next()
	}
	return a.plain.Next()
}

// header returns the headers of a client's own request: with its interface
// version, unless that is configured, and with its betas.
func (a *Adapter) header(client http.Header, stream bool) http.Header {
	ready := exchange.Trace.Onto(a.ready(stream), client)
	version, betas := client[headerVersion], client[headerBeta]
	if a.fixed || len(version) == 0 || slices.Equal(version, ready[headerVersion]) {
		version = ready[headerVersion]
		if len(betas) == 0 {
			return ready
		}
	}
	own := maps.Clone(ready)
	own[headerVersion] = version
	if len(betas) > 0 {
		own[headerBeta] = []string{strings.Join(slices.Concat(ready[headerBeta], betas), ",")}
	}
	return own
}

// route is the way of a translated request.
func (a *Adapter) route(client http.Header, stream bool) (*url.URL, http.Header) {
	return a.urls[wire.Messages], exchange.Trace.Onto(a.ready(stream), client)
}

// countRoute is the way of the question how many tokens a translated request has.
func (a *Adapter) countRoute(client http.Header) (*url.URL, http.Header) {
	return a.urls[wire.CountTokens], exchange.Trace.Onto(a.ready(false), client)
}
