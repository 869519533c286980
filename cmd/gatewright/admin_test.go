package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gatewright/internal/server/admin"
	"gatewright/policies"
)

const testToken = "gwa-71c0f9a2b5d84e36"

// serveAdmin gives a script an admin API of its own, and the variables that lead
// to it.
func serveAdmin(env *testscript.Env) error {
	room, err := newRoom()
	if err != nil {
		return err
	}
	api := httptest.NewServer(admin.New(admin.Options{
		Logger: slog.New(slog.DiscardHandler), Library: room, Prober: room, Journal: room, Token: sha256.Sum256([]byte(testToken)),
	}))
	env.Defer(func() {
		api.Close()
		_ = room.library.Close(context.Background()) // the scripts have ended
	})
	modules, err := filepath.Abs("../../testdata/wasm/guests")
	if err != nil {
		return err
	}
	env.Setenv("WASM", modules)
	env.Setenv("MODULES", filepath.Dir(modules))
	env.Setenv("GATEWRIGHT_ADMIN", api.URL)
	env.Setenv("GATEWRIGHT_ADMIN_TOKEN", testToken)
	return nil
}

// room is what stands behind the admin API, in memory: policies compile as they
// do in the gateway, and no request is served.
type room struct {
	library *policies.Library

	mu      sync.Mutex
	state   *policies.State
	sources map[string][]byte
}

var (
	_ admin.Library = (*room)(nil)
	_ admin.Prober  = (*room)(nil)
	_ admin.Journal = (*room)(nil)
)

// making guards the first engine of the process: wazero notes its version in a
// variable that nothing guards.
var making sync.Mutex

func newRoom() (*room, error) {
	making.Lock()
	defer making.Unlock()
	r := &room{sources: map[string][]byte{}}
	var err error
	if r.state, err = policies.NewState([]*policies.Policy{{Name: "filed", Kind: policies.Admission, Managed: true}}, nil); err != nil {
		return nil, err
	}
	r.library, err = policies.NewLibrary(policies.Options{Logger: slog.New(slog.DiscardHandler), Sources: r, Clock: func() time.Time {
		return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	}})
	return r, err
}

func (r *room) State() *policies.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *room) Upload(ctx context.Context, u *policies.Upload, by admin.Author) (*policies.Policy, *policies.Version, error) {
	j, err := r.library.Judge(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	v := &j.Version
	r.mu.Lock()
	r.sources[v.Digest] = u.Body
	r.mu.Unlock()
	if err := r.Change(ctx, func(s *policies.State) (*policies.State, error) { return s.Upload(u.Name, j.Kind, v) }, by); err != nil {
		return nil, nil, err
	}
	p, err := r.State().Policy(u.Name)
	return p, v, err
}

func (r *room) Source(digest string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if body, ok := r.sources[digest]; ok {
		return body, nil
	}
	return nil, errors.New("there is no such source")
}

func (r *room) Change(_ context.Context, op func(*policies.State) (*policies.State, error), _ admin.Author) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := op(r.state)
	if err == nil {
		r.state = next
	}
	return err
}

func (r *room) Changes(string, func(admin.Change) bool) error { return nil }

func (r *room) Status(name, digest string) policies.Status { return r.library.Status(name, digest) }

func (r *room) Try(ctx context.Context, name, digest string, input, parameters []byte) (*policies.Trial, error) {
	p, err := r.State().Policy(name)
	if err != nil {
		return nil, err
	}
	v, err := p.Version(digest)
	if err != nil {
		return nil, err
	}
	return r.library.Try(ctx, p, v, input, parameters)
}
