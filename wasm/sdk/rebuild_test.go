package sdk_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// Whoever builds the sources anew gets modules that describe themselves and decide
// as those in the repository do. Go's are not there, so they are held to those in C.
// The other tests of the package hold the new ones to the rule.
func TestRebuild(t *testing.T) {
	if len(rebuilt) == 0 {
		t.Skip("left out: building the modules of the SDKs anew; GATEWRIGHT_REBUILD names the languages")
	}
	r := newRuntime(t)
	for _, language := range rebuilt {
		t.Run(language, func(t *testing.T) {
			if builds[language] == nil {
				t.Fatalf("there are %v", languages)
			}
			other := language
			if language == "go" {
				other = "c"
			}
			for policy, params := range map[string]string{
				"admission": `{"regions":["eu-west","日本"],"share_ppm":500000}`, "ranking": `{"ms_nusd":77}`, "features": `{"words":["p-1","é"]}`, "removals": "",
			} {
				t.Run(policy, func(t *testing.T) {
					sameModules(t, ready(t, r, language, policy, params, fresh(t, language, policy)), ready(t, r, other, policy, params, kept(t, other, policy)))
				})
			}
			if language == "go" {
				return
			}
			dir, _ := builds[language]()
			if got, want := read(t, filepath.Join(dir, language+".sums")), read(t, filepath.Join(built, language+".sums")); string(got) != string(want) {
				t.Errorf("made of other sources (-repository +fresh):\n%s", cmp.Diff(string(want), string(got)))
			}
		})
	}
}

// sameModules holds a module that was just built to one in the repository.
func sameModules(t *testing.T, got, want *wasm.Module) {
	t.Helper()
	a, b := *want.Info().Manifest, *got.Info().Manifest
	a.Parameters, b.Parameters = compact(t, a.Parameters), compact(t, b.Parameters)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the manifest (-repository +fresh):\n%s", diff)
	}
	list := []*abi.Input{pool(0), pool(3), pool(20), pool(1000), do("texts", pool(20)), do("order", pool(20)), do("parameters", pool(1))}
	for seed := range 200 {
		list = append(list, inputs.Example(seed))
	}
	for n, in := range list {
		if diff := sameAnswer(answer(t, got, in), answer(t, want, in)); diff != "" {
			t.Errorf("input %d (-repository +fresh):\n%s", n, diff)
		}
	}
}
