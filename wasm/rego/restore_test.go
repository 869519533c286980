package rego

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A module that was told as JSON and restored is as the one that was compiled.
func TestRestore(t *testing.T) {
	const text = `package gatewright.admission

deny contains {"code": "late"} if input.request.hour > data.params.until
`
	source := Source{Files: map[string]string{"p.rego": text}}
	want, err := Compile(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Module
	if err := json.Unmarshal(told, &got); err != nil {
		t.Fatal(err)
	}
	if err := got.Restore(source); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got, cmpopts.IgnoreUnexported(Module{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-compiled +restored):\n%s", diff)
	}
	for _, params := range []string{`{"until": 20}`, `{"until": "x"}`, `{}`} {
		wantDoc, wantErr := want.Bind([]byte(params), nil)
		gotDoc, gotErr := got.Bind([]byte(params), nil)
		if string(wantDoc) != string(gotDoc) || (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error() {
			t.Errorf("bound to %s: %s, %v; want %s, %v", params, gotDoc, gotErr, wantDoc, wantErr)
		}
	}
	if err := new(Module).Restore(Source{Files: map[string]string{"p.rego": "package"}}); err == nil {
		t.Error("a source that cannot be read was restored")
	}
}
