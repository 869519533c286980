package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"gatewright/policies"
)

// apiError is an error as clients of the API get it.
type apiError struct {
	status   int
	Code     string `json:"code"`
	Message  string `json:"message"`
	problems []policies.Problem
}

func (e *apiError) Error() string { return e.Message }

func failure(status int, code, message string) *apiError {
	return &apiError{status: status, Code: code, Message: message}
}

// explain makes an apiError of whatever a handler returned.
func explain(err error) *apiError {
	var own *apiError
	var source *policies.SourceError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &source):
		return &apiError{http.StatusUnprocessableEntity, "invalid_policy", source.Error(), source.Problems}
	case errors.As(err, &large):
		return failure(http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("the body is larger than %d bytes", large.Limit))
	case errors.Is(err, policies.ErrNotFound):
		return failure(http.StatusNotFound, "not_found", err.Error())
	case errors.Is(err, policies.ErrManaged):
		return failure(http.StatusConflict, "managed_by_config", err.Error())
	case errors.Is(err, policies.ErrConflict):
		return failure(http.StatusConflict, "conflict", err.Error())
	case errors.Is(err, policies.ErrInvalid):
		return failure(http.StatusBadRequest, "invalid_request", err.Error())
	case errors.Is(err, policies.ErrUnsigned):
		return failure(http.StatusForbidden, "not_signed", err.Error())
	case errors.Is(err, policies.ErrBusy):
		return failure(http.StatusServiceUnavailable, "busy", err.Error())
	}
	return failure(http.StatusInternalServerError, "internal_error", err.Error())
}

func (a *api) writeError(w http.ResponseWriter, r *http.Request, err error) {
	e := explain(err)
	if e.status >= http.StatusInternalServerError {
		a.Logger.ErrorContext(r.Context(), "admin request failed",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="gatewright admin"`)
	}
	body := struct {
		Error    *apiError          `json:"error"`
		Problems []policies.Problem `json:"problems,omitempty"`
	}{e, e.problems}
	a.write(w, r, e.status, body)
}

// write answers with JSON.
func (a *api) write(w http.ResponseWriter, r *http.Request, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		a.Logger.ErrorContext(r.Context(), "encode an answer of the admin API", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that left needs no answer
}

// quote shows text of a client in a message, bounded.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}

// allowed lists the methods that a path takes.
func allowed(m *mux.Router, r *http.Request, routes []route) string {
	var list []string
	seen := make(map[string]bool)
	probe := *r
	for _, x := range routes {
		if seen[x.method] {
			continue
		}
		seen[x.method] = true
		probe.Method = x.method
		var match mux.RouteMatch
		if m.Match(&probe, &match) && match.MatchErr == nil {
			list = append(list, x.method)
		}
	}
	return strings.Join(list, ", ")
}
