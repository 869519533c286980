package server

import (
	"log/slog"
	"net/http"
)

// base answers at the address that clients are configured with, which some look
// at before their first call. Like health it needs no key.
func (s *Server) base(w http.ResponseWriter, _ *http.Request) {
	s.state(w, http.StatusOK, `{"service":"gatewright"}`)
}

// live answers that the process runs.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) {
	s.state(w, http.StatusOK, `{"status":"live"}`)
}

// readiness answers whether requests can be served now. Why not is for the log:
// the path needs no key.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		s.state(w, http.StatusServiceUnavailable, `{"status":"draining"}`)
		return
	}
	if err := s.ready(); err != nil {
		if !s.unready.Swap(true) {
			s.logger.LogAttrs(r.Context(), slog.LevelWarn, "not ready", slog.String("reason", clip(err.Error(), maxLogged)))
		}
		s.state(w, http.StatusServiceUnavailable, `{"status":"not ready"}`)
		return
	}
	if s.unready.Swap(false) {
		s.logger.LogAttrs(r.Context(), slog.LevelInfo, "ready again")
	}
	s.state(w, http.StatusOK, `{"status":"ready"}`)
}

func (s *Server) state(w http.ResponseWriter, status int, body string) {
	h := w.Header()
	h[headerRequestID] = []string{s.ids()}
	h[headerContentType] = jsonType
	h["Cache-Control"] = noCache
	w.WriteHeader(status)
	// A client that is gone needs no answer.
	_, _ = w.Write([]byte(body))
}
