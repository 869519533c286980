package rego

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

// The fields that the analysis knows are those of the contract.
func TestFieldsAreTheContracts(t *testing.T) {
	sorts := map[abi.JSON]sort{
		abi.String: sortText, abi.Integer: sortInteger, abi.Bool: sortBool, abi.Map: sortTextMap, abi.Enum: sortCircuit, abi.SkipState: sortSkipped,
	}
	for _, o := range []struct {
		name   string
		object abi.Object
		have   []field
	}{{"request", abi.RequestObject, requestFields}, {"caller", abi.CallerObject, callerFields}, {"candidate", abi.CandidateObject, candidateFields}} {
		var want []field
		for _, f := range slices.Concat(abi.Header[:], abi.Record[:]) {
			if f.In == o.object && f.JSON != abi.Hidden {
				want = append(want, field{name: f.Name, sort: sorts[f.JSON], absent: f.Absent, median: f.Median})
			}
		}
		have := slices.Clone(o.have)
		for i := range have {
			have[i].volatile = false // is of this package alone
		}
		if diff := cmp.Diff(want, have, cmp.AllowUnexported(field{})); diff != "" {
			t.Errorf("%s: -contract +analysis\n%s", o.name, diff)
		}
	}
	if diff := cmp.Diff(abi.FacetNames[:], facetNames); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(abi.CircuitNames[:], circuits); diff != "" {
		t.Error(diff)
	}
	if abi.TagFacet != tagFacet {
		t.Errorf("tags are the facets %q, not %q", abi.TagFacet, tagFacet)
	}
}

// Every path that a policy can read is one that the host can write.
func TestReadsAreKnownToTheContract(t *testing.T) {
	paths := []string{"v", "facets.tag.zone", "facets", "candidates", "request.tags.a.b"}
	for _, f := range requestFields {
		paths = append(paths, "request."+f.name)
	}
	for _, f := range callerFields {
		paths = append(paths, "caller."+f.name)
	}
	for _, f := range candidateFields {
		paths = append(paths, "candidates[_]."+f.name)
	}
	for _, f := range facetNames {
		paths = append(paths, "facets."+f)
	}
	if _, err := abi.ReadsOf(paths); err != nil {
		t.Error(err)
	}
}
