//go:build !race

package provider

// The race detector lets pools forget what is in them, so what is allocated means
// something only without it.

import "testing"

// TestAttemptAllocations guards what a call costs beside the adapter: the
// attempt, its context, what health counts, and 3 of the engine's. An event of a
// stream costs none.
func TestAttemptAllocations(t *testing.T) {
	const most = 12
	whole := testing.AllocsPerRun(200, requests(t, &ready{body: []byte(`{}`)}))
	if whole > most {
		t.Errorf("a whole answer costs %.0f allocations, want at most %d", whole, most)
	}
	few := testing.AllocsPerRun(200, requests(t, &ready{body: []byte("data: {}\n\n"), events: 5}))
	many := testing.AllocsPerRun(200, requests(t, &ready{body: []byte("data: {}\n\n"), events: 100}))
	if few > most || many > few {
		t.Errorf("a stream costs %.0f allocations with 5 events and %.0f with 100, want at most %d for both", few, many, most)
	}
}
