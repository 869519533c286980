package wasm_test

import (
	"strings"
	"testing"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// What a guest sees of the world is always the same, and what it does there has
// no effect.
func TestWASI(t *testing.T) {
	m := answers(t, "wasi", wasm.Source{Profile: wasm.ProfileGo, Instances: 20})
	scores := func(mode uint32) []float64 {
		var out abi.Result
		if err := m.Rank(t.Context(), request(8, mode), &out); err != nil {
			t.Fatal(err)
		}
		return out.Scores
	}
	first := scores(100)
	// clock: fine, one second; sleep: fine; clock: 5 ms later; the event is the one
	// that was subscribed to, and the only one.
	for i, want := range []float64{0, 1e9, 0, 1e9 + 5e6, 42, 1} {
		if first[i] != want {
			t.Errorf("clock and sleep: score %d is %v, want %v", i, first[i], want)
		}
	}
	if first[6] == first[7] || first[6] == 0 {
		t.Errorf("randomness: %v and %v", first[6], first[7])
	}
	for range 40 { // in every instance, again and again
		for i, s := range scores(100) {
			if s != first[i] {
				t.Fatalf("score %d is %v, and was %v", i, s, first[i])
			}
		}
	}
	const badFile, invalid = 8, 28
	for mode, want := range map[uint32][]float64{
		101: {0, 14, badFile, invalid},
		102: {0, 2, badFile, badFile, badFile, 0, 0, 0},
		105: {invalid},
	} {
		for i, s := range scores(mode)[:len(want)] {
			if s != want[i] {
				t.Errorf("mode %d: score %d is %v, want %v", mode, i, s, want[i])
			}
		}
	}
	if n := m.Stats().Output; n != 14 {
		t.Errorf("%d bytes were written", n)
	}
	for mode, want := range map[uint32]string{
		103: "trap: exited with code 3", 104: "host: clock_time_get", 106: "budget: ", 107: "host: fd_write", 108: "budget: ",
	} {
		var out abi.Result
		f := faultOf(t, m.Rank(t.Context(), request(8, mode), &out))
		if !strings.Contains(f.Error(), want) {
			t.Errorf("mode %d: %v, want %q", mode, f, want)
		}
	}
}
