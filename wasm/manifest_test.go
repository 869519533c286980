package wasm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gatewright/wasm"
)

func TestManifest(t *testing.T) {
	r := newRuntime(t, wasm.Config{})
	module := read(t, "guests", "admit.wasm")
	good := `{"name": "eu-only", "version": "1.2.0", "kind": "admission", "abi": "1.0", "reasons": ["eu_only", "too_dear"],
		"inputs": ["candidates[_].region", "request.tags.residency"], "parameters": {"type": "object"}}`
	m := load(t, r, wasm.Source{Bytes: withManifest(module, good)})
	i := m.Info()
	if i.Manifest == nil || i.Manifest.Name != "eu-only" || i.Manifest.Version != "1.2.0" || string(i.Manifest.Parameters) != `{"type": "object"}` ||
		!slices.Equal(i.Reasons, []string{"eu_only", "too_dear"}) || len(i.Digest) != 64 || i.Structure.ABI != "1.0" {
		t.Errorf("got %+v", i)
	}
	if i := load(t, r, wasm.Source{Bytes: module}).Info(); i.Manifest != nil || !slices.Equal(i.Reasons, []string{"policy"}) {
		t.Errorf("without one: %+v", i)
	}
	for _, tt := range []struct{ name, manifest, words string }{
		{"not JSON", `name: x`, "invalid character"},
		{"empty", ``, "EOF"},
		{"two objects", `{"name":"x","kind":"admission"} {}`, "behind the JSON object"},
		{"unknown field", `{"name":"x","kind":"admission","reason":[]}`, `unknown field "reason"`},
		{"no name", `{"kind":"admission"}`, "name: "},
		{"a name with a line break", `{"name":"a\nb","kind":"admission"}`, "name: "},
		{"a long name", `{"name":"` + strings.Repeat("x", 200) + `","kind":"admission"}`, "1 to 128"},
		{"another kind", `{"name":"x","kind":"ranking"}`, `kind: "ranking", and the exports are those of a policy of kind "admission"`},
		{"a newer version", `{"name":"x","kind":"admission","abi":"1.1"}`, "version 1.1 of the contract, this gateway has 1.0"},
		{"another version", `{"name":"x","kind":"admission","abi":"2.0"}`, "version 2.0"},
		{"no version", `{"name":"x","kind":"admission","abi":"one"}`, `write it like "1.0"`},
		{"a reason that is no code", `{"name":"x","kind":"admission","reasons":["ok","EU only"]}`, "reasons[1]: "},
		{"a reason twice", `{"name":"x","kind":"admission","reasons":["a","a"]}`, `reasons[1]: "a" stands twice`},
		{"too many reasons", `{"name":"x","kind":"admission","reasons":[` + strings.Repeat(`"a",`, 64) + `"b"]}`, "reasons: there are 65"},
		{"an input that does not exist", `{"name":"x","kind":"admission","inputs":["candidates[_].prise"]}`, `no field "prise"`},
		{"parameters that are no schema", `{"name":"x","kind":"admission","parameters":[1]}`, "parameters: not an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.Load(t.Context(), wasm.Source{Name: "x", Bytes: withManifest(module, tt.manifest)})
			if refused, ok := errors.AsType[*wasm.LoadError](err); !ok || refused.Step != wasm.StepManifest || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want %q", err, tt.words)
			}
		})
	}
}
