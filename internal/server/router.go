package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// router registers what the rooms serve, health, and JSON for all the rest.
func (s *Server) router() http.Handler {
	known := direct{}
	var headers []string
	// Names hold slashes, so paths are matched as they were sent: nothing is
	// cleaned, and variables stay escaped until Exchange.PathVar.
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	var methods []string
	for _, narrow := range [...]bool{true, false} { // the first that fits is taken
		for _, room := range s.rooms {
			for _, route := range room.Routes() {
				if (route.Header != "") != narrow {
					continue
				}
				take := []string{route.Method}
				if route.Method == http.MethodGet {
					take = append(take, http.MethodHead)
				}
				methods = append(methods, take...)
				registered := m.Handle(route.Path, s.handler(room, route.Handle, false)).Methods(take...)
				switch {
				case narrow:
					registered.Headers(route.Header, "")
					headers = append(headers, route.Header)
				case route.Method == http.MethodPost:
					known[route.Path] = registered
				}
			}
		}
	}
	read := []string{http.MethodGet, http.MethodHead}
	m.HandleFunc("/", s.base).Methods(read...)
	m.HandleFunc("/healthz", s.live).Methods(read...)
	m.HandleFunc("/readyz", s.readiness).Methods(read...)
	methods = append(methods, read...)
	slices.Sort(methods)
	methods = slices.Compact(methods)

	m.NotFoundHandler = s.unrouted(func(x *Exchange) error {
		return newError(CodeNotFound, "there is no path "+quoted(x.Request.URL.Path)+"; GET /v1/models lists the models")
	})
	m.MethodNotAllowedHandler = s.unrouted(func(x *Exchange) error {
		allow := allowed(m, x.Request, methods)
		e := newError(CodeMethodNotAllowed, quoted(x.Request.URL.Path)+" takes "+allow+", not "+quoted(x.Request.Method))
		e.allow = allow
		return e
	})
	return known.before(m, headers)
}

// unrouted handles what no route takes, in the protocol that the client seems to
// speak.
func (s *Server) unrouted(handle func(*Exchange) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.handler(s.spoken(r), handle, true)(w, r)
	}
}

// spoken returns the protocol that a client speaks.
func (s *Server) spoken(r *http.Request) Protocol {
	for _, room := range s.rooms {
		if speaks := room.Traits().Speaks; speaks != nil && speaks(r) {
			return room
		}
	}
	return s.fallback
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
