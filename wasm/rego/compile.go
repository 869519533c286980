package rego

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	opabundle "github.com/open-policy-agent/opa/v1/bundle"
	opacompile "github.com/open-policy-agent/opa/v1/compile"
)

// Module is a policy that passed: its Wasm form and what the host must know to
// run it. It is not changed once it is made, so goroutines may share it.
type Module struct {
	Wasm       []byte // an OPA module, ABI 1.3
	Digest     string // of Wasm, hex SHA-256
	Kind       Kind
	Form       Form
	Outputs    []Output
	Entrypoint string // the one to evaluate; its result is for Answer.Read

	// Reads are the paths of the input that the policy looks at, sorted, as
	// "request.tags.residency", "candidates[_].price", "facets.region".
	Reads []string

	// DataReads are the paths of data that it looks at, sorted, as
	// "data.params.limit".
	DataReads []string

	// Cacheable says that the answer depends on nothing but CacheKey, parameters
	// and data: an answer may be kept for as long as these stay.
	Cacheable bool
	CacheKey  []string // the Reads that tell answers apart

	Builtins []string  // what the module calls at the host, for Builtin, sorted
	Notes    []Problem // what its author should know and nothing needs to be done about

	modules  map[string]*ast.Module
	data     map[string]any // of the bundle
	compiled string         // the policy.wasm in it, of which nothing is used; "" = there is none
}

// maxModule is the largest Wasm module, in bytes: what the structure check
// accepts.
const maxModule = 2 << 20

// Compile judges a policy and compiles it. The error is an *Error with every
// problem that could be found, or ctx's. What it costs is bounded by the limits
// of a Source: a second or two at the very most, some 10 ms as a rule, and never on
// the way of a request.
func Compile(ctx context.Context, s Source) (*Module, error) {
	r := &report{}
	modules, data := load(s, r)
	if err := r.err(); err != nil {
		return nil, err
	}
	kind := look(modules, s.Kind, r)
	if err := r.err(); err != nil {
		return nil, err
	}
	m := &Module{Kind: kind, modules: modules, data: data, compiled: r.compiled}
	known, err := m.document(s.Params, s.Data)
	if err != nil {
		return nil, err
	}
	a, err := m.analyse(modules, known, dialect())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hosted := move(modules, a.unproven)
	if a, err = m.analyse(hosted, known, hostDialect()); err != nil {
		return nil, err
	}
	if len(a.unproven) > 0 {
		return nil, fmt.Errorf("compile rego: calls of %v were not moved to the host", a.unproven)
	}
	m.describe(a)
	if m.Wasm, err = m.build(ctx, hosted); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(m.Wasm)
	m.Digest = hex.EncodeToString(sum[:])
	return m, nil
}

// analyse runs OPA's compiler over the files, with the analysis in its middle.
func (m *Module) analyse(modules map[string]*ast.Module, data *shape, language *ast.Capabilities) (*analysis, error) {
	r := &report{compiled: m.compiled}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, schema())
	var a *analysis
	middle := ast.CompilerStageDefinition{Name: "Shapes", MetricName: "shapes", Stage: func(c *ast.Compiler) *ast.Error {
		a = newAnalysis(m.Kind, c.Modules, data, r)
		if m.judge(a); len(r.problems) > 0 {
			// OPA's type checker comes next: its work grows with the types.
			return ast.NewError(ast.CompileErr, nil, "refused")
		}
		return nil
	}}
	c := ast.NewCompiler().
		WithCapabilities(language).WithDefaultRegoVersion(ast.RegoV1).WithStrict(true).
		WithSchemas(schemas).SetErrorLimit(maxProblems).
		WithStageAfterID(ast.StageCheckRecursion, middle)
	c.Compile(modules)
	if len(r.problems) == 0 && c.Failed() {
		r.addErrors(c.Errors)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return a, nil
}

// judge fills the analysis and reports what is wrong.
func (m *Module) judge(a *analysis) {
	outputs, form := a.outputs()
	var paths []string
	for _, o := range outputs {
		paths = append(paths, packageOf(a.kind)+"."+string(o))
	}
	a.run(paths)
	signs := a.signs(paths)
	if len(outputs) > 0 {
		a.unused(signs)
		a.judgeOutputs(outputs)
	}
	notes := a.judgeHazards(signs)
	m.Outputs, m.Form, m.Notes = outputs, form, notes
}

// describe writes down what the analysis found.
func (m *Module) describe(a *analysis) {
	m.Reads, m.DataReads = a.depends()
	m.CacheKey, m.Cacheable = cacheKey(m.Reads)
	m.Builtins = slices.Sorted(maps.Keys(a.hosted))
}

// move puts the calls of built-ins that can fail to the host, by their names
// there: those that always can, and in the rules at hand those whose arguments
// could be of another type.
func move(modules map[string]*ast.Module, unproven map[string][]string) map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(modules))
	for name, m := range modules {
		m = m.Copy()
		for _, rule := range m.Rules {
			more := unproven[m.Package.Path.String()+"."+ruleName(rule)]
			moveRule(rule, func(name string) bool { return builtins[name] == strict || slices.Contains(more, name) })
		}
		out[name] = m
	}
	return out
}

func moveRule(rule *ast.Rule, moved func(name string) bool) {
	operator := func(t *ast.Term) {
		if ref, ok := t.Value.(ast.Ref); ok && moved(ref.String()) {
			host := ast.Ref{ast.VarTerm(strings.TrimSuffix(strictPrefix, "."))}
			for p := range strings.SplitSeq(ref.String(), ".") {
				host = append(host, ast.StringTerm(p))
			}
			t.Value = host
		}
	}
	ast.WalkNodes(rule, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Expr:
			if terms, ok := n.Terms.([]*ast.Term); ok {
				operator(terms[0])
			}
		case *ast.Term:
			if call, ok := n.Value.(ast.Call); ok {
				operator(call[0])
			}
		}
		return false
	})
}

// build makes the Wasm module, with one entry point that gives all outputs.
func (m *Module) build(ctx context.Context, modules map[string]*ast.Module) (module []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			module, err = nil, fmt.Errorf("compile rego: %v", p)
		}
	}()
	m.Entrypoint = answerPackage + "/" + answerRule
	return buildWasm(ctx, withAnswer(modules, m.Kind, m.Outputs), hostDialect(), m.Entrypoint)
}

// withAnswer adds the rule that gives all outputs at once.
func withAnswer(modules map[string]*ast.Module, kind Kind, outputs []Output) map[string]*ast.Module {
	var parts []string
	for _, o := range outputs {
		parts = append(parts, fmt.Sprintf("%q: %s.%s", o, packageOf(kind), o))
	}
	text := fmt.Sprintf("package %s\n%s := {%s}\n", answerPackage, answerRule, strings.Join(parts, ", "))
	all := maps.Clone(modules)
	all[answerPackage+".rego"] = ast.MustParseModuleWithOpts(text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	return all
}

func buildWasm(ctx context.Context, modules map[string]*ast.Module, language *ast.Capabilities, entrypoints ...string) ([]byte, error) {
	b := &opabundle.Bundle{Data: map[string]any{}}
	b.SetRegoVersion(ast.RegoV1)
	b.Manifest.Init()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		b.Modules = append(b.Modules, opabundle.ModuleFile{URL: name, Path: name, Parsed: modules[name]})
	}
	var out bytes.Buffer
	c := opacompile.New().
		WithTarget(opacompile.TargetWasm).WithRegoVersion(ast.RegoV1).WithCapabilities(language).
		WithEntrypoints(entrypoints...).WithBundle(b).WithOutput(&out)
	if err := c.Build(ctx); err != nil {
		return nil, fmt.Errorf("compile rego: %w", err)
	}
	wasm := c.Bundle().WasmModules
	if len(wasm) != 1 {
		return nil, fmt.Errorf("compile rego: %d modules came out", len(wasm))
	}
	if n := len(wasm[0].Raw); n > maxModule {
		return nil, &Error{[]Problem{{Message: fmt.Sprintf("the compiled policy has %d bytes, the limit is %d", n, maxModule), Fix: fixSplit}}}
	}
	return wasm[0].Raw, nil
}

// Bind judges the policy against the parameters and the data of a binding, and
// returns the document to give to the module as data. Each may be nil, which is
// an empty document. The error is an *Error: a parameter that is missing, of
// another type than its use needs, or misspelt.
func (m *Module) Bind(params, data []byte) ([]byte, error) {
	if params == nil {
		params = []byte("{}")
	}
	if data == nil {
		data = []byte("{}")
	}
	known, err := m.document(params, data)
	if err != nil {
		return nil, err
	}
	check := *m
	if _, err := check.analyse(m.modules, known, dialect()); err != nil {
		return nil, err
	}
	merged, err := m.merged(params, data)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("bind rego: %w", err)
	}
	return text, nil
}

// document is the shape of data: what the bundle, the parameters and the
// binding's data say, and what is not known yet.
func (m *Module) document(params, data []byte) (*shape, error) {
	merged, err := m.merged(params, data)
	if err != nil {
		return nil, err
	}
	s := dataShape(merged, "data")
	if params == nil {
		s.fields["params"] = &shape{kinds: anything, later: true, name: "data.params", size: 1}
	}
	if data == nil {
		s.rest, s.key = &shape{kinds: anything, later: true, size: 1}, shapeText
	}
	return s, nil
}

// merged is one document of the bundle's data, the binding's data and the
// parameters. A policy's packages are no place for data.
func (m *Module) merged(params, data []byte) (map[string]any, error) {
	r := &report{}
	all := map[string]any{}
	add := func(v map[string]any, what string) {
		if at := merge(all, v, ""); at != "" {
			r.add(Problem{File: what, Message: "data" + at + " is there twice", Fix: "leave one of them out"})
		}
	}
	for what, text := range map[string][]byte{"data": data, "params": params} {
		if text == nil {
			continue
		}
		v, p := document(text, what)
		if p != nil {
			r.add(*p)
			continue
		}
		if what == "params" {
			v = map[string]any{"params": v}
		}
		add(v, what)
	}
	add(deepCopy(m.data), "bundle")
	for _, name := range slices.Sorted(maps.Keys(m.modules)) {
		pkg := m.modules[name].Package.Path
		var v any = all
		for _, p := range pkg[1:] {
			if inner, ok := v.(map[string]any); ok {
				v = inner[string(p.Value.(ast.String))] //nolint:forcetypeassert // a package's path is of texts
			} else {
				v = nil
			}
		}
		if v != nil {
			r.add(Problem{File: "data", Message: fmt.Sprintf("%s is a package of the policy, and data has a value there", pkg), Fix: "put the value under another name"})
		}
	}
	if _, taken := all[root]; taken {
		r.add(Problem{File: "data", Message: "data." + root + " belongs to policies", Fix: "put the value under another name"})
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return all, nil
}

func deepCopy(v map[string]any) map[string]any {
	c := make(map[string]any, len(v))
	for k, e := range v {
		if inner, ok := e.(map[string]any); ok {
			e = deepCopy(inner)
		}
		c[k] = e
	}
	return c
}
