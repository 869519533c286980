package config

import (
	"slices"
	"strings"
)

// Policy is a rule that users write, in a file of its own.
type Policy struct {
	// Name is what bindings, policy:NAME and the admin API call it.
	Name string `config:",key"`
	// File is the source: Rego text (.rego), a Wasm module (.wasm) or an OPA bundle
	// (.tar.gz). A relative path is taken from the folder of the configuration
	// file.
	File string `config:"file"`
	// Profile is the sandbox's set of limits for a .wasm module; without it the one
	// that fits the module.
	Profile string `config:"profile" oneof:"small,opa,go"`
	// Kind is whether the policy admits or ranks, where its source does not say it:
	// a Rego package and an exported function do.
	Kind string `config:"kind" oneof:"admission,ranking"`

	// Path is where the file is: File, from the working directory.
	Path string
	// Format is what the file holds, by its extension.
	Format PolicyFormat
}

// PolicyFormat is what the file of a policy holds.
type PolicyFormat string

// The formats of policies.
const (
	PolicyRego   PolicyFormat = "rego"   // the text of one file
	PolicyWasm   PolicyFormat = "wasm"   // a module
	PolicyBundle PolicyFormat = "bundle" // an OPA bundle
)

// The kinds of policies.
const (
	kindAdmission = "admission"
	kindRanking   = "ranking"
)

// policyExtensions are the extensions of policy files.
var policyExtensions = []struct {
	suffix string
	format PolicyFormat
}{
	{".rego", PolicyRego}, {".wasm", PolicyWasm}, {".tar.gz", PolicyBundle},
}

// PolicyFormatOf returns what a file of that name holds; false if its extension
// is not one of a policy.
func PolicyFormatOf(name string) (PolicyFormat, bool) {
	for _, e := range policyExtensions {
		if strings.HasSuffix(name, e.suffix) {
			return e.format, true
		}
	}
	return "", false
}

// Binding says whom a policy serves, and how.
type Binding struct {
	// ID is the name of the binding, for logs and the admin API; without it the
	// policy's name, followed by -key- and the key, -model- and the model, where
	// those are set.
	ID string `config:"id"`
	// Policy is the policy, of this file or uploaded.
	Policy string `config:"policy"`
	// Key is the key whose requests it is for; without it those of all.
	Key string `config:"key"`
	// Model is the model whose requests it is for; without it those of all.
	//
	// After loading it is a name, no alias.
	Model string `config:"model"`
	// OnFault is what becomes of a request when an admission policy cannot decide:
	// it is refused, or goes on as if the policy had nothing against it.
	OnFault string `config:"on_fault" oneof:"fail_closed,fail_open"`
	// Parameters are handed to the policy: data.params in Rego, gw_configure in
	// Wasm.
	//
	// nil = none.
	Parameters Parameters `config:"parameters"`
	// Grant lists what the policy sees beyond what every policy sees: text (of the
	// whole conversation), last_user (the text of the user's last message), or
	// header.NAME.
	Grant []string `config:"grant"`
	// Stateful lets the policy keep a memory between requests.
	Stateful bool `config:"stateful"`
	// Tolerance is within how much of the best score a ranking counts candidates as
	// equal: 5% of it, or a plain number.
	Tolerance *Tolerance `config:"tolerance" kind:"bound"`
	// Order is its place among admission policies, lower first; then by id.
	Order int `config:"order" min:"-1000000" max:"1000000"`
}

// PolicyFiles lists the paths of the policies' files, sorted, each once.
func (f *File) PolicyFiles() []string {
	list := make([]string, 0, len(f.Policies))
	for i := range f.Policies {
		list = append(list, f.Policies[i].Path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// NamedPolicies lists the rankings that strategies name: policy:NAME as a
// selection or strategy, and the sort key score of combos. It is sorted and
// holds each once. Whether they exist is not checked here: they may have been
// uploaded.
func (f *File) NamedPolicies() []string {
	var list []string
	named := func(strategy string) {
		if name, ok := strings.CutPrefix(strategy, policyPrefix); ok {
			list = append(list, name)
		}
	}
	named(f.Router.Selection)
	for i := range f.Router.Models {
		named(f.Router.Models[i].Selection)
	}
	for i := range f.Keys {
		named(f.Keys[i].Strategy)
	}
	for i := range f.Strategies {
		for _, u := range f.Strategies[i].Keys {
			if u.Policy != "" {
				list = append(list, u.Policy)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
