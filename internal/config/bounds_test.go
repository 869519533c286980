package config

import (
	"fmt"
	"strings"
	"testing"
)

// Bounds keep hostile files cheap. Each of these would take minutes or all
// memory if it were followed.
func TestBounds(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n" + nested('k', "[%s]")
	merges := "a: &a {x: 1}\n" + nested('z', "{<<: [%s]}")
	wide := "providers: {" + strings.Repeat("a: {}, ", 10) + "}"
	tests := []struct{ name, text, want string }{
		{"alias bomb", bomb + "session: {headers: *k}\n", ""},
		{"alias bomb in a list", "session: {headers: &x [" + strings.Repeat("a, ", 1000) + "b]}\nmodels: {" + manyAliases() + "}", "names and values"},
		{"merge bomb", merges + "providers: {p: *z}\n", "names and values"},
		{"an alias inside its anchor", "providers: &p {a: *p}\n", "unknown key"},
		{"a merge into itself", "providers: &p {<<: *p}\n", "nests deeper"},
		{"deep brackets", "models: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), ""},
		{"deep mappings", "providers: {p: {tags: " + strings.Repeat("{a: ", 100) + "b" + strings.Repeat("}", 100) + "}}", ""},
		{"very many names", "providers:\n" + strings.Repeat("  ?\n", 300_000), "more than 500 problems"},
		{"very many problems", "models: {" + manyKeys(2000) + "}", "more than 500 problems"},
		{"the same key often", wide, "stands twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problems := Parse("bounds.yaml", []byte(tt.text), testOptions())
			if f != nil || problems.Err() == nil {
				t.Fatal("the file is taken")
			}
			if len(problems) > 2*(maxProblems+1) {
				t.Errorf("%d problems", len(problems))
			}
			if !strings.Contains(problems.Error(), tt.want) {
				t.Errorf("no %q in:\n%.2000s", tt.want, problems.Error())
			}
		})
	}
}

// nested defines b to last, each with nine aliases of the one before.
func nested(last rune, form string) string {
	var b strings.Builder
	for c := 'b'; c <= last; c++ {
		aliases := strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 9), ", ")
		fmt.Fprintf(&b, "%c: &%c "+form+"\n", c, c, aliases)
	}
	return b.String()
}

func manyAliases() string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "m%d: {aliases: *x}, ", i)
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "m%d: {nope: 1}, ", i)
	}
	return b.String()
}

// Many warnings leave a file usable, and hide no error.
func TestManyWarnings(t *testing.T) {
	var b strings.Builder
	b.WriteString("models: {m: {deployments: [p0]}}\nproviders: {")
	for i := range maxProblems + 100 {
		fmt.Fprintf(&b, "p%d: {protocol: openai, base_url: http://a.example, auth: none}, ", i)
	}
	f, problems := Parse("w.yaml", []byte(b.String()+"}"), testOptions())
	if f == nil || problems.Err() != nil || len(problems) != maxProblems+1 {
		t.Errorf("file = %v, %d problems", f != nil, len(problems))
	}
	f, problems = Parse("w.yaml", []byte(b.String()+"}\nkeys: {k: {}}"), testOptions())
	if f != nil || len(problems.Errors()) != 1 {
		t.Errorf("file = %v with errors:\n%v", f != nil, problems.Errors())
	}
}

func TestManyDeployments(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		b.WriteString("providers: {a: {protocol: openai, base_url: https://a.example/v1, auth: none}}\nmodels: {m: {deployments: [")
		for i := range n {
			fmt.Fprintf(&b, "{id: d%d, provider: a}, ", i)
		}
		return b.String() + "]}}"
	}
	if f := mustParse(t, list(MaxDeployments)); len(f.Models[0].Deployments) != MaxDeployments {
		t.Errorf("%d deployments", len(f.Models[0].Deployments))
	}
	f, problems := Parse("many.yaml", []byte(list(MaxDeployments+1)), testOptions())
	if f != nil || !strings.Contains(problems.Error(), "the model has 1025 deployments, and 1024 are the most") {
		t.Errorf("problems:\n%v", problems)
	}
}
