package rego

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Outcome is how a test ended.
type Outcome uint8

// The outcomes of a test.
const (
	Passed  Outcome = iota + 1
	Failed          // the rule is undefined or false
	Errored         // something failed on the way, or it took too long
	Skipped         // its name begins with todo_
)

func (o Outcome) String() string {
	switch o {
	case Passed:
		return "pass"
	case Failed:
		return "fail"
	case Errored:
		return "error"
	case Skipped:
		return "skip"
	}
	return "unknown"
}

// TestResult is the outcome of one test rule in one form of the policy.
type TestResult struct {
	Package  string
	Name     string
	File     string
	Line     int
	Compiled bool // run in the compiled form; else natively
	Outcome  Outcome
	Message  string // why it did not pass, with the place where it is known
	Output   string // what print wrote, cut at 64 KiB; only natively
	Duration time.Duration
}

// Evaluator evaluates an entry point of a compiled module, with data and an
// input, and returns its value as JSON, or ErrUndefined. Built-ins that fail must
// make it fail.
type Evaluator func(ctx context.Context, module []byte, entrypoint string, data, input []byte) ([]byte, error)

// Bounds of a run of tests.
const (
	maxTests    = 1000
	maxTestTime = 5 * time.Second // of one test
	maxPrinted  = 64 << 10
)

// Test compiles the policy of a source and runs its tests: the rules whose name
// begins with test_, in the files that end in _test.rego, as people know them
// from OPA. Natively a built-in that fails is an error. With compiled each test
// runs in the compiled form besides, and both results are there. The error is
// Compile's, an *Error for what is wrong with the tests, or ctx's.
func Test(ctx context.Context, s Source, compiled Evaluator) ([]TestResult, error) {
	m, err := Compile(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &testRun{m: m, compiled: compiled}
	if err := t.load(s); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	var results []TestResult
	for _, rule := range t.rules {
		r := t.native(ctx, rule)
		results = append(results, r)
		if compiled == nil {
			continue
		}
		c := TestResult{Package: r.Package, Name: r.Name, File: r.File, Line: r.Line, Compiled: true, Outcome: Skipped}
		if r.Outcome != Skipped {
			t.inModule(ctx, &c, rule)
		}
		results = append(results, c)
	}
	return results, ctx.Err()
}

// testRun is one run of the tests of a policy.
type testRun struct {
	m        *Module
	compiled Evaluator
	modules  map[string]*ast.Module // of the policy and its tests
	rules    []*ast.Rule            // the first definition of each test
	data     map[string]any
	text     []byte // the same as JSON
	store    storage.Store
	compiler *ast.Compiler

	wasm    []byte // all tests as entry points
	wasmErr error
}

// load parses the tests.
func (t *testRun) load(s Source) error {
	files := s.Files
	if s.Bundle != nil {
		b, err := readBundle(s.Bundle)
		if err != nil {
			return &Error{[]Problem{err.problem()}}
		}
		files = b.files
	}
	r := &report{}
	t.modules = maps.Clone(t.m.modules)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, testSuffix) {
			if m := parse(name, files[name], dialect(), r); m != nil {
				t.modules[name] = m
				t.find(m)
			}
		}
	}
	if len(t.rules) > maxTests {
		r.add(Problem{Message: fmt.Sprintf("%d tests, the limit is %d", len(t.rules), maxTests)})
	}
	var err error
	if t.data, err = t.m.merged(s.Params, s.Data); err != nil {
		return err
	}
	if t.text, err = json.Marshal(t.data); err != nil {
		return fmt.Errorf("test rego: %w", err)
	}
	return r.err()
}

func (t *testRun) find(m *ast.Module) {
	seen := map[string]bool{}
	for _, rule := range m.Rules {
		name := ruleName(rule)
		if !strings.HasPrefix(name, "test_") && !strings.HasPrefix(name, "todo_test_") || seen[name] {
			continue
		}
		seen[name] = true
		t.rules = append(t.rules, rule)
	}
}

// prepare compiles policy and tests together.
func (t *testRun) prepare(ctx context.Context) error {
	t.store = inmem.NewFromObjectWithOpts(t.data, inmem.OptRoundTripOnWrite(false))
	t.compiler = ast.NewCompiler().WithCapabilities(dialect()).WithDefaultRegoVersion(ast.RegoV1).WithEnablePrintStatements(true)
	if t.compiler.Compile(t.modules); t.compiler.Failed() {
		r := &report{}
		r.addErrors(t.compiler.Errors)
		return r.err()
	}
	if t.compiled == nil {
		return nil
	}
	var entries []string
	for _, rule := range t.rules {
		entries = append(entries, entrypoint(rule))
	}
	if len(entries) == 0 {
		return nil
	}
	t.wasm, t.wasmErr = t.build(ctx, entries...)
	return nil
}

func (t *testRun) build(ctx context.Context, entries ...string) (module []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			module, err = nil, fmt.Errorf("compile tests: %v", p)
		}
	}()
	return buildWasm(ctx, move(t.modules, nil), hostDialect(), entries...)
}

// entrypoint is the name of a rule as an entry point.
func entrypoint(rule *ast.Rule) string {
	path := rule.Module.Package.Path.String() + "." + ruleName(rule)
	return strings.ReplaceAll(strings.TrimPrefix(path, "data."), ".", "/")
}

// native runs a test in OPA's evaluator.
func (t *testRun) native(ctx context.Context, rule *ast.Rule) TestResult {
	r := TestResult{
		Package: rule.Module.Package.Path.String(), Name: ruleName(rule), File: rule.Location.File, Line: rule.Location.Row, Outcome: Skipped,
	}
	if strings.HasPrefix(r.Name, "todo_") {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, maxTestTime)
	defer cancel()
	out, last := &printed{}, &lastFailure{file: r.File}
	started := time.Now()
	results, err := oparego.New(
		oparego.Query(r.Package+"."+r.Name),
		oparego.Compiler(t.compiler), oparego.Store(t.store),
		oparego.StrictBuiltinErrors(true), oparego.PrintHook(topdown.NewPrintHook(out)), oparego.EnablePrintStatements(true),
		oparego.QueryTracer(last),
	).Eval(ctx)
	r.Duration, r.Output = time.Since(started), out.String()
	switch {
	case err != nil:
		r.Outcome, r.Message = Errored, evalError(err).Error()
		if topdown.IsCancel(err) {
			r.Message = fmt.Sprintf("it took longer than %v", maxTestTime)
		}
	case len(results) == 0:
		r.Outcome, r.Message = Failed, last.String()
	default:
		r.judge(results[0].Expressions[0].Value, last.String())
	}
	return r
}

// judge tells a value of a test that passed from one that failed. A test
// test_name[case] has one value for each case.
func (r *TestResult) judge(value any, failure string) {
	r.Outcome, r.Message = Passed, ""
	cases, ok := value.(map[string]any)
	if !ok {
		if value == false {
			r.Outcome, r.Message = Failed, failure
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		if cases[name] == false {
			r.Outcome, r.Message = Failed, "case "+name
			return
		}
	}
}

// inModule runs a test in the compiled form.
func (t *testRun) inModule(ctx context.Context, r *TestResult, rule *ast.Rule) {
	module, err := t.wasm, t.wasmErr
	if err != nil {
		// One test that does not compile does not take the others with it.
		module, err = t.build(ctx, entrypoint(rule))
	}
	if err != nil {
		r.Outcome, r.Message = Skipped, "it runs natively alone: "+err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxTestTime)
	defer cancel()
	started := time.Now()
	value, err := t.compiled(ctx, module, entrypoint(rule), t.text, []byte("{}"))
	r.Duration = time.Since(started)
	var v any
	switch {
	case errors.Is(err, ErrUndefined):
		r.Outcome, r.Message = Failed, "the test is undefined"
	case err != nil:
		r.Outcome, r.Message = Errored, err.Error()
	case json.Unmarshal(value, &v) != nil:
		r.Outcome, r.Message = Errored, "the result is not JSON"
	default:
		r.judge(v, "the test is false")
	}
}

// printed keeps what print writes, up to a limit.
type printed struct{ bytes.Buffer }

func (p *printed) Write(b []byte) (int, error) {
	if room := maxPrinted - p.Len(); room > 0 {
		p.Buffer.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}

// lastFailure remembers the last expression of a file that was not true.
type lastFailure struct {
	file string
	expr *ast.Expr
}

// Enabled is part of topdown.QueryTracer.
func (*lastFailure) Enabled() bool { return true }

// Config is part of topdown.QueryTracer.
func (*lastFailure) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent is part of topdown.QueryTracer.
func (l *lastFailure) TraceEvent(e topdown.Event) {
	if e.Op != topdown.FailOp || e.Location == nil || e.Location.File != l.file {
		return
	}
	if expr, ok := e.Node.(*ast.Expr); ok {
		l.expr = expr
	}
}

func (l *lastFailure) String() string {
	if l.expr == nil {
		return "the test is undefined or false"
	}
	at := l.expr.Location
	return fmt.Sprintf("%s:%d: not true: %s", at.File, at.Row, short(strings.TrimSpace(string(at.Text))))
}
