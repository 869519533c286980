package config

import (
	"slices"
	"strings"
)

// reservedHeaders carry credentials, belong to one connection or are set by the
// gateway itself. They are in lower case.
var reservedHeaders = []string{
	"authorization", "proxy-authorization", "cookie", "set-cookie", "host",
	"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect",
	"content-length", "content-type", "content-encoding", "accept-encoding",
}

// headerName checks the name of a header that the configuration adds or reads.
func (c *checker) headerName(name string, at path) bool {
	lower := strings.ToLower(name)
	switch {
	case !headerToken(name):
		c.fail(at, "use letters, digits and -", "%s cannot be the name of a header", c.shown(name))
	case lower == "authorization":
		c.fail(at, "a provider's credential is api_key", "the header %s is reserved", name)
	case slices.Contains(reservedHeaders, lower), strings.HasPrefix(lower, "x-gatewright-"):
		c.fail(at, removeIt, "the header %s is reserved", name)
	default:
		return true
	}
	return false
}

// headerToken reports whether text is a token of HTTP.
func headerToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}

// checkHeaders checks the headers that are sent to a provider.
func (c *checker) checkHeaders(p *Provider, at path) {
	names := make([]string, 0, len(p.Headers))
	for name := range p.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		inner := at.key("headers").key(name)
		if !c.headerName(name, inner) {
			continue
		}
		lower := strings.ToLower(name)
		switch {
		case seen[lower]:
			c.fail(inner, "remove one of the two", "the header stands twice, in other letters")
		case lower == strings.ToLower(p.Upstream.AuthHeader):
			c.fail(inner, "write api_key", "the header %s carries the credential", name)
		default:
			c.headerSafe(p.Headers[name].Reveal(), "value", inner)
		}
		seen[lower] = true
	}
}
