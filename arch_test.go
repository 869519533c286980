// Package gatewright_test holds the house rules as a test: who may import whom.
package gatewright_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "gatewright/"

// room is what one package may import besides the standard library. A name
// that ends in /* stands for everything below it.
type room struct {
	ours    []string // packages of this module
	outside []string // modules or packages from outside
	never   []string // standard library packages that it must not use
	pure    bool     // no clock and no randomness of its own
	tests   bool     // for tests alone: nothing of the product imports it
}

// house is the whole plan of the house: a package that is not listed here
// fails the test, so a new room needs a row (and a reason).
var house = map[string]room{
	"engine":            {never: []string{"net/http", "os", "math/rand", "math/rand/v2"}, pure: true},
	"builtin":           {ours: []string{"engine", "builtin/admission", "builtin/ordering"}, never: []string{"net", "net/http", "os"}, pure: true},
	"builtin/admission": {ours: []string{"engine"}, never: []string{"net", "net/http", "os"}, pure: true},
	"builtin/ordering":  {ours: []string{"engine"}, never: []string{"net", "net/http", "os"}, pure: true},
	"policies":          {ours: []string{"engine", "wasm", "wasm/abi", "wasm/check", "wasm/rego"}},
	"policies/conform":  {ours: []string{"policies", "wasm", "wasm/abi", "wasm/check", "wasm/rego"}},
	"wasm":              {ours: []string{"wasm/abi", "wasm/check", "wasm/meter"}, outside: []string{"github.com/tetratelabs/wazero"}},
	"wasm/abi":          {never: io, pure: true},
	"wasm/abi/gen":      {ours: []string{"wasm/abi"}},
	"wasm/check":        {never: io},
	"wasm/meter":        {never: io},
	"wasm/rego":         {outside: []string{"github.com/open-policy-agent/opa"}, never: io},
	"store":             {outside: []string{"go.etcd.io/bbolt"}},

	"wasm/sdk":             {}, // the policies below it are of other machines, and import none of this module
	"wasm/sdk/go/manifest": {},

	"internal/wire/sse":     {never: io},
	"internal/wire/scan":    {never: io},
	"internal/wire/form":    {never: io},
	"internal/wire/request": {ours: []string{"internal/wire/scan"}, never: io},
	"internal/wire/fault":   {ours: []string{"internal/wire/scan"}, never: io},
	"internal/wire/openai":  {ours: []string{"internal/wire/sse", "internal/wire/scan", "internal/wire/request", "internal/wire/form", "internal/wire/fault"}, never: []string{"net", "os"}},

	"internal/wire/anthropic": {ours: []string{"internal/wire/sse", "internal/wire/scan", "internal/wire/request", "internal/wire/fault"}, never: []string{"net", "os"}},
	"internal/wire/gemini":    {ours: []string{"internal/wire/scan", "internal/wire/fault"}, never: io},
	"internal/wire/responses": {ours: []string{"internal/wire/sse", "internal/wire/scan", "internal/wire/request", "internal/wire/fault"}, never: []string{"net", "os"}},
	"internal/wire/prompt":    {ours: []string{"internal/wire/scan"}, never: []string{"net", "os"}},
	"internal/wire/tokens":    {ours: []string{"internal/wire/scan"}, outside: []string{"github.com/tiktoken-go/tokenizer"}, never: io},
	"internal/wire/translate": {ours: []string{"internal/wire/*"}, never: []string{"net", "os"}},
	"internal/wire/recorded":  {never: []string{"net", "os"}, tests: true},

	"internal/provider":        {ours: []string{"engine", "internal/wire/*", "internal/provider/health", "internal/provider/http1"}},
	"internal/provider/http1":  {ours: []string{"internal/socket"}},
	"internal/provider/health": {ours: []string{"engine"}},
	"internal/provider/exchange": {
		ours:    []string{"engine", "internal/provider", "internal/wire/*"},
		outside: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress"},
	},
	"internal/provider/translation": {ours: []string{"engine", "internal/provider", "internal/provider/exchange", "internal/wire/*"}},
	"internal/provider/openai":      {ours: adapter},
	"internal/provider/anthropic":   {ours: adapter},
	"internal/provider/gemini":      {ours: adapter},
	"internal/provider/fake":        {ours: []string{"internal/wire/*"}, outside: []string{"go.yaml.in/yaml/v3"}},

	"internal/socket":           {},
	"internal/server":           {ours: []string{"engine", "internal/socket"}, outside: []string{"github.com/gorilla/mux", "github.com/google/uuid"}},
	"internal/server/admin":     {ours: []string{"policies"}, outside: []string{"github.com/gorilla/mux"}},
	"internal/server/anthropic": {ours: []string{"engine", "internal/server", "internal/wire/*"}},
	"internal/server/openai":    {ours: []string{"engine", "internal/server", "internal/wire/*"}, outside: []string{"github.com/gorilla/mux"}},
	"internal/tenant":           {ours: []string{"engine"}},
	"internal/owner":            {ours: []string{"engine"}},
	"internal/meter":            {ours: []string{"engine", "store"}},

	"internal/vetting": {ours: []string{"policies"}},

	"internal/config":         {ours: []string{"internal/config/catalog"}, outside: []string{"go.yaml.in/yaml/v3", "github.com/fsnotify/fsnotify"}},
	"internal/config/catalog": {},

	"internal/app": {
		ours:    []string{"engine", "builtin", "store", "policies", "internal/*"},
		outside: []string{"github.com/google/uuid"},
	},
	"cmd/gatewright": {
		ours:    []string{"engine", "builtin", "store", "internal/*", "policies", "policies/conform", "wasm/check", "wasm/rego", "wasm/sdk"},
		outside: []string{"github.com/spf13/cobra"},
	},
}

// adapter is what an adapter may enter: never another one.
var adapter = []string{"engine", "internal/provider", "internal/provider/exchange", "internal/provider/translation", "internal/wire/*"}

// io is what pure protocol packages do not touch.
var io = []string{"net", "net/http", "os"}

type listed struct {
	ImportPath   string
	Dir          string
	Standard     bool
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != strings.TrimSuffix(module, "/") {
			list = append(list, p)
		}
	}
	return list
}

func TestEachPackageImportsWhatItsRoomAllows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		r, ok := house[name]
		if !ok {
			t.Errorf("%s: not in the plan of the house; give it a row in arch_test.go", name)
			continue
		}
		for _, i := range p.Imports {
			if why := r.refuses(i); why != "" {
				t.Errorf("%s imports %s: %s", name, i, why)
			}
			if house[strings.TrimPrefix(i, module)].tests {
				t.Errorf("%s imports %s, which is for tests alone", name, i)
			}
		}
		if r.pure {
			findClock(t, p)
		}
	}
}

// refuses says why the room may not import a path, or "".
func (r room) refuses(path string) string {
	if ours, ok := strings.CutPrefix(path, module); ok {
		if covers(r.ours, ours) {
			return ""
		}
		return "not a room that it may enter"
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		if slices.Contains(r.never, path) {
			return "never here"
		}
		return ""
	}
	for _, m := range r.outside {
		if path == m || strings.HasPrefix(path, m+"/") {
			return ""
		}
	}
	return "a dependency that its row does not name"
}

func covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		prefix, all := strings.CutSuffix(entry, "*")
		return entry == name || (all && strings.HasPrefix(name, prefix))
	})
}

// findClock reports uses of the clock in a package whose time comes with the
// request.
func findClock(t *testing.T, p listed) {
	t.Helper()
	for _, f := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "Tick"}, sel.Sel.Name) {
				t.Errorf("%s/%s uses time.%s: time comes with the request", p.ImportPath, f, sel.Sel.Name)
			}
			return true
		})
	}
}

// testOnly are the modules that test files may use besides those of their room.
var testOnly = []string{
	"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal",
}

func TestTestsUseKnownModules(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		r := house[name]
		r.outside = append(slices.Clone(r.outside), testOnly...)
		if strings.HasPrefix(name, "wasm/") {
			// What these rooms pass must run, on an engine that they never import.
			r.outside = append(r.outside, "github.com/tetratelabs/wazero")
		}
		r.ours, r.never = []string{"*"}, nil
		for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
			if why := r.refuses(i); why != "" {
				t.Errorf("a test of %s imports %s: %s", p.ImportPath, i, why)
			}
		}
	}
}

func TestEachPackageExplainsItself(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(p.GoFiles, "doc.go") && !slices.Contains(p.GoFiles, "main.go") {
			t.Errorf("%s has no doc.go", p.ImportPath)
		}
	}
}
