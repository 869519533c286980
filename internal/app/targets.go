package app

import (
	"errors"
	"fmt"
	"net/http"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/owner"
	"gatewright/internal/provider"
	"gatewright/internal/provider/anthropic"
	"gatewright/internal/provider/gemini"
	"gatewright/internal/provider/openai"
	"gatewright/internal/wire/translate"
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
	adapter, err := t.adapter(r, keys, header, t.clients.get(k))
	if err != nil {
		return nil, fmt.Errorf("provider %q: %w", p.ID, err)
	}
	return &provider.Target{Adapter: adapter}, nil
}

// adapter returns what speaks the protocol of a deployment.
func (t *targets) adapter(r *config.Resolved, keys *provider.Keyring, header http.Header, client *provider.Client) (provider.Adapter, error) {
	up := &r.Provider.Upstream
	switch up.Protocol {
	case config.ProtocolOpenAI:
		return openai.New(openai.Config{
			BaseURL: up.BaseURL, Model: r.UpstreamModel, Keys: keys, Header: header, Client: client,
			DeploymentPaths: up.DeploymentPaths, APIVersion: up.APIVersion, IncludeUsage: up.IncludeUsage,
			Native: native(r), Dialect: openai.Dialect(r.Dialect), Translation: translation(r),
			AnswerLimit: t.file.Limits.Answer, Issues: t.issues,
		})
	case config.ProtocolAnthropic:
		return anthropic.New(anthropic.Config{
			BaseURL: up.BaseURL, Model: r.UpstreamModel, Version: up.Version, Keys: keys, Header: header, Client: client,
			CountTokens: native(r).Has(engine.EndpointCountTokens), Translation: translation(r), AnswerLimit: t.file.Limits.Answer,
		})
	case config.ProtocolGemini:
		return gemini.New(gemini.Config{
			BaseURL: up.BaseURL, Model: r.UpstreamModel, Keys: keys, Header: header, Client: client,
			Translation: translation(r), AnswerLimit: t.file.Limits.Answer,
		})
	}
	return nil, fmt.Errorf("no adapter speaks the protocol %q", up.Protocol)
}

// translation is what a translation must know of a deployment.
func translation(r *config.Resolved) translate.Upstream {
	t := &r.Translation
	return translate.Upstream{
		MaxOutput: orZero(r.Limit.Output), Full: t.Full, Reasons: t.Reasons, Adaptive: t.Adaptive,
		KeepsReasoning: t.KeepsReasoning, ShortCallIDs: t.ShortCallIDs, SchemaOutput: t.SchemaOutput,
		NoSystemRole: r.Dialect.NoSystemRole, MaxTokensField: r.Dialect.MaxTokensField, ThinkTags: r.Dialect.ThinkTags,
	}
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
