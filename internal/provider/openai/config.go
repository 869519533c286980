package openai

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
)

const (
	defaultAnswer = 32 << 20
	defaultEvent  = 16 << 20
	userAgent     = "gatewright"
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
	// Issues is told what the upstream issued that requests may name later; nil =
	// nobody is.
	Issues Issues
}

// endpoints are the paths below the base URL, by wire.Endpoint.
var endpoints = [...]string{wire.Chat: "chat/completions", wire.Completions: "completions", wire.Embeddings: "embeddings"}

// Adapter calls one deployment. It is immutable and used in parallel.
type Adapter struct {
	client       *provider.Client
	model        string
	keys         *provider.Keyring
	urls         [len(endpoints)]*url.URL
	rawURLs      [wire.RawEndpoints]*url.URL // of the byte routes
	responses    *url.URL                    // of the Responses protocol
	headers      []headerPair                // by credential
	includeUsage bool
	answerLimit  int64
	eventLimit   int
	issues       Issues
	secrets      []string // what may be one: of the base URL's query, of configured headers
}

// headerPair holds the ready headers of a request with one credential, and
// those of a byte route. They are shared by all requests and only read.
type headerPair struct{ whole, stream, raw http.Header }

var _ provider.Adapter = (*Adapter)(nil)

// New returns the adapter of a deployment, or every fault of its configuration.
func New(c Config) (*Adapter, error) {
	a := &Adapter{
		client: c.Client, model: c.Model, keys: c.Keys, includeUsage: c.IncludeUsage,
		answerLimit: c.AnswerLimit, eventLimit: c.EventLimit, issues: c.Issues,
	}
	if a.issues == nil {
		a.issues = noIssues{}
	}
	if a.keys == nil {
		a.keys = provider.NewKeyring()
	}
	if a.answerLimit <= 0 {
		a.answerLimit = defaultAnswer
	}
	if a.eventLimit <= 0 {
		a.eventLimit = defaultEvent
	}
	errs := []error{a.setURLs(&c), checkHeaders(c.Header)}
	if strings.ContainsFunc(c.Model, unicode.IsControl) {
		// In a form a line break could end the field.
		errs = append(errs, fmt.Errorf("upstream_model %q holds a control character: write the name without it", c.Model))
	}
	if c.Client == nil {
		errs = append(errs, errors.New("no client"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	a.setHeaders(c.Header)
	return a, nil
}

// String names the deployment's model only: the adapter holds secrets.
func (a *Adapter) String() string { return "openai:" + a.model }

// GoString implements [fmt.GoStringer], for the same reason.
func (a *Adapter) GoString() string { return a.String() }

func (a *Adapter) setURLs(c *Config) error {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		// The text may hold a key: it is not repeated.
		return errors.New("base_url is not a URL: write for example https://api.example.com/v1")
	case base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return errors.New("base_url is not an http or https address: write for example https://api.example.com/v1")
	case base.User != nil:
		return errors.New("base_url holds a user name or password: give the credential as api_key or in headers")
	}
	query := base.Query()
	for _, values := range query {
		a.secrets = append(a.secrets, values...)
	}
	for _, values := range c.Header {
		a.secrets = append(a.secrets, values...)
	}
	base.Fragment, base.RawFragment = "", ""
	if base.Path == "" {
		base.Path = "/" // else JoinPath makes a path that does not begin with one
	}
	base.RawQuery = query.Encode()
	// Azure serves Responses below one path for all deployments, which has no
	// versions; the deployment is named in the body.
	versionless := base.JoinPath("openai", "v1", "responses")
	if c.APIVersion != "" {
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

// own are headers that configuration cannot set, because the gateway or the
// HTTP library does.
var own = [...]string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie",
	"Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func checkHeaders(h http.Header) error {
	var errs []error
	for _, name := range own {
		if _, given := h[name]; given {
			errs = append(errs, fmt.Errorf("headers.%s cannot be configured: remove it", name))
		}
	}
	for name, values := range h {
		if http.CanonicalHeaderKey(name) != name {
			errs = append(errs, fmt.Errorf("headers.%s: write it as %s", name, http.CanonicalHeaderKey(name)))
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				errs = append(errs, fmt.Errorf("headers.%s holds a control character: write it without line breaks", name))
			}
		}
	}
	return errors.Join(errs...)
}

// setHeaders makes the headers of requests, once for each credential.
func (a *Adapter) setHeaders(configured http.Header) {
	a.headers = make([]headerPair, max(a.keys.Len(), 1))
	for i := range a.headers {
		for _, h := range []struct {
			to     *http.Header
			accept string
		}{{&a.headers[i].whole, typeJSON}, {&a.headers[i].stream, typeEvents}, {&a.headers[i].raw, typeAny}} {
			out := make(http.Header, len(configured)+4)
			out["User-Agent"] = []string{userAgent}
			maps.Copy(out, configured)
			out["Content-Type"], out["Accept"] = []string{typeJSON}, []string{h.accept}
			if a.keys.Len() > 0 {
				a.keys.At(i).Set(out)
			}
			*h.to = out
		}
	}
}

// mask takes the provider's secrets out of a text that came from upstream.
func (a *Adapter) mask(text string) string {
	text = a.keys.Mask(text)
	for _, s := range a.secrets {
		if len(s) >= minSecret {
			text = provider.Mask(text, s)
		}
	}
	return text
}

// withoutSecrets leaves the headers of an upstream out that repeat one of the
// provider's secrets.
func (a *Adapter) withoutSecrets(h http.Header) http.Header {
	for name, values := range h {
		if len(values[0]) >= minSecret && a.mask(values[0]) != values[0] {
			delete(h, name)
		}
	}
	return h
}

// minSecret is the length from which on a value of a query or of a header may be
// a secret and not a word.
const minSecret = 8
