package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/provider/translation"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/translate"
)

// Config says how one deployment is called.
type Config struct {
	// BaseURL is the address before /chat/completions. A query in it is kept.
	BaseURL string
	// Model is the upstream's name of the model.
	Model string
	// Keys are the provider's credentials; nil = none is sent.
	Keys *provider.Keyring
	// Header holds configured headers; they go before everything but the
	// credential.
	Header http.Header
	// Client makes the calls. It is shared by the deployments of a provider.
	Client *provider.Client
	// DeploymentPaths asks for Azure's form of paths, below the base URL:
	// /openai/deployments/{model}/chat/completions.
	DeploymentPaths bool
	// APIVersion is the query parameter api-version; "" = none.
	APIVersion string
	// IncludeUsage says that the upstream understands
	// stream_options.include_usage. Streams are then asked for their usage, and
	// it is taken out again for clients who did not ask. Of the others no client's
	// stream_options go upstream: they would be refused.
	IncludeUsage bool
	// AnswerLimit bounds an answer that is held whole, decoded, in bytes; 0 = 32
	// MiB.
	AnswerLimit int64
	// EventLimit bounds one event of a stream, in bytes; 0 = 16 MiB.
	EventLimit int
	// Native are the endpoints of OpenAI's protocols that the upstream serves; 0 =
	// all. Chat and Responses are translated into each other where only one of
	// them is among these; a client of Messages is served through chat if it is.
	Native engine.Endpoints
	// Dialect is how bodies of chat and embeddings differ.
	Dialect Dialect
	// Translation is what is known of the model for translated requests; its Model
	// and NoStreamOptions are those of the Config.
	Translation translate.Upstream
	// Issues is told what the upstream issued that requests may name later; nil =
	// nobody is.
	Issues Issues
}

// endpoints are the paths below the base URL, by wire.Endpoint.
var endpoints = [...]string{wire.Chat: "chat/completions", wire.Completions: "completions", wire.Embeddings: "embeddings"}

// Adapter calls one deployment. It is immutable and used in parallel.
type Adapter struct {
	service      *exchange.Service
	model        string
	urls         [len(endpoints)]*url.URL
	rawURLs      [wire.RawEndpoints]*url.URL // of the byte routes
	responses    *url.URL                    // of the Responses protocol
	includeUsage bool
	rewrite      wire.Rewrite // of chat, completions and embeddings
	thinkTags    bool
	issues       Issues
	native       engine.Endpoints
	translator   *translation.Translator

	plain, streams, raw *exchange.Headers // of requests for JSON, for a stream, of the byte routes
}

var _ provider.Adapter = (*Adapter)(nil)

// New returns the adapter of a deployment, or every fault of its configuration.
func New(c Config) (*Adapter, error) {
	service, base, err := exchange.New(&exchange.Config{
		BaseURL: c.BaseURL, Keys: c.Keys, Header: c.Header, Client: c.Client,
		AnswerLimit: c.AnswerLimit, EventLimit: c.EventLimit,
	})
	a := &Adapter{
		service: service, model: c.Model, includeUsage: c.IncludeUsage, rewrite: c.rewrite(), thinkTags: c.Dialect.ThinkTags, issues: c.Issues,
	}
	if a.issues == nil {
		a.issues = noIssues{}
	}
	errs := []error{err}
	if strings.ContainsFunc(c.Model, unicode.IsControl) {
		// In a form a line break could end the field.
		errs = append(errs, fmt.Errorf("upstream_model %q holds a control character: write the name without it", c.Model))
	}
	if base != nil {
		errs = append(errs, a.setURLs(&c, base))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	a.plain = service.Headers(exchange.TypeJSON, nil)
	a.streams = service.Headers(exchange.TypeEvents, nil)
	a.raw = service.Headers(typeAny, nil)
	a.setTranslator(&c)
	return a, nil
}

// setTranslator says how requests are served that the upstream does not take as
// they are.
func (a *Adapter) setTranslator(c *Config) {
	if a.native = c.Native; a.native == 0 {
		a.native = ^engine.Endpoints(0)
	}
	t := translation.Config{Service: a.service, Protocol: translate.Chat, Model: c.Model, Upstream: c.Translation}
	to := a.urls[wire.Chat]
	if !a.native.Has(engine.EndpointChat) && a.native.Has(engine.EndpointResponses) {
		t.Protocol, to = translate.Responses, a.responses
	}
	t.Upstream.NoStreamOptions = !c.IncludeUsage
	t.Route = func(client http.Header, stream bool) (*url.URL, http.Header) {
		return to, exchange.Trace.Onto(a.ready(stream), client)
	}
	a.translator = translation.New(t)
}

// String names the deployment's model only: the adapter holds secrets.
func (a *Adapter) String() string { return "openai:" + a.model }

// GoString implements [fmt.GoStringer], for the same reason.
func (a *Adapter) GoString() string { return a.String() }

// setURLs makes the addresses below the base URL.
func (a *Adapter) setURLs(c *Config, base *url.URL) error {
	// Azure serves Responses below one path for all deployments, which has no
	// versions; the deployment is named in the body.
	versionless := base.JoinPath("openai", "v1", "responses")
	if c.APIVersion != "" {
		query := base.Query()
		query.Set("api-version", c.APIVersion)
		base.RawQuery = query.Encode()
	}
	a.responses = base.JoinPath("responses")
	if c.DeploymentPaths {
		a.responses = versionless
		if c.Model == "" || c.Model == "." || c.Model == ".." {
			return fmt.Errorf("upstream_model %q cannot stand in a path: name the Azure deployment", c.Model)
		}
		base = base.JoinPath("openai", "deployments", url.PathEscape(c.Model))
	}
	for e, path := range endpoints {
		a.urls[e] = base.JoinPath(path)
	}
	for e := range a.rawURLs {
		a.rawURLs[e] = base.JoinPath(wire.RawEndpoint(e).Path())
	}
	return nil
}
