//go:build !race

package policies

// The race detector lets pools forget what is in them, so what is allocated means
// something only without it.

import "testing"

// TestPathAllocations guards what the policies of a request allocate.
func TestPathAllocations(t *testing.T) {
	pool, request := benchPool(20), benchRequest()
	for _, p := range paths(t) {
		t.Run(p.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, p.start(t, request, pool)); n > p.allocations {
				t.Errorf("%.0f allocations, want at most %.0f", n, p.allocations)
			}
		})
	}
}
