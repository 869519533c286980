package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"gatewright/policies"
)

// Prefix is the path that everything here is below.
const Prefix = "/admin/v1"

// Library holds policies and bindings. Its methods may run in parallel.
type Library interface {
	// State is what there is now.
	State() *policies.State
	// Upload checks and compiles, and keeps the result as a draft. The error is a
	// *policies.SourceError for what is wrong with the source, or one of those of
	// package policies.
	Upload(ctx context.Context, u *policies.Upload, by Author) (*policies.Policy, *policies.Version, error)
	// Source returns what was uploaded, by its digest.
	Source(digest string) ([]byte, error)
	// Change applies an operation to the state. It returns when the result is
	// durable and requests obey it; after an error nothing has changed.
	Change(ctx context.Context, op func(*policies.State) (*policies.State, error), by Author) error
}

// Prober tells what policies do, now and on a trial.
type Prober interface {
	// Status tells how a version of a policy is doing.
	Status(name, digest string) policies.Status
	// Try evaluates a version with an input in the contract's JSON form, live
	// traffic untouched.
	Try(ctx context.Context, name, digest string, input, parameters []byte) (*policies.Trial, error)
}

// Author is who makes a change, for the audit log.
type Author struct {
	Actor   string // who: "token"
	Address string // from where
	Action  string // "policy.activate", …
	Object  string // "policy/NAME", "binding/ID"
}

// Change is one entry of the audit log.
type Change struct {
	ID      string    `json:"id"` // in the order of time
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Address string    `json:"address,omitempty"`
	Action  string    `json:"action"`
	Object  string    `json:"object"`
	Before  string    `json:"before,omitempty"` // SHA-256 of the object's record, hex; "" = there was none
	After   string    `json:"after,omitempty"`
}

// Journal is the audit log.
type Journal interface {
	// Changes calls each for the entries before the one with id, "" = all, the
	// newest first, until each returns false.
	Changes(before string, each func(Change) bool) error
}

// Options are what the API is made of. All are required but Clock.
type Options struct {
	Logger  *slog.Logger
	Library Library
	Prober  Prober
	Journal Journal
	// Token is the SHA-256 of the admin token.
	Token [32]byte
	// Hosts are the names, beside loopback's and any address, under which the
	// listener may be called.
	Hosts []string
	Clock func() time.Time // nil = time.Now
}

// api is the handler's state.
type api struct {
	Options
}

// New returns the handler of the admin listener.
func New(o Options) http.Handler {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &api{Options: o}
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	routes := a.routes()
	for _, r := range routes {
		m.Handle(Prefix+r.path, a.handler(r.handle)).Methods(r.method)
	}
	m.NotFoundHandler = a.handler(func(_ http.ResponseWriter, r *http.Request) error {
		return failure(http.StatusNotFound, "not_found", "there is no path "+quote(r.URL.Path)+"; the API is below "+Prefix)
	})
	m.MethodNotAllowedHandler = a.handler(func(w http.ResponseWriter, r *http.Request) error {
		allow := allowed(m, r, routes)
		w.Header().Set("Allow", allow)
		return failure(http.StatusMethodNotAllowed, "method_not_allowed", quote(r.URL.Path)+" takes "+allow+", not "+r.Method)
	})
	return m
}

// route is one path of the API.
type route struct {
	method, path string
	handle       func(http.ResponseWriter, *http.Request) error
}

func (a *api) routes() []route {
	const (
		get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
		version             = "/policies/{name}/versions/{version}"
	)
	return []route{
		{get, "/policies", a.listPolicies},
		{post, "/policies", a.upload},
		{get, "/policies/{name}", a.onePolicy},
		{del, "/policies/{name}", a.deletePolicy},
		{post, "/policies/{name}/activate", a.activate},
		{post, "/policies/{name}/shadow", a.shadow},
		{post, "/policies/{name}/canary", a.canary},
		{post, "/policies/{name}/rollback", a.rollback},
		{post, "/policies/{name}/stop", a.stop},
		{post, "/policies/{name}/try", a.try},
		{get, "/policies/{name}/versions", a.listVersions},
		{get, version, a.oneVersion},
		{get, version + "/source", a.source},
		{del, version, a.deleteVersion},
		{get, "/bindings", a.listBindings},
		{get, "/bindings/{id}", a.oneBinding},
		{put, "/bindings/{id}", a.putBinding},
		{del, "/bindings/{id}", a.deleteBinding},
		{get, "/audit", a.listChanges},
	}
}

// handler authenticates, serves, and writes the error if there is one.
func (a *api) handler(handle func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer a.recovered(w, r)
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		err := a.permit(r)
		if err == nil {
			err = handle(w, r)
		}
		if err != nil {
			a.writeError(w, r, err)
		}
	}
}

// recovered turns a panic of a handler into an error answer.
func (a *api) recovered(w http.ResponseWriter, r *http.Request) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		a.Logger.ErrorContext(r.Context(), "admin handler panicked", slog.String("path", r.URL.Path), slog.Any("panic", v))
		a.writeError(w, r, failure(http.StatusInternalServerError, "internal_error", "a fault of the gateway; the log says more"))
	}
}
