package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"gatewright/internal/config"
	"gatewright/internal/server/admin"
	"gatewright/internal/vetting"
	"gatewright/policies"
	"gatewright/store"
)

// The kinds of objects that policies are stored as. The names are for ever.
const (
	policyKind  = "policy"
	sourceKind  = "policy_source" // by digest
	bindingKind = "binding"
)

// policyRoom holds the policies and bindings of the gateway: those that people
// uploaded, stored, and those of the configuration file. Its methods may run in
// parallel; changes wait for each other and for reloads.
type policyRoom struct {
	app     *App
	library *policies.Library
	vetting *vetting.Process // judges uploads; nil = the library does
	objects *store.Objects
	logger  *slog.Logger
	clock   func() time.Time

	state atomic.Pointer[policies.State] // nil until the first file was accepted
	files atomic.Pointer[map[string][]byte]

	// Guarded by app.reloading.
	filed    *filedPolicies     // of the file that is current
	policies []*policies.Policy // what was stored when the gateway started
	bindings []*policies.Binding
	changes  int // since then
}

var (
	_ admin.Library    = (*policyRoom)(nil)
	_ admin.Prober     = (*policyRoom)(nil)
	_ admin.Journal    = (*policyRoom)(nil)
	_ policies.Sources = (*policyRoom)(nil)
)

// newPolicyRoom opens the room; close ends it.
func newPolicyRoom(a *App, objects *store.Objects, cacheDir string, vet []string, logger *slog.Logger) (*policyRoom, error) {
	r := &policyRoom{app: a, objects: objects, logger: logger, clock: time.Now}
	if err := r.load(); err != nil {
		return nil, err
	}
	if len(vet) > 0 {
		r.vetting = vetting.New(vet, cacheDir, logger)
	}
	var err error
	r.library, err = policies.NewLibrary(policies.Options{CacheDir: cacheDir, Logger: logger, Sources: r})
	return r, err
}

// load reads what was stored.
func (r *policyRoom) load() error {
	err := r.objects.Each(policyKind, func(name string, record []byte) error {
		p, err := policies.DecodePolicy(name, record)
		r.policies = append(r.policies, p)
		return err
	})
	if err != nil {
		return fmt.Errorf("load policies: %w", err)
	}
	err = r.objects.Each(bindingKind, func(id string, record []byte) error {
		b, err := policies.DecodeBinding(id, record)
		r.bindings = append(r.bindings, b)
		return err
	})
	if err != nil {
		return fmt.Errorf("load bindings: %w", err)
	}
	return nil
}

// read reads the policies of a file and puts those that were uploaded beside
// them. Until accept or keepFiles what both files hold can be loaded. The caller
// holds app.reloading.
func (r *policyRoom) read(ctx context.Context, file *config.File) (*filedPolicies, *policies.State, error) {
	filed, err := readPolicies(ctx, file, r.library, r.filed)
	if err != nil {
		return nil, nil, err
	}
	list, bindings := r.uploaded()
	state, err := policies.NewState(append(list, filed.policies...), append(bindings, filed.bindings...))
	if err != nil {
		return nil, nil, err
	}
	both := filed.sources
	if r.filed != nil {
		both = union(r.filed.sources, filed.sources)
	}
	r.files.Store(&both)
	return filed, state, nil
}

// uploaded lists what does not come from the file.
func (r *policyRoom) uploaded() (list []*policies.Policy, bindings []*policies.Binding) {
	state := r.state.Load()
	if state == nil {
		return r.policies, r.bindings
	}
	for _, p := range state.Policies() {
		if !p.Managed {
			list = append(list, p)
		}
	}
	for _, b := range state.Bindings() {
		if !b.Managed {
			bindings = append(bindings, b)
		}
	}
	return list, bindings
}

// accept makes what read returned current. The caller holds app.reloading.
func (r *policyRoom) accept(filed *filedPolicies, state *policies.State) {
	r.filed, r.policies, r.bindings = filed, nil, nil
	r.files.Store(&filed.sources)
	r.state.Store(state)
	r.library.Keep(state)
}

// keepFiles stays with what is current after read. The caller holds
// app.reloading.
func (r *policyRoom) keepFiles() {
	if r.filed != nil {
		r.files.Store(&r.filed.sources)
	}
}

// closeTime is how long calls of policies that still run are awaited: each ends by
// its budget, long before.
const closeTime = 5 * time.Second

// close ends all policies.
func (r *policyRoom) close() error {
	if r.vetting != nil {
		r.vetting.Close()
	}
	if r.library == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return r.library.Close(ctx)
}

// State implements admin.Library.
func (r *policyRoom) State() *policies.State { return r.state.Load() }

// Source implements policies.Sources: of the file's policies it has the text as
// it was read, of the others what is stored.
func (r *policyRoom) Source(digest string) ([]byte, error) {
	if files := r.files.Load(); files != nil {
		if body, ok := (*files)[digest]; ok {
			return body, nil
		}
	}
	body, ok, err := r.objects.Get(sourceKind, digest)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("source %s: %w", digest, policies.ErrNotFound)
	}
	if policies.Digest(body) != digest {
		return nil, fmt.Errorf("source %s: what is stored under this digest has another", digest)
	}
	return body, nil
}

// Upload implements admin.Library.
func (r *policyRoom) Upload(ctx context.Context, u *policies.Upload, by admin.Author) (*policies.Policy, *policies.Version, error) {
	// A name or a kind that cannot be is told before anything is compiled.
	if _, err := r.State().Upload(u.Name, u.Kind, &policies.Version{}); err != nil && u.Kind != "" {
		return nil, nil, err
	}
	signer, err := signers(r.app.file.Load()).Check(u)
	if err != nil {
		return nil, nil, err
	}
	j, err := r.judge(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	v := &j.Version
	v.SignedBy = signer
	source := store.ObjectChange{Kind: sourceKind, ID: v.Digest, Value: u.Body}
	err = r.change(ctx, func(s *policies.State) (*policies.State, error) {
		return s.Upload(u.Name, j.Kind, v)
	}, by, source)
	if err != nil {
		return nil, nil, err
	}
	p, err := r.State().Policy(u.Name)
	if err != nil {
		return nil, nil, err
	}
	v, err = p.Version(v.Digest)
	return p, v, err
}

// Change implements admin.Library.
func (r *policyRoom) Change(ctx context.Context, op func(*policies.State) (*policies.State, error), by admin.Author) error {
	return r.change(ctx, op, by)
}

// change makes a new state, has a snapshot built of it, stores it, and only then
// lets requests see it.
func (r *policyRoom) change(ctx context.Context, op func(*policies.State) (*policies.State, error), by admin.Author, more ...store.ObjectChange) error {
	r.app.reloading.Lock()
	defer r.app.reloading.Unlock()
	old := r.state.Load()
	next, err := op(old)
	if err != nil {
		return err
	}
	changes, err := difference(old, next)
	if err != nil {
		return err
	}
	entry, err := r.entry(by, changes)
	if err != nil {
		return err
	}
	file := r.app.file.Load()
	snapshot, used, err := r.app.build(ctx, r.library, file, next)
	if err != nil {
		return fmt.Errorf("%w: %w", policies.ErrConflict, err)
	}
	if err := r.objects.Write(ctx, append(append(more, changes...), entry)...); err != nil {
		snapshot.Release()
		return fmt.Errorf("store the change: %w", err)
	}
	r.state.Store(next)
	r.app.engine.Swap(snapshot)
	r.app.clients.keep(used)
	r.library.Keep(next)
	r.trimAudit(ctx)
	r.logger.InfoContext(ctx, "policies changed", slog.String("action", by.Action), slog.String("object", by.Object),
		slog.String("actor", by.Actor), slog.Uint64("generation", snapshot.Generation))
	return nil
}

// difference lists what must be stored to get from one state to another.
func difference(old, next *policies.State) ([]store.ObjectChange, error) {
	var list []store.ObjectChange
	var errs []error
	put := func(kind, id string, encode func() ([]byte, error)) {
		record, err := encode()
		errs = append(errs, err)
		list = append(list, store.ObjectChange{Kind: kind, ID: id, Value: record})
	}
	for _, p := range next.Policies() {
		if was, err := old.Policy(p.Name); (err != nil || was != p) && !p.Managed {
			put(policyKind, p.Name, p.Encode)
		}
	}
	for _, b := range next.Bindings() {
		if was, err := old.Binding(b.ID); (err != nil || was != b) && !b.Managed {
			put(bindingKind, b.ID, b.Encode)
		}
	}
	for _, p := range old.Policies() {
		if _, err := next.Policy(p.Name); err != nil {
			list = append(list, store.ObjectChange{Kind: policyKind, ID: p.Name})
		}
	}
	for _, b := range old.Bindings() {
		if _, err := next.Binding(b.ID); err != nil {
			list = append(list, store.ObjectChange{Kind: bindingKind, ID: b.ID})
		}
	}
	return append(list, orphans(old, next)...), errors.Join(errs...)
}

// orphans are the sources that no policy has any more.
func orphans(old, next *policies.State) []store.ObjectChange {
	kept := map[string]bool{}
	for _, p := range next.Policies() {
		for _, v := range p.Versions {
			kept[v.Digest] = true
		}
	}
	var list []store.ObjectChange
	for _, p := range old.Policies() {
		for _, v := range p.Versions {
			if !kept[v.Digest] && !p.Managed {
				kept[v.Digest] = true
				list = append(list, store.ObjectChange{Kind: sourceKind, ID: v.Digest})
			}
		}
	}
	return list
}

// Status implements admin.Prober.
func (r *policyRoom) Status(name, digest string) policies.Status {
	return r.library.Status(name, digest)
}

// Try implements admin.Prober.
func (r *policyRoom) Try(ctx context.Context, name, digest string, input, parameters []byte) (*policies.Trial, error) {
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
