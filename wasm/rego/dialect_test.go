package rego

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Each built-in of OPA is in the dialect or refused with a reason, so a new
// version of OPA cannot add one unnoticed.
func TestEachBuiltinIsJudged(t *testing.T) {
	for _, b := range ast.Builtins {
		_, refused := refusal(b.Name)
		switch {
		case builtins[b.Name] != 0 && refused:
			t.Errorf("%s is allowed and refused", b.Name)
		case builtins[b.Name] == 0 && !refused:
			t.Errorf("%s is neither allowed nor refused", b.Name)
		case b.IsNondeterministic() && builtins[b.Name] != 0:
			t.Errorf("%s is allowed, and its result is not the same twice", b.Name)
		}
	}
	for name := range builtins {
		if !isBuiltin(name) {
			t.Errorf("%s is in the dialect, and OPA does not have it", name)
		}
	}
	for name := range refusals {
		known := slices.ContainsFunc(ast.Builtins, func(b *ast.Builtin) bool {
			return b.Name == name || strings.HasSuffix(name, ".") && strings.HasPrefix(b.Name, name)
		})
		if !known {
			t.Errorf("%s is refused, and OPA does not have it", name)
		}
	}
}

// What the dialect says is in the module needs no host, and what runs at the
// host has a function there.
func TestWhereBuiltinsRun(t *testing.T) {
	var calls strings.Builder
	calls.WriteString("package t\n")
	var want []string
	n := 0
	for _, name := range allowedNames() {
		_, served := Builtin(name)
		_, strictly := Builtin(strictPrefix + name)
		if atTheHost := builtins[name] == atHost; served != atTheHost && builtins[name] != strict || strictly != hasStrict(name) {
			t.Errorf("%s: served %v, strictly %v", name, served, strictly)
		}
		if builtins[name] == atHost {
			want = append(want, name)
		}
		if basic[name] {
			continue
		}
		args := make([]string, len(declaration(name).FuncArgs().Args))
		for i := range args {
			args[i] = fmt.Sprintf("input.request.tags.a%d", i)
		}
		fmt.Fprintf(&calls, "x contains [%d, v] if v := %s(%s)\n", n, name, strings.Join(args, ", "))
		n++
	}
	parsed := ast.MustParseModuleWithOpts(calls.String(), ast.ParserOptions{RegoVersion: ast.RegoV1})
	wasm, err := buildWasm(t.Context(), map[string]*ast.Module{"t.rego": parsed}, hostDialect(), "t/x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, slices.Sorted(newInstance(t.Context(), t, wasm, "{}").needs())); diff != "" {
		t.Errorf("-what should run at the host +what the module asks for\n%s", diff)
	}
}

// Every example of a built-in that is refused says why and, where there is
// another way, which.
func TestRefusalsSayWhy(t *testing.T) {
	for _, test := range []struct{ call, want string }{
		{`http.send({"url": "x"})`, "outside of the request; put what it would fetch into data"},
		{`time.now_ns()`, "input.request.now_unix_ms"},
		{`opa.runtime()`, "data.params"},
		{`rand.intn("x", 5)`, "input.request.seed"},
		{`crypto.x509.parse_certificates("x")`, "not bounded"},
		{`io.jwt.decode("x")`, "callers are known"},
		{`json.match_schema("{}", "{}")`, "would be read"},
		{`regex.globs_match("a", "b")`, "glob.match"},
		{`no.such("x")`, "there is no function no.such"},
		{`starts_with("x", "y")`, `did you mean "startswith"?`},
	} {
		text := fmt.Sprintf("package gatewright.admission\n\ndeny contains {\"code\": \"x\"} if %s == 1\n", test.call)
		_, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": text}})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "p.rego:3") {
			t.Errorf("%s: got %v, want %q", test.call, err, test.want)
		}
	}
}

// A problem reads well as JSON: the admin API passes it on.
func TestProblemAsJSON(t *testing.T) {
	b, err := json.Marshal(Problem{File: "p.rego", Line: 3, Column: 1, Rule: "deny", Message: "m", Fix: "f"})
	if err != nil || string(b) != `{"file":"p.rego","line":3,"column":1,"rule":"deny","message":"m","fix":"f"}` {
		t.Errorf("%s, %v", b, err)
	}
}

func TestNear(t *testing.T) {
	list := []string{"price", "price_in", "ttft_ms", "exclude", "deny"}
	for name, want := range map[string]string{
		"prise": "price", "pirce": "price", "exclde": "exclude", "dney": "deny", "price_im": "price_in", "zebra": "", "x": "", "": "", "ttftms": "ttft_ms",
	} {
		if got := near(name, list); got != want {
			t.Errorf("near(%q) = %q, want %q", name, got, want)
		}
	}
}
