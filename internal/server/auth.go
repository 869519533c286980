package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"gatewright/engine"
)

// authenticate finds who a request comes from. Whatever is wrong with a key,
// the answer is the same, so nothing can be learnt from it. keyHeader is where
// the protocol's clients put keys besides Authorization; "" = nowhere.
func authenticate(table engine.CallerTable, r *http.Request, keyHeader string) (*engine.Caller, *Error) {
	if caller, ok := table.Anonymous(); ok {
		if e := local(r); e != nil {
			return nil, e
		}
		return caller, nil
	}
	if secret, ok := presented(r.Header, keyHeader); ok {
		if caller, ok := table.Lookup(secret); ok {
			return caller, nil
		}
	}
	how := "send one as Authorization: Bearer KEY"
	if keyHeader != "" {
		how += " or " + strings.ToLower(keyHeader) + ": KEY"
	}
	return nil, newError(CodeInvalidAPIKey, "the API key is missing or not valid: "+how)
}

// presented returns the secret that a request brings. The header of the
// protocol's own counts if it is there, as it does at the maker's service.
func presented(h http.Header, keyHeader string) (string, bool) {
	if values := h[keyHeader]; keyHeader != "" && len(values) > 0 {
		if secret := strings.Trim(values[0], " "); len(values) > 1 || secret != "" {
			return secret, len(values) == 1
		}
	}
	return bearer(h)
}

// bearer returns the secret of an Authorization header of the Bearer scheme.
func bearer(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	secret = strings.Trim(secret, " ")
	return secret, secret != ""
}

// local refuses a request without a key that does not come from a program on
// this machine: over the network, through a proxy, or from a web page of
// somebody else that the user's browser has open. The last sends no secret, but
// without keys none is needed; DNS rebinding makes it look like a page of this
// host, but not in Host.
func local(r *http.Request) *Error {
	const fix = ": define a key under keys in the configuration"
	if !loopbackAddress(r.RemoteAddr) {
		return newError(CodeLoopbackOnly, "no API key is defined, so only callers on the gateway's own machine are served"+fix)
	}
	if forwarded(r.Header) {
		return newError(CodeLoopbackOnly, "no API key is defined, and the request came through a proxy for somebody else"+fix)
	}
	if r.Host != "" && !loopbackHost(r.Host) {
		return newError(CodeBrowserRefused, "no API key is defined, and the request was sent to a host name that is not this machine's: use localhost or 127.0.0.1, or define a key under keys in the configuration")
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" || !loopbackOrigin(r.Header["Origin"]) {
		return newError(CodeBrowserRefused, "no API key is defined, and the request comes from a web page of another site"+fix)
	}
	return nil
}

// loopbackAddress reports whether an address with a port is of this machine.
func loopbackAddress(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// loopbackHost reports whether a host, with or without a port, is a name or
// address of this machine that no DNS server can give another meaning.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && a.Unmap().IsLoopback()
}

// loopbackOrigin reports whether no page, or one of this machine, asks.
func loopbackOrigin(values []string) bool {
	for _, v := range values {
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || !loopbackHost(u.Host) {
			return false
		}
	}
	return true
}

// forwarded reports whether a proxy says that it asks for somebody on another
// machine, or says it in a way that is not looked into.
func forwarded(h http.Header) bool {
	if len(h["Forwarded"]) > 0 {
		return true
	}
	for _, name := range [...]string{"X-Forwarded-For", "X-Real-Ip"} {
		for _, v := range h[name] {
			for hop := range strings.SplitSeq(v, ",") {
				if a, err := netip.ParseAddr(strings.TrimSpace(hop)); err != nil || !a.Unmap().IsLoopback() {
					return true
				}
			}
		}
	}
	return false
}
