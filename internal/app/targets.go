package app

import (
	"errors"
	"fmt"
	"net/http"

	"gatewright/internal/config"
	"gatewright/internal/owner"
	"gatewright/internal/provider"
	"gatewright/internal/provider/openai"
)

// targets makes what the dispatcher needs to call deployments: adapters, with
// the credentials and connections of their provider.
type targets struct {
	file    *config.File
	clients *clients
	issues  openai.Issues // nil = nothing is remembered
	keys    map[string]*provider.Keyring
	used    map[clientKey]bool
}

func newTargets(file *config.File, pool *clients, owners *owner.Registry) *targets {
	t := &targets{
		file: file, clients: pool,
		keys: make(map[string]*provider.Keyring), used: make(map[clientKey]bool),
	}
	if owners != nil {
		t.issues = owners
	}
	return t
}

// target returns how a deployment is called.
func (t *targets) target(r *config.Resolved) (*provider.Target, error) {
	p := r.Provider
	keys, err := t.keyring(p)
	if err != nil {
		return nil, fmt.Errorf("provider %q: %w", p.ID, err)
	}
	k := clientKey{provider: p.ID, connect: r.Timeouts.Connect}
	t.used[k] = true
	header := make(http.Header, len(p.Headers))
	for name, value := range p.Headers {
		header.Set(name, value.Reveal())
	}
	if p.Upstream.Protocol != config.ProtocolOpenAI {
		return nil, fmt.Errorf("provider %q: no adapter speaks the protocol %q", p.ID, p.Upstream.Protocol)
	}
	adapter, err := openai.New(openai.Config{
		BaseURL: p.Upstream.BaseURL, Model: r.UpstreamModel, Keys: keys, Header: header,
		Client: t.clients.get(k), DeploymentPaths: p.Upstream.DeploymentPaths, APIVersion: p.Upstream.APIVersion,
		IncludeUsage: p.Upstream.IncludeUsage, AnswerLimit: t.file.Limits.Answer, Issues: t.issues,
	})
	if err != nil {
		return nil, fmt.Errorf("provider %q: %w", p.ID, err)
	}
	return &provider.Target{Adapter: adapter}, nil
}

// keyring returns the credentials of a provider, shared by its deployments so
// that they take turns over all of them.
func (t *targets) keyring(p *config.Provider) (*provider.Keyring, error) {
	if ring, ok := t.keys[p.ID]; ok {
		return ring, nil
	}
	name, prefix := "Authorization", "Bearer "
	switch p.Upstream.Auth {
	case config.AuthBearer:
	case config.AuthHeader:
		name, prefix = p.Upstream.AuthHeader, ""
	case config.AuthNone:
		return nil, nil //nolint:nilnil // no keyring: no credential is sent
	}
	var list []*provider.Credential
	var errs []error
	for i := range p.APIKeys {
		c, err := provider.NewCredential(name, prefix, p.APIKeys[i].Reveal())
		errs = append(errs, err)
		list = append(list, c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	t.keys[p.ID] = provider.NewKeyring(list...)
	return t.keys[p.ID], nil
}

func retryBudget(f *config.File) provider.RetryBudget {
	b := f.Router.RetryBudget
	return provider.RetryBudget{RatioPPM: b.Ratio, PerSecond: int64(b.PerSecond)}
}
