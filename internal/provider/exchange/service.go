package exchange

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
)

const (
	defaultAnswer = 32 << 20
	defaultEvent  = 16 << 20
	userAgent     = "gatewright"
)

// Config says how the upstream of one deployment is reached.
type Config struct {
	// BaseURL is the address before the paths of the protocol. A query in it is
	// kept.
	BaseURL string
	// Keys are the provider's credentials; nil = none is sent.
	Keys *provider.Keyring
	// Header holds configured headers; they go before everything but the
	// credential.
	Header http.Header
	// Client makes the calls. It is shared by the deployments of a provider.
	Client *provider.Client
	// AnswerLimit bounds an answer that is held whole, decoded, in bytes; 0 = 32
	// MiB.
	AnswerLimit int64
	// EventLimit bounds one event of a stream, in bytes; 0 = 16 MiB.
	EventLimit int
	// ReadError reads the body of an error answer: what is wrong, and the wait
	// that it asks for, 0 for none; nil = [fault.Parse], and no wait.
	ReadError func(status int, body []byte) (fault.Fault, time.Duration)
}

// Service is the upstream of one deployment. It is immutable and used in
// parallel.
type Service struct {
	client      *provider.Client
	keys        *provider.Keyring
	configured  http.Header
	answerLimit int64
	eventLimit  int
	readError   func(status int, body []byte) (fault.Fault, time.Duration)
	secrets     []string // what may be one: of the base URL's query, of configured headers
}

// New returns the service and its base URL, whose path is not empty, or every
// fault of the configuration. The texts of the faults hold no secret.
func New(c *Config) (*Service, *url.URL, error) {
	s := &Service{
		client: c.Client, keys: c.Keys, configured: c.Header,
		answerLimit: c.AnswerLimit, eventLimit: c.EventLimit, readError: c.ReadError,
	}
	if s.keys == nil {
		s.keys = provider.NewKeyring()
	}
	if s.answerLimit <= 0 {
		s.answerLimit = defaultAnswer
	}
	if s.eventLimit <= 0 {
		s.eventLimit = defaultEvent
	}
	if s.readError == nil {
		s.readError = func(status int, body []byte) (fault.Fault, time.Duration) { return fault.Parse(status, body), 0 }
	}
	base, err := s.base(c.BaseURL)
	errs := []error{err, checkHeaders(c.Header)}
	if c.Client == nil {
		errs = append(errs, errors.New("no client"))
	}
	for _, values := range c.Header {
		s.secrets = append(s.secrets, values...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return s, base, nil
}

// base reads the base URL.
func (s *Service) base(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil:
		// The text may hold a key: it is not repeated.
		return nil, errors.New("base_url is not a URL: write for example https://api.example.com/v1")
	case base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return nil, errors.New("base_url is not an http or https address: write for example https://api.example.com/v1")
	case base.User != nil:
		return nil, errors.New("base_url holds a user name or password: give the credential as api_key or in headers")
	}
	query := base.Query()
	for _, values := range query {
		s.secrets = append(s.secrets, values...)
	}
	base.Fragment, base.RawFragment = "", ""
	if base.Path == "" {
		base.Path = "/" // else JoinPath makes a path that does not begin with one
	}
	base.RawQuery = query.Encode()
	return base, nil
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

// Headers are the ready headers of one kind of request, for each of the
// service's credentials.
type Headers struct {
	keys  *provider.Keyring
	ready []http.Header
}

// Headers makes the headers of requests that accept a kind of answer. The
// configured ones go before defaults.
func (s *Service) Headers(accept string, defaults http.Header) *Headers {
	h := &Headers{keys: s.keys, ready: make([]http.Header, max(s.keys.Len(), 1))}
	for i := range h.ready {
		one := make(http.Header, len(s.configured)+len(defaults)+4)
		one["User-Agent"] = []string{userAgent}
		maps.Copy(one, defaults)
		maps.Copy(one, s.configured)
		one["Content-Type"], one["Accept"] = []string{TypeJSON}, []string{accept}
		if s.keys.Len() > 0 {
			s.keys.At(i).Set(one)
		}
		h.ready[i] = one
	}
	return h
}

// Next returns the headers with the credential whose turn it is. They are
// shared by all requests: only read them.
func (h *Headers) Next() http.Header { return h.ready[max(h.keys.Turn(), 0)] }

// Mask takes the provider's secrets out of a text that came from upstream.
func (s *Service) Mask(text string) string {
	text = s.keys.Mask(text)
	for _, secret := range s.secrets {
		if len(secret) >= minSecret {
			text = provider.Mask(text, secret)
		}
	}
	return text
}

// withoutSecrets leaves the headers of an upstream out that repeat one of the
// provider's secrets.
func (s *Service) withoutSecrets(h http.Header) http.Header {
	for name, values := range h {
		if len(values[0]) >= minSecret && s.Mask(values[0]) != values[0] {
			delete(h, name)
		}
	}
	return h
}

// minSecret is the length from which on a value of a query or of a header may be
// a secret and not a word.
const minSecret = 8

// Passed are the names, in canonical form, of the client's headers that an
// upstream may see. What identifies the client or pays for it is never among
// them, and neither is Idempotency-Key: it would make an upstream answer a
// repeated call with the failure of the first one.
type Passed []string

// In reports whether the client sent any of them.
func (p Passed) In(client http.Header) bool {
	for _, name := range p {
		if len(client[name]) > 0 {
			return true
		}
	}
	return false
}

// Onto returns ready headers with those that the client sent. Ready ones stay
// as they are, and are returned themselves when there is nothing to add.
func (p Passed) Onto(ready, client http.Header) http.Header {
	if !p.In(client) {
		return ready
	}
	out := maps.Clone(ready)
	for _, name := range p {
		if values := client[name]; len(values) > 0 && out[name] == nil {
			out[name] = values
		}
	}
	return out
}

// Trace are the headers that every upstream may see.
var Trace = Passed{"Traceparent", "Tracestate"}
