package abi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

// shape lists what a document has, a path a field.
func shape(t *testing.T, in *abi.Input, r *abi.Reads) []string {
	t.Helper()
	var list []string
	for top, v := range parse(t, appendJSON(t, in, abi.Admission, r)) {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				list = append(list, top+"."+k)
			}
		case []any:
			names := map[string]bool{}
			for _, c := range v {
				for k := range c.(map[string]any) {
					names[k] = true
				}
			}
			for k := range names {
				list = append(list, top+"."+k)
			}
		case json.Number:
		}
	}
	slices.Sort(list)
	return list
}

// Each field can be read alone, and nothing else comes with it.
func TestEachFieldAlone(t *testing.T) {
	var paths []string
	for _, f := range slices.Concat(abi.Header[:], abi.Record[:]) {
		switch f.In {
		case abi.RequestObject, abi.CallerObject:
			paths = append(paths, f.In.String()+"."+f.Name)
		case abi.CandidateObject:
			paths = append(paths, "candidates."+f.Name)
		case abi.NoObject:
		}
	}
	for _, f := range abi.FacetNames {
		paths = append(paths, "facets."+f)
	}
	paths = append(paths, "facets.tag.team")
	if len(paths) < 60 {
		t.Fatalf("only %d fields", len(paths))
	}
	for _, path := range paths {
		reads, err := abi.ReadsOf([]string{strings.Replace(path, "candidates.", "candidates[_].", 1)})
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff([]string{path}, shape(t, example(), reads)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		alone := parse(t, appendJSON(t, example(), abi.Ranking, reads))
		all := parse(t, appendJSON(t, example(), abi.Ranking, abi.All()))
		top, _, _ := strings.Cut(path, ".")
		if part, ok := alone[top].(map[string]any); ok {
			for k, v := range part {
				if diff := cmp.Diff(all[top].(map[string]any)[k], v); diff != "" {
					t.Errorf("%s: %s", path, diff)
				}
			}
		}
		if got := slices.Sorted(maps.Keys(alone)); !slices.Equal(got, slices.Sorted(slices.Values([]string{top, "v"}))) {
			t.Errorf("%s: the document has %v", path, got)
		}
	}
}

func TestReadsOf(t *testing.T) {
	tests := []struct {
		name  string
		paths []string
		want  []string
	}{
		{"nothing", nil, nil},
		{"the version", []string{"v"}, nil},
		{"a tag of the request", []string{"request.tags.residency"}, []string{"request.tags"}},
		{"a tag with a strange name", []string{"request.tags[\"a.b\"]"}, []string{"request.tags"}},
		{"candidates by place", []string{"candidates[3].price_in", "candidates.0.tags.x", "candidates[].id"}, []string{"candidates.id", "candidates.price_in", "candidates.tags"}},
		{"a part of a field", []string{"candidates[_].skipped.reason"}, []string{"candidates.skipped"}},
		{"the caller", []string{"caller"}, []string{"caller.budget_left_nusd", "caller.rpm_left", "caller.tpm_left"}},
		{"facets with places", []string{"facets.region[_]", "facets.tag.team", "facets.tag.team"}, []string{"facets.region", "facets.tag.team"}},
		{"facets that nobody has", []string{"facets.tag.nobody.has"}, []string{"facets.tag.nobody.has"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := abi.ReadsOf(tt.paths)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, shape(t, example(), r)); diff != "" {
				t.Error(diff)
			}
		})
	}
	everything, err := abi.ReadsOf([]string{""})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := abi.ReadsOf([]string{"request", "caller", "candidates", "facets"})
	if err != nil {
		t.Fatal(err)
	}
	want := appendJSON(t, example(), abi.Ranking, abi.All())
	for _, r := range []*abi.Reads{everything, parts} {
		if got := appendJSON(t, example(), abi.Ranking, r); string(got) != string(want) {
			t.Errorf("got %s", got)
		}
		if !r.Candidates() || !r.Facets() {
			t.Error("candidates or facets are not read")
		}
	}
	if r := new(abi.Reads); r.Candidates() || r.Facets() {
		t.Error("the zero value reads something")
	}
}

func TestReadsOfRefuses(t *testing.T) {
	for path, word := range map[string]string{
		"reqest.team":           "input.reqest.team",
		"request.teem":          `no field "teem"`,
		"caller.budget":         `no field "budget"`,
		"candidates[_].cost":    `no field "cost"`,
		"candidates[_].price_":  `no field "price_"`,
		"facets.regoin":         `no field "regoin"`,
		"facets.tag.":           `no field "tag"`,
		"candidate.price":       "candidates",
		"request.request_flags": "request_flags",
	} {
		if _, err := abi.ReadsOf([]string{"v", path}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
