package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// regoKind is the kind of a policy in the words of its compiler; 0 = not said.
func regoKind(k Kind) rego.Kind {
	switch k {
	case Admission:
		return rego.Admission
	case Ranking:
		return rego.Ranking
	}
	return 0
}

// compileRule makes a program of Rego, of a bundle, or of a module that OPA's
// own tool made.
func (l *Library) compileRule(ctx context.Context, u *Upload, format Format, b *Binding) (*compiled, error) {
	if u.Profile != "" && u.Profile != string(wasm.ProfileOPA) {
		return nil, &SourceError{Name: u.Name, Problems: []Problem{{
			File: u.file(), Rule: "profile", Message: fmt.Sprintf("the profile %q is not for Rego", u.Profile), Fix: "leave it out, or write opa",
		}}}
	}
	var c *compiled
	var err error
	if format == FormatWasm {
		c, err = l.compileOPA(ctx, u, b)
	} else {
		c, err = l.compileRego(ctx, u, format, b)
	}
	if err != nil {
		return nil, err
	}
	c.version.Digest, c.version.Format, c.version.Profile = Digest(u.Body), format, string(wasm.ProfileOPA)
	c.version.File, c.version.Size = u.file(), len(u.Body)
	return c, nil
}

// compileRego compiles Rego here.
func (l *Library) compileRego(ctx context.Context, u *Upload, format Format, b *Binding) (*compiled, error) {
	m, err := l.recent.compile(ctx, u, u.rego(format))
	if err != nil {
		return nil, regoError(u, err)
	}
	var data []byte
	if b != nil {
		if err := b.granted(m.Reads); err != nil {
			return nil, err
		}
		if data, err = m.Bind(b.parameters(), nil); err != nil {
			return nil, regoError(u, err)
		}
	}
	reads, err := abi.ReadsOf(m.Reads)
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", u.Name, err)
	}
	kind := Kind(m.Kind.String())
	p := &rule{kind: kind, form: m.Form, reads: reads, outputs: m.Outputs}
	unready := b == nil && len(m.DataReads) > 0
	if m.Cacheable && (m.Form == rego.FormFacet || !slices.Contains(m.Outputs, rego.OutputExclude)) && kind == Admission {
		p.cache = newCache()
	}
	p.module, err = l.runtime.Load(ctx, wasm.Source{
		Name: u.Name, Bytes: m.Wasm, Profile: wasm.ProfileOPA, Stateful: b.stateful(), Entrypoint: m.Entrypoint, Data: data,
		Host: Host(m.Builtins), HostCost: rego.BuiltinCost, Own: true, Probes: probes(kind, reads, !unready),
	})
	if err != nil {
		return nil, sourceError(u, err)
	}
	c := &compiled{program: p, modules: []*wasm.Module{p.module}, kind: kind, reads: readsOf(m.Reads), hits: p.hits(), unready: unready}
	c.version.Inputs = m.Reads
	for _, n := range m.Notes {
		c.version.Warnings = append(c.version.Warnings, n.String())
	}
	return c, nil
}

// rego is an upload as the compiler of Rego takes it.
func (u *Upload) rego(format Format) rego.Source {
	source := rego.Source{Kind: regoKind(u.Kind)}
	if format == FormatBundle {
		source.Bundle = u.Body
	} else {
		source.Files = map[string]string{u.baseName(): string(u.Body)}
	}
	return source
}

// compileOPA takes a module that OPA's own tool made.
func (l *Library) compileOPA(ctx context.Context, u *Upload, b *Binding) (*compiled, error) {
	data, err := json.Marshal(map[string]json.RawMessage{"params": b.parameters()})
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", u.Name, err)
	}
	source := wasm.Source{Name: u.Name, Bytes: u.Body, Profile: wasm.ProfileOPA, Stateful: b.stateful(), Data: data, Host: everyHost(), HostCost: rego.BuiltinCost}
	names, err := l.entrypoints(ctx, source)
	if err != nil {
		return nil, sourceError(u, err)
	}
	entries, kind, form, err := rego.Entrypoints(names)
	if err != nil {
		return nil, &SourceError{Name: u.Name, Problems: []Problem{{File: u.file(), Rule: "entrypoints", Message: err.Error()}}}
	}
	p := &rule{kind: Kind(kind.String()), form: form, reads: abi.All()}
	c := &compiled{program: p, kind: p.kind, reads: reads{id: true, metadata: true, headers: true, text: true}, hits: p.hits()}
	source.Probes = probes(p.kind, p.reads, true)
	for _, e := range entries {
		source.Entrypoint = e.Name
		m, err := l.runtime.Load(ctx, source)
		if err != nil {
			l.discard(c) //nolint:contextcheck // what is made is closed though ctx has ended
			return nil, sourceError(u, err)
		}
		c.modules = append(c.modules, m)
		p.parts = append(p.parts, part{e.Output, m})
	}
	c.version.Warnings = []string{
		"it was compiled elsewhere: a type error or a misspelt field in it is undefined, and an output that is undefined fails; upload the Rego to have it checked",
	}
	return c, nil
}

// entrypoints asks a module for its entry points.
func (l *Library) entrypoints(ctx context.Context, s wasm.Source) ([]string, error) {
	s.Instances = 1
	m, err := l.runtime.Load(ctx, s)
	if err != nil {
		return nil, err
	}
	names := m.Info().Entrypoints
	return names, m.Close(ctx)
}

// Host are the built-ins of Rego that are served to a module of OPA's compiler, by
// those of the names that there are. One that fails ends the evaluation.
func Host(names []string) map[string]wasm.HostFunc {
	list := make(map[string]wasm.HostFunc, len(names))
	for _, name := range names {
		if f, ok := rego.Builtin(name); ok {
			list[name] = f
		}
	}
	return list
}

// everyHost are all functions that the host serves, for a module of which nobody
// knows what it needs.
func everyHost() map[string]wasm.HostFunc { return Host(rego.Builtins()) }

// regoError lists what is wrong with Rego.
func regoError(u *Upload, err error) error {
	refused, ok := errors.AsType[*rego.Error](err)
	if !ok {
		return fmt.Errorf("policy %q: %w", u.Name, err)
	}
	list := make([]Problem, len(refused.Problems))
	for i, p := range refused.Problems {
		list[i] = Problem(p)
		if f := list[i].File; f == "" || f == u.baseName() && u.Format != FormatBundle {
			list[i].File = u.file()
		}
	}
	return &SourceError{Name: u.Name, Problems: list}
}
