package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// permit reports why a request may not be served: whatever is wrong with its
// token, the answer is the same.
func (a *api) permit(r *http.Request) error {
	if !a.addressed(r.Host) {
		return failure(http.StatusForbidden, "host_refused",
			"the admin API is not called "+quote(r.Host)+": use the address that it listens on")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	presented := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := subtle.ConstantTimeCompare(presented[:], a.Token[:]) == 1
	if !same || !strings.EqualFold(scheme, "bearer") || len(r.Header.Values("Authorization")) != 1 {
		return failure(http.StatusUnauthorized, "invalid_admin_token",
			"this needs the admin token: send Authorization: Bearer TOKEN")
	}
	return nil
}

// addressed reports whether a Host header names this listener. A web page can
// make a browser call any address under a name of its own, but not under an
// address or localhost.
func (a *api) addressed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(a.Hosts, name)
}

// author is who makes a change by a request.
func author(r *http.Request, action, object string) Author {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	return Author{Actor: "token", Address: address, Action: action, Object: object}
}
