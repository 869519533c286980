package sdk_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// Whoever builds the sources anew gets modules that decide as those in the
// repository do.
func TestRebuild(t *testing.T) {
	if os.Getenv("FULL") != "1" {
		t.Skip("left out: building the modules of the SDKs anew; FULL=1 brings it")
	}
	r := newRuntime(t)
	for _, language := range languages[:3] {
		t.Run(language, func(t *testing.T) {
			if err := build(t, "-n", language); err != nil {
				t.Skipf("left out: building the modules in %s anew (%v)", language, err)
			}
			dir := t.TempDir()
			if err := build(t, "-o", dir, language); err != nil {
				t.Fatal(err)
			}
			if got, want := read(t, filepath.Join(dir, language+".sums")), read(t, filepath.Join(built, language+".sums")); string(got) != string(want) {
				t.Errorf("made of other sources:\n%s", cmp.Diff(string(want), string(got)))
			}
			for policy, params := range map[string]string{
				"admission": `{"regions":["eu-west","日本"],"share_ppm":500000}`, "ranking": `{"ms_nusd":77}`, "features": `{"words":["p-1","é"]}`, "removals": "",
			} {
				sameModules(t, r, language, policy, params, dir)
			}
		})
	}
}

// sameModules holds a module that was just built to the one in the repository.
func sameModules(t *testing.T, r *wasm.Runtime, language, policy, params, dir string) {
	t.Helper()
	old := load(t, r, language, policy, params)
	source := wasm.Source{Name: "fresh", Bytes: read(t, filepath.Join(dir, language+"-"+policy+".wasm")), Instances: 1}
	if params != "" {
		source.Params = []byte(params)
	}
	fresh, err := r.Load(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(old.Info().Manifest, fresh.Info().Manifest); diff != "" {
		t.Errorf("%s: the manifest (-repository +fresh):\n%s", policy, diff)
	}
	list := []*abi.Input{pool(0), pool(3), pool(20), pool(1000), do("texts", pool(20)), do("order", pool(20)), do("parameters", pool(1))}
	for seed := range 200 {
		list = append(list, inputs.Example(seed))
	}
	for n, in := range list {
		if diff := sameAnswer(answer(t, fresh, in), answer(t, old, in)); diff != "" {
			t.Errorf("%s, input %d (-repository +fresh):\n%s", policy, n, diff)
		}
	}
}
