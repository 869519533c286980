package gemini

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/provider/translation"
	wire "gatewright/internal/wire/gemini"
	"gatewright/internal/wire/scan"
	"gatewright/internal/wire/translate"
)

// Config says how one deployment is called.
type Config struct {
	// BaseURL is the address before /models, with the version. A query in it is
	// kept.
	BaseURL string
	// Model is the upstream's name of the model, as "gemini-2.5-pro" or with a path,
	// as "tunedModels/x".
	Model string
	// Keys are the provider's credentials; nil = none is sent.
	Keys *provider.Keyring
	// Header holds configured headers; they go before everything but the
	// credential.
	Header http.Header
	// Client makes the calls. It is shared by the deployments of a provider.
	Client *provider.Client
	// Translation is what is known of the model; its Model is that of the Config.
	Translation translate.Upstream
	// AnswerLimit bounds an answer that is held whole, decoded, in bytes; 0 = 32
	// MiB.
	AnswerLimit int64
	// EventLimit bounds one event of a stream, in bytes; 0 = 16 MiB.
	EventLimit int
}

// Adapter calls one deployment. It is immutable and used in parallel.
type Adapter struct {
	translator *translation.Translator
	model      string

	generate, stream, count *url.URL
	plain, streams          *exchange.Headers // of requests for JSON, and for a stream
}

var _ provider.Adapter = (*Adapter)(nil)

// New returns the adapter of a deployment, or every fault of its configuration.
func New(c Config) (*Adapter, error) {
	service, base, err := exchange.New(&exchange.Config{
		BaseURL: c.BaseURL, Keys: c.Keys, Header: c.Header, Client: c.Client,
		AnswerLimit: c.AnswerLimit, EventLimit: c.EventLimit, ReadError: wire.ParseError,
	})
	if err != nil {
		return nil, err
	}
	a := &Adapter{model: path(c.Model)}
	if err := a.setURLs(base); err != nil {
		return nil, err
	}
	a.plain = service.Headers(exchange.TypeJSON, nil)
	a.streams = service.Headers(exchange.TypeEvents, nil)
	a.translator = translation.New(translation.Config{
		Service: service, Protocol: translate.Gemini, Model: c.Model, Upstream: c.Translation, Route: a.route,
		Count: &translation.Counter{Route: a.countRoute, Body: a.question, Member: "totalTokens"},
	})
	return a, nil
}

// path returns the path of a model: one without a collection is in the usual one.
func path(model string) string {
	if strings.Contains(model, "/") {
		return model
	}
	return "models/" + model
}

// setURLs makes the addresses of the methods of the model.
func (a *Adapter) setURLs(base *url.URL) error {
	parts := strings.Split(a.model, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("upstream_model %q cannot stand in a path: name a model, for example gemini-2.5-flash", a.model)
		}
		parts[i] = url.PathEscape(part)
	}
	last := parts[len(parts)-1]
	method := func(name string) *url.URL {
		parts[len(parts)-1] = last + ":" + name
		return base.JoinPath(parts...)
	}
	a.generate, a.stream, a.count = method("generateContent"), method("streamGenerateContent"), method("countTokens")
	query := a.stream.Query()
	query.Set("alt", "sse") // else the stream is one JSON array
	a.stream.RawQuery = query.Encode()
	return nil
}

// String names the deployment's model only: the adapter holds secrets.
func (a *Adapter) String() string { return "gemini:" + a.model }

// GoString implements [fmt.GoStringer], for the same reason.
func (a *Adapter) GoString() string { return a.String() }

// Do implements [provider.Adapter].
func (a *Adapter) Do(ctx context.Context, c *provider.Call) (*provider.Response, error) {
	return a.translator.Do(ctx, c)
}

// route is the way of a request.
func (a *Adapter) route(client http.Header, stream bool) (*url.URL, http.Header) {
	if stream {
		return a.stream, exchange.Trace.Onto(a.streams.Next(), client)
	}
	return a.generate, exchange.Trace.Onto(a.plain.Next(), client)
}

// countRoute is the way of the question how many tokens a request has.
func (a *Adapter) countRoute(client http.Header) (*url.URL, http.Header) {
	return a.count, exchange.Trace.Onto(a.plain.Next(), client)
}

// question makes the question for a count: the whole request in an envelope,
// which must name its model.
func (a *Adapter) question(request []byte) []byte {
	const head = `{"generateContentRequest":{"model":`
	out := append(make([]byte, 0, len(head)+len(a.model)+len(request)+8), head...)
	out = scan.AppendString(out, a.model)
	if rest := request[1:]; len(rest) > 1 {
		out = append(append(out, ','), rest...)
	} else {
		out = append(out, '}')
	}
	return append(out, '}')
}
