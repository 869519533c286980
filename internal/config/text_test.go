package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "one", "B_2": "two ${A} $", "EMPTY": ""}
	lookup := func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	tests := []struct {
		text, want string
		values     []string
		faults     int
	}{
		{"", "", nil, 0},
		{"plain $A $$ {A}", "plain $A $$ {A}", nil, 0},
		{"${A}", "one", []string{"one"}, 0},
		{"<${A}-${A}>", "<one-one>", []string{"one", "one"}, 0},
		{"${B_2}", "two ${A} $", []string{"two ${A} $"}, 0}, // never again
		{"x${EMPTY}y", "xy", []string{""}, 0},
		{"$${A}", "${A}", nil, 0},
		{"a$${A}b${A}c", "a${A}bonec", []string{"one"}, 0},
		{"$$${A}", "$${A}", nil, 0},
		{"${GONE}", "", nil, 1},
		{"${GONE} ${A} ${ALSO}", " one ", []string{"one"}, 2},
		{"${}", "", nil, 1},
		{"${A B}", "", nil, 1},
		{"${1}", "", nil, 1},
		{"${A:-x}", "", nil, 1},
		{"${A", "", nil, 1},
		{"${ ${A}", "", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, values, faults := expand(tt.text, lookup)
			if len(faults) != tt.faults {
				t.Fatalf("faults = %v, want %d", faults, tt.faults)
			}
			if (got != tt.want && tt.faults == 0) || !slices.Equal(values, tt.values) && tt.faults == 0 {
				t.Errorf("expand(%q) = %q with %q, want %q with %q", tt.text, got, values, tt.want, tt.values)
			}
		})
	}
}

// Text that escapes every ${ comes out as it was meant.
func TestExpandKeepsLiterals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringMatching(`([a-z ${}]|\$\{[A-Z]\})*`).Draw(t, "text")
		if strings.Contains(want, "$${") {
			return // that spelling means something else
		}
		got, _, faults := expand(strings.ReplaceAll(want, "${", "$${"), func(string) (string, bool) { return "", false })
		if got != want || len(faults) > 0 {
			t.Fatalf("got %q, %v, want %q", got, faults, want)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"listen", "log", "limits", "models", "api_key", "base_url", "last-known-good"}
	tests := []struct {
		name, want string
	}{
		{"lisen", "listen"},
		{"Listen", "listen"},
		{"model", "models"},
		{"apikey", "api_key"},
		{"api-key", "api_key"},
		{"base_ulr", "base_url"},
		{"last_known_goood", "last-known-good"},
		{"lgo", "log"},
		{"x", ""},
		{"", ""},
		{"telemetry", ""},
		{strings.Repeat("l", 100), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := nearest(tt.name, known); got != tt.want || ok != (tt.want != "") {
				t.Errorf("nearest(%q) = %q, %v, want %q", tt.name, got, ok, tt.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "acb", 1},
		{"price", "pirce", 1},
		{"kitten", "sitting", 3},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestPath(t *testing.T) {
	at := path("models").key("llama3.1:70b").key("deployments").index(2).key("provider")
	const want = `models."llama3.1:70b".deployments[2].provider`
	if string(at) != want {
		t.Errorf("path = %s, want %s", at, want)
	}
	var up []string
	for p := at; p != ""; p = p.parent() {
		up = append(up, string(p))
	}
	if d := cmp.Diff([]string{
		want, `models."llama3.1:70b".deployments[2]`, `models."llama3.1:70b".deployments`, `models."llama3.1:70b"`, "models",
	}, up); d != "" {
		t.Errorf("parents (-want +got):\n%s", d)
	}
	for _, tt := range []struct {
		inner, outer path
		want         bool
	}{
		{"a.b", "a", true}, {"a[0]", "a", true}, {"a", "a", true}, {"a", "", true}, {"ab", "a", false}, {"a", "a.b", false},
	} {
		if got := tt.inner.within(tt.outer); got != tt.want {
			t.Errorf("%s within %s = %v", tt.inner, tt.outer, got)
		}
	}
	if got := path("models").key(strings.Repeat("x", 1000)); got != `models."… of 1000 bytes"` {
		t.Errorf("path of a long name = %s", got)
	}
}

// The parent of every path that can be made is the path it was made from.
func TestPathParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := path(rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "root"))
		for range rapid.IntRange(1, 5).Draw(t, "depth") {
			inner := at.index(rapid.IntRange(0, 20).Draw(t, "index"))
			if rapid.Bool().Draw(t, "named") {
				inner = at.key(rapid.StringN(1, 8, -1).Draw(t, "name"))
			}
			if got := inner.parent(); got != at {
				t.Fatalf("parent of %s = %s, want %s", inner, got, at)
			}
			if !inner.within(at) {
				t.Fatalf("%s is not within %s", inner, at)
			}
			at = inner
		}
	})
}

func TestSecretIsNeverPrinted(t *testing.T) {
	const text = "sk-live-1234567890abcdef"
	s := NewSecret(text)
	type inner struct {
		Public  Secret
		private Secret
		list    []Secret
	}
	holder := inner{s, s, []Secret{s}}
	var outputs []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T %v"} {
		outputs = append(outputs, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder),
			fmt.Sprintf(verb, []Secret{s}), fmt.Sprintf(verb, map[string]Secret{"k": s}))
	}
	asJSON, err := json.Marshal(map[string]any{"secret": s, "holder": holder})
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(map[string]any{"secret": s, "list": []Secret{s}})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("x", slog.Any("secret", s), slog.Any("holder", holder), slog.Any("list", []Secret{s}))
	}
	outputs = append(outputs, string(asJSON), string(asYAML), log.String(), s.String(), fmt.Errorf("wrap %v", s).Error())
	for _, out := range outputs {
		for _, part := range []string{text, "1234567890", fmt.Sprintf("%x", text), fmt.Sprintf("%X", text)} {
			if strings.Contains(out, part) {
				t.Errorf("the secret is in %q", out)
			}
		}
	}
	if !strings.Contains(string(asJSON), `"secret":"***"`) || !strings.Contains(string(asYAML), "secret: '***'") {
		t.Errorf("masked as %s and %s", asJSON, asYAML)
	}
}

func TestSecret(t *testing.T) {
	s, none := NewSecret("abc"), NewSecret("")
	if s.Reveal() != "abc" || !s.IsSet() || none.IsSet() || none.Reveal() != "" || none != (Secret{}) {
		t.Error("a secret does not keep its text")
	}
	if !s.Equal(NewSecret("abc")) || s.Equal(NewSecret("abd")) || s.Equal(none) || !none.Equal(Secret{}) {
		t.Error("equality goes wrong")
	}
}

func TestWeakSecret(t *testing.T) {
	for _, weak := range []string{
		"changeme-changeme", "ChangeMe123456789", "password-password", "sk-your-api-key-here", "my-secret-token-1",
		"aaaaaaaaaaaaaaaaaaa", "abababababababababab", "12345678901234567890", "test-test-test-test", "replace-this-secret",
	} {
		if weakSecret(weak) == "" {
			t.Errorf("%q is taken", weak)
		}
	}
	for _, strong := range []string{
		"4207f6964059e5305f31f782bf1f82db", "gw-ci-3f1c9a7e5b2d8064", "correct horse battery", "Zx8!kq2#Lm5@Wp9$",
		"31415926535897932384626433832795",
	} {
		if why := weakSecret(strong); why != "" {
			t.Errorf("%q is refused: %s", strong, why)
		}
	}
}

func TestYAMLEscapes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"slash", `{"a": "x\/y"}`, `{"a": "x/y"}`},
		{"a backslash before a slash", `{"a": "x\\/y"}`, `{"a": "x\\/y"}`},
		{"two halves", `{"a": "\ud83d\ude00"}`, `{"a": "😀"}`},
		{"one half", `{"a": "\ud83d x"}`, `{"a": "\ud83d x"}`},
		{"halves in the wrong order", `{"a": "\ude00\ud83d"}`, `{"a": "\ude00\ud83d"}`},
		{"other escapes", `{"a": "\n\u00e9\""}`, `{"a": "\n\u00e9\""}`},
		{"no JSON", `{a: "x\/y"}`, `{a: "x\/y"}`},
		{"YAML", `a: "x\/y"`, `a: "x\/y"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(yamlEscapes([]byte(tt.in))); got != tt.want {
				t.Errorf("yamlEscapes(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}
