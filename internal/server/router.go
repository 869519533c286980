package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// router registers what the rooms serve, health, and JSON for all the rest.
func (s *Server) router(rooms []Room) http.Handler {
	// Names hold slashes, so paths are matched as they were sent: nothing is
	// cleaned, and variables stay escaped until Exchange.PathVar.
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	var methods []string
	for _, room := range rooms {
		for _, route := range room.Routes() {
			take := []string{route.Method}
			if route.Method == http.MethodGet {
				take = append(take, http.MethodHead)
			}
			methods = append(methods, take...)
			m.Handle(route.Path, s.handler(room, route.Handle, false)).Methods(take...)
		}
	}
	read := []string{http.MethodGet, http.MethodHead}
	m.HandleFunc("/healthz", s.live).Methods(read...)
	m.HandleFunc("/readyz", s.readiness).Methods(read...)
	methods = append(methods, read...)
	slices.Sort(methods)
	methods = slices.Compact(methods)

	m.NotFoundHandler = s.handler(s.fallback, func(x *Exchange) error {
		return newError(CodeNotFound, "there is no path "+quoted(x.Request.URL.Path)+"; GET /v1/models lists the models")
	}, true)
	m.MethodNotAllowedHandler = s.handler(s.fallback, func(x *Exchange) error {
		allow := allowed(m, x.Request, methods)
		e := newError(CodeMethodNotAllowed, quoted(x.Request.URL.Path)+" takes "+allow+", not "+quoted(x.Request.Method))
		e.allow = allow
		return e
	}, true)
	return m
}

// allowed lists the methods that the request's path takes.
func allowed(m *mux.Router, r *http.Request, methods []string) string {
	var list []string
	probe := *r
	for _, method := range methods {
		probe.Method = method
		var match mux.RouteMatch
		if m.Match(&probe, &match) && match.MatchErr == nil {
			list = append(list, method)
		}
	}
	return strings.Join(list, ", ")
}

// PathVar returns a variable of the route's path, unescaped.
func (x *Exchange) PathVar(name string) string {
	escaped := mux.Vars(x.Request)[name]
	text, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped // cannot be: net/http has parsed the path
	}
	return text
}
