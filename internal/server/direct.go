package server

import (
	"net/http"
	"net/url"

	"github.com/gorilla/mux"
)

// direct holds the routes of POST requests by their paths. What most requests
// ask for needs no pattern, no variables, and no copies of the request to keep
// them in.
type direct map[string]*mux.Route

// before returns a handler that looks the path up and has the router see to all
// that is not there. A route stays only if the router would choose it too,
// whatever headers a request has; headers are those that some routes ask for.
func (d direct) before(m *mux.Router, headers []string) http.Handler {
	handlers := make(map[string]http.Handler, len(d))
	for path, route := range d {
		if d.chosen(m, path, headers) {
			handlers[path] = route.GetHandler()
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// With a RawPath the path was sent in another form than it has here.
		if r.Method == http.MethodPost && r.URL.RawPath == "" {
			if h := handlers[r.URL.Path]; h != nil {
				h.ServeHTTP(w, r)
				return
			}
		}
		m.ServeHTTP(w, r)
	})
}

// chosen reports whether a POST to the path always goes to the route that was
// registered for it.
func (d direct) chosen(m *mux.Router, path string, headers []string) bool {
	u := &url.URL{Path: path}
	if u.EscapedPath() != path { // a pattern, for one
		return false
	}
	all := http.Header{}
	for _, name := range headers {
		all.Set(name, "any")
	}
	for _, h := range []http.Header{{}, all} {
		var match mux.RouteMatch
		probe := &http.Request{Method: http.MethodPost, URL: u, Header: h}
		if !m.Match(probe, &match) || match.MatchErr != nil || match.Route != d[path] || len(match.Vars) > 0 {
			return false
		}
	}
	return true
}
