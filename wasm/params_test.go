package wasm_test

import (
	"os"
	"strings"
	"testing"

	"gatewright/wasm"
)

// A guest that refuses its parameters says why, and whoever bound them reads it.
func TestRefusedParametersSayWhy(t *testing.T) {
	module, err := os.ReadFile("../testdata/wasm/sdk/c-ranking.wasm")
	if err != nil {
		t.Fatal(err)
	}
	r := newRuntime(t, wasm.Config{})
	_, err = r.Load(t.Context(), wasm.Source{Name: "rank", Bytes: module, Params: []byte(`{"no_such_parameter": 1}`)})
	if err == nil || !strings.Contains(err.Error(), "refused the parameters") || !strings.Contains(err.Error(), "no_such_parameter") {
		t.Errorf("got %v, want the guest's own words", err)
	}
}
