package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatewright/internal/config/catalog"
)

// ErrNoProviders is what FromEnvironment returns when no variable names a
// provider. Its text says what to do.
var ErrNoProviders = errors.New("no configuration file, and no provider's key in the environment: " +
	"set one of " + strings.Join(keyVariables(), ", ") +
	", write a file and name it with --config, or try the gateway without any provider: gatewright demo")

// environmentName stands for the file in problems of FromEnvironment.
const environmentName = "environment"

// keyVariables are the variables that alone make a provider.
func keyVariables() []string {
	var names []string
	for _, p := range presets {
		if fromKeyAlone(p) {
			names = append(names, p.EnvKeys[0])
		}
	}
	return names
}

// fromKeyAlone reports whether a credential is all that the preset needs: its
// address and its models are known.
func fromKeyAlone(p Preset) bool { return len(p.EnvKeys) > 0 && p.BaseURL != "" && p.Catalog != "" }

// FromEnvironment makes the configuration of a gateway that has no file: a
// provider for each credential that the environment holds, and their models as
// the catalog lists them, under the makers' names. A model that several of the
// providers serve becomes one model with several deployments. The warnings say
// which variables were found and could not be used.
//
// The error is ErrNoProviders when no variable names a provider, or Problems
// when what they hold is not usable; then the file is nil.
func FromEnvironment(o Options) (*File, Problems, error) {
	o = o.withDefaults()
	d := newDecoder(environmentName, o.Env)
	f := newFile()
	c := newChecker(d, f, o)
	for _, p := range Presets() {
		name, _ := variable(p, o.Env)
		switch {
		case name == "":
		case p.Name == azurePreset:
			c.warn(path(name), "write a file with a provider {preset: azure-openai, resource: …} and its deployments",
				"the variable is set, but Azure's address and deployments are not known from it")
		case !fromKeyAlone(p):
		case !slices.Contains(o.Protocols, p.Protocol):
			c.warn(path(name), "write a file with another provider for its models",
				"the variable is set, but this version does not speak %s upstream", p.Protocol)
		default:
			provider := Provider{ID: p.Name, Preset: p.Name}
			provider.defaults()
			f.Providers = append(f.Providers, provider)
		}
	}
	if len(f.Providers) == 0 {
		return nil, d.finish(), ErrNoProviders
	}
	f.Models = catalogModels(f.Providers)
	newChecker(d, f, o).run()
	problems := d.finish()
	if err := problems.Err(); err != nil {
		return nil, problems, fmt.Errorf("read the environment: %w", err)
	}
	return f, problems, nil
}

// catalogModels makes models of what the catalog offers at the providers, in
// the order of the providers.
func catalogModels(providers []Provider) []Model {
	ids := make(map[string]bool, len(providers))
	for _, p := range providers {
		ids[p.ID] = true
	}
	place := make(map[string]int)
	var models []Model
	for _, p := range providers {
		pre, _ := preset(p.Preset) // providers are made from presets
		for _, entry := range catalog.Offered(pre.Catalog) {
			name := publicName(entry.Name)
			i, ok := place[name]
			if !ok {
				i = len(models)
				place[name] = i
				models = append(models, Model{Name: name})
			}
			m := &models[i]
			if slices.ContainsFunc(m.Deployments, func(d Deployment) bool { return d.Provider == p.ID }) {
				continue
			}
			d := Deployment{Provider: p.ID, UpstreamModel: entry.Name}
			d.defaults()
			m.Deployments = append(m.Deployments, d)
			// The aggregator's own name works too, unless it would hide a provider's.
			if maker, _, slash := strings.Cut(entry.Name, "/"); slash && !ids[maker] && !slices.Contains(m.Aliases, entry.Name) {
				m.Aliases = append(m.Aliases, entry.Name)
			}
		}
	}
	return dropTakenAliases(models, place)
}

// dropTakenAliases removes aliases that are the name of a model or the alias of
// an earlier one.
func dropTakenAliases(models []Model, place map[string]int) []Model {
	taken := make(map[string]bool)
	for i := range models {
		models[i].Aliases = slices.DeleteFunc(models[i].Aliases, func(alias string) bool {
			_, isName := place[alias]
			gone := isName || taken[alias]
			taken[alias] = true
			return gone
		})
	}
	return models
}

// publicName is the maker's name of a model that an aggregator lists as
// maker/name. Anthropic writes its versions with a hyphen where aggregators
// write a dot.
func publicName(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(base, "claude-") {
		return strings.ReplaceAll(base, ".", "-")
	}
	return base
}
