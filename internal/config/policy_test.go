package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const anyRoute = "providers: {openai: {preset: openai}}\nmodels: {m: {deployments: [openai]}}\n"

func TestPoliciesOfAFile(t *testing.T) {
	f := loadCase(t, "complete.good.yaml")
	if d := cmp.Diff([]string{"drain-first", "uploaded"}, f.NamedPolicies()); d != "" {
		t.Errorf("named (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{
		filepath.Join(casesDir, "policies/office-hours.rego"), filepath.Join(casesDir, "../wasm/guests/rank.wasm"),
	}, f.PolicyFiles()); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	f = mustParse(t, anyRoute+`
router: {selection: "policy:b", models: {m: {selection: "policy:a"}}}
keys: {ci: {secret: "${CI_KEY}", strategy: "policy:c"}, web: {secret: "${CI_KEY_2}", strategy: "policy:b"}}
strategies: {mixed: [{key: price}, {key: score, policy: d}]}
`)
	if d := cmp.Diff([]string{"a", "b", "c", "d"}, f.NamedPolicies()); d != "" {
		t.Errorf("named by each level (-want +got):\n%s", d)
	}
	if got := mustParse(t, anyRoute).PolicyFiles(); len(got) != 0 {
		t.Errorf("files of no policies: %v", got)
	}
}

// Files are found from the folder of the configuration, or by their whole path.
func TestPolicyPaths(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "elsewhere.tar.gz")
	for _, name := range []string{whole, filepath.Join(dir, "near.rego")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "gatewright.yaml")
	f, problems := Parse(name, []byte(anyRoute+"policies: {near: {file: ./near.rego}, whole: {file: "+whole+"}}"), testOptions())
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if d := cmp.Diff([]Policy{
		{Name: "near", File: "./near.rego", Path: filepath.Join(dir, "near.rego"), Format: PolicyRego},
		{Name: "whole", File: whole, Path: whole, Format: PolicyBundle},
	}, f.Policies); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if os.Geteuid() == 0 {
		return // who may read everything can read it
	}
	if err := os.Chmod(whole, 0); err != nil {
		t.Fatal(err)
	}
	_, problems = Parse(name, []byte(anyRoute+"policies: {whole: {file: "+whole+"}}"), testOptions())
	if !strings.Contains(problems.Error(), "permission denied") {
		t.Errorf("a file that may not be read: %v", problems)
	}
}

// A file that gives nothing but takes forever to read is refused unread.
func TestPolicyFileIsRegular(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.rego")
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Skip(err)
	}
	_, problems := Parse("c.yaml", []byte(anyRoute+"policies: {p: {file: "+path+"}}"), testOptions())
	if !strings.Contains(problems.Error(), "is not a regular file") {
		t.Errorf("problems: %v", problems)
	}
}

func TestParameters(t *testing.T) {
	long := strings.Repeat("9", maxParamDigits)
	tests := []struct{ name, yaml, want string }{
		{"empty", "{}", `{}`},
		{"order stays", "{b: 1, a: 2}", `{"b":1,"a":2}`},
		{"numbers stay", "{a: 0.10, b: 1e3, c: -0, d: 18446744073709551617, e: 1.0, f: " + long + "}", `{"a":0.10,"b":1e3,"c":-0,"d":18446744073709551617,"e":1.0,"f":` + long + `}`},
		{"quoted numbers are text", `{a: "1", b: '2', "3": 4}`, `{"a":"1","b":"2","3":4}`},
		{"truth", "{a: true, b: False, c: on, d: null, e: ~, f: }", `{"a":true,"b":false,"c":"on","d":null,"e":null,"f":null}`},
		{"dates are text", "{a: 2027-01-31, b: 2027-01-31T18:00:00Z}", `{"a":"2027-01-31","b":"2027-01-31T18:00:00Z"}`},
		{"nesting", "{a: [1, [2], {b: []}], c: {d: {}}}", `{"a":[1,[2],{"b":[]}],"c":{"d":{}}}`},
		{"variables", `{"${COUNT}": "${COUNT} of $${COUNT}"}`, `{"${COUNT}":"5 of ${COUNT}"}`},
		{"escapes", `{a: "\"\\\n\u00e9\u2028"}`, `{"a":"\"\\\né\u2028"}`},
		{"anchors", "{a: &a {x: 1}, b: *a, c: {<<: *a, y: 2}}", `{"a":{"x":1},"b":{"x":1},"c":{"y":2,"x":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := mustParse(t, anyRoute+"bindings: [{policy: p, parameters: "+tt.yaml+"}]")
			if got := string(f.Bindings[0].Parameters); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if f := mustParse(t, anyRoute+"bindings: [{policy: p, parameters: }]"); f.Bindings[0].Parameters != nil {
		t.Errorf("nothing gives %s", f.Bindings[0].Parameters)
	}
}

// Whatever JSON says, parameters say the same: the reader of YAML changes no
// number and no text.
func TestParametersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"v": drawJSON(t, 3)}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("${"), []byte("$ {"))
		f, problems := Parse("c.yaml", []byte(`{"providers": {"openai": {"preset": "openai"}}, "models": {"m": {"deployments": ["openai"]}},
			"bindings": [{"policy": "p", "parameters": `+string(text)+`}]}`), testOptions())
		if problems.Err() != nil {
			t.Fatalf("%s\n%v", text, problems)
		}
		got, err := decodeExact(f.Bindings[0].Parameters)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeExact(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(again, got); d != "" {
			t.Fatalf("%s (-want +got):\n%s", text, d)
		}
	})
}

func decodeExact(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func drawJSON(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "truth")
	case 2:
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,5})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number"))
	case 3, 4:
		return rapid.StringOf(rapid.RuneFrom([]rune("aZ09 -_.:#'\"\\/{}[]&*!|>%@`,?\n\té≠\u00a0"))).Draw(t, "text")
	}
	n := rapid.IntRange(0, 3).Draw(t, "length")
	if depth == 0 {
		n = 0
	}
	if rapid.Bool().Draw(t, "list") {
		list := make([]any, n)
		for i := range list {
			list[i] = drawJSON(t, depth-1)
		}
		return list
	}
	object := make(map[string]any)
	for range n {
		object[rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name")] = drawJSON(t, depth-1)
	}
	return object
}

func TestParametersAreBounded(t *testing.T) {
	big := strings.Repeat("x", maxParameters/8)
	tests := []struct{ name, yaml, want string }{
		{"deep", strings.Repeat("{a: ", maxParamDepth+1) + strings.Repeat("}", maxParamDepth+1), "deeper than 32 levels"},
		{"large", "{a: &a " + big + ", b: [*a, *a, *a, *a, *a, *a, *a, *a]}", "more than 1048576 bytes"},
		{"many", "{a: &a [" + strings.Repeat("1000000000000000000, ", 1000) + "], b: [" + strings.Repeat("*a, ", 60) + "]}", "more than 1048576 bytes"},
		{"a long number", "{a: " + strings.Repeat("1", maxParamDigits+1) + "}", "more than 64 characters"},
		{"an anchor inside itself", "&a {a: *a}", "nest"},
		{"no plain key", "{[a]: 1}", "a key that is not plain text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Parse("c.yaml", []byte(anyRoute+"bindings: [{policy: p, parameters: "+tt.yaml+"}]"), testOptions())
			if !strings.Contains(problems.Error(), tt.want) {
				t.Errorf("problems = %.500v, want %q", problems, tt.want)
			}
		})
	}
}

func TestBindingsAreBounded(t *testing.T) {
	long := strings.Repeat("k", maxName)
	_, problems := Parse("c.yaml", []byte(anyRoute+"keys: {"+long+": {secret: \"${CI_KEY}\"}}\nbindings: [{policy: p, key: "+long+"}]"), testOptions())
	if !strings.Contains(problems.Error(), "the binding needs an id") {
		t.Errorf("problems: %v", problems)
	}
	_, problems = Parse("c.yaml", []byte(anyRoute+"bindings: [{policy: p, grant: [header.a"+headers(maxGrantedHeaders)+"]}]"), testOptions())
	if !strings.Contains(problems.Error(), "33 headers are granted") {
		t.Errorf("problems: %v", problems)
	}
	mustParse(t, anyRoute+"bindings: [{policy: p, grant: [text"+headers(maxGrantedHeaders)+"]}]")
}

func headers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", header.x" + strings.Repeat("y", i))
	}
	return b.String()
}

func TestAdminListen(t *testing.T) {
	tests := []struct {
		listen, admin string
		want          string // "" = taken
	}{
		{"127.0.0.1:20128", "127.0.0.1:20129", ""},
		{"127.0.0.1:0", "127.0.0.1:0", ""},
		{"127.0.0.1:1", "127.0.0.2:1", ""},
		{"127.0.0.1:1", "[::1]:1", ""},
		{"127.0.0.1:1", "off", ""},
		{"127.0.0.1:1", "127.0.0.1:1", "clients call the same address"},
		{"localhost:1", "LOCALHOST:1", "clients call the same address"},
		{"localhost:1", "127.0.0.1:1", "clients call the same address"},
		{"127.0.0.1:1", "0.0.0.0:1", "clients call the same address"},
		{"127.0.0.1:1", "[::]:1", "clients call the same address"},
		{"127.0.0.1:1", ":1", "clients call the same address"},
		{"127.0.0.1:1", "20129", "is not host:port; write host:port, such as 127.0.0.1:20129, or off"},
		{"127.0.0.1:1", "", "write off"},
	}
	for _, tt := range tests {
		t.Run(tt.listen+" and "+tt.admin, func(t *testing.T) {
			f, problems := Parse("a.yaml", []byte(anyRoute+"listen: "+tt.listen+"\nadmin: {listen: \""+tt.admin+"\"}"), testOptions())
			if got := problems.Error(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("problems = %q, want %q", got, tt.want)
			}
			if want := strings.TrimPrefix(tt.admin, "off"); f != nil && f.Admin.Listen != want {
				t.Errorf("listens on %q, want %q", f.Admin.Listen, want)
			}
		})
	}
}

func TestAdminToken(t *testing.T) {
	const strong = "gwa-71c0f9a2b5d84e36"
	tests := []struct {
		name, yaml, variable, want string
		problem                    string
	}{
		{"none", "", "", "", ""},
		{"of the environment", "", strong, strong, ""},
		{"of the file", "admin: {token: \"${CI_KEY}\"}", strong, testEnv["CI_KEY"], ""},
		{"weak in the environment", "", "admin-admin-admin", "", "GATEWRIGHT_ADMIN_TOKEN: the secret can be guessed"},
		{"short in the environment", "", "short", "", "GATEWRIGHT_ADMIN_TOKEN: the secret has less than 16 characters"},
		{"weak in the file", "admin: {token: admin-admin-admin}", strong, "", "admin.token: the secret can be guessed"},
		{"empty in the file", "admin: {token: \"\"}", strong, "", "the token is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problems := Parse("a.yaml", []byte(anyRoute+tt.yaml), Options{Env: func(name string) (string, bool) {
				if name == AdminTokenVariable {
					return tt.variable, tt.variable != ""
				}
				return lookupTest(name)
			}})
			if got := problems.Error(); (got == "") != (tt.problem == "") || !strings.Contains(got, tt.problem) {
				t.Fatalf("problems = %q, want %q", got, tt.problem)
			}
			hidesSecrets(t, problems.Error())
			if f != nil && f.Admin.Token.Reveal() != tt.want {
				t.Error("another token")
			}
		})
	}
}
