package e2e

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// soak reports whether the tests are to run in full length, as `make soak` does.
func soak() bool { return os.Getenv("GATEWRIGHT_SOAK") != "" }

// either returns how much of something a test does: a part of it every time,
// the whole in a soak.
func either[T any](part, whole T) T {
	if soak() {
		return whole
	}
	return part
}

// seed returns the seed of a test's random choices and prints it.
// GATEWRIGHT_SEED gives the one of a run that is to be played again.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64N(1 << 32)
	if text := os.Getenv("GATEWRIGHT_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("GATEWRIGHT_SEED: %v", err)
		}
		n = given
	}
	t.Logf("play it again with GATEWRIGHT_SEED=%d", n)
	return n
}

// dice are the random choices of a test.
func dice(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// spread says how durations are distributed.
type spread struct{ P50, P90, P99, Max time.Duration }

// spreadOf sorts the list.
func spreadOf(list []time.Duration) spread {
	if len(list) == 0 {
		return spread{}
	}
	slices.Sort(list)
	at := func(percent int) time.Duration { return list[(len(list)-1)*percent/100].Round(10 * time.Microsecond) }
	return spread{P50: at(50), P90: at(90), P99: at(99), Max: at(100)}
}

// eventually waits until f holds, and fails the test when it does not in time.
func eventually(t *testing.T, within time.Duration, what string, f func() bool) {
	t.Helper()
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(within); !f(); wait(t, time.Now().Add(pause)) {
		if time.Now().After(deadline) || t.Context().Err() != nil {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}
