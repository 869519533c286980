package fake

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fates sends requests one after the other and lists the faults that struck.
func (r *rig) fates(t *testing.T, n int, bodies ...string) []string {
	t.Helper()
	for i := range n {
		r.send(t, "POST", chatPath, bodies[i%len(bodies)])
	}
	var out []string
	for _, s := range r.Requests("a") {
		out = append(out, s.Fault)
	}
	return out
}

func TestScriptOrder(t *testing.T) {
	for _, c := range []struct {
		name, behaviour string
		want            []string
	}{
		{
			"steps, then the normal behaviour", "script: [{times: 2, fault: http-429}, ok, http-500]",
			[]string{"http-429", "http-429", "", "http-500", "", ""},
		},
		{
			"repeated", "script: [http-429, {times: 2, fault: ok}]\nrepeat: true",
			[]string{"http-429", "", "", "http-429", "", ""},
		},
		{
			"steps, then always", "script: [ok, http-400]\nalways: http-503",
			[]string{"", "http-400", "http-503", "http-503"},
		},
		{
			"ok is spared by always and by chance", "script: [{times: 3, fault: ok}]\nfail: {rate: 1, with: [http-500]}",
			[]string{"", "", "", "http-500"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			if diff := cmp.Diff(c.want, r.fates(t, len(c.want), chatBody)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A fault of streams leaves a plain request alone, and uses its step up.
func TestFaultThatDoesNotFit(t *testing.T) {
	r := newRig(t, oneUpstream("script: [eof-no-events, eof-no-events, invalid-json, invalid-json]"), Options{})
	got := r.fates(t, 4, chatBody, streamBody)
	if diff := cmp.Diff([]string{"", "eof-no-events", "invalid-json", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A draw is made among the faults that fit.
func TestDrawFits(t *testing.T) {
	r := newRig(t, oneUpstream("fail: {rate: 100%, with: [eof-no-events, invalid-json, choices-null]}"), Options{})
	got := r.fates(t, 60, chatBody, streamBody)
	plain, stream := map[string]bool{}, map[string]bool{}
	for i, f := range got {
		if i%2 == 0 {
			plain[f] = true
		} else {
			stream[f] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"invalid-json": true, "choices-null": true}, plain); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"eof-no-events": true, "choices-null": true}, stream); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestScriptOrderUnderConcurrency(t *testing.T) {
	r := newRig(t, oneUpstream("script: [{times: 30, fault: http-429}, {times: 20, fault: ok}, {times: 10, fault: http-500}]"), Options{})
	var wg sync.WaitGroup
	statuses := make([]int, 100)
	for i := range statuses {
		wg.Go(func() { statuses[i] = r.send(t, "POST", chatPath, chatBody).status })
	}
	wg.Wait()
	got := map[int]int{}
	for _, s := range statuses {
		got[s]++
	}
	if diff := cmp.Diff(map[int]int{429: 30, 200: 60, 500: 10}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSeedDecides(t *testing.T) {
	const behaviour = "fail: {rate: 30%, with: [http-500, http-429, http-503]}"
	run := func(seed int) []string {
		u := fmt.Sprintf("seed: %d\nupstreams:\n  a: {%s}\n", seed, behaviour)
		return newRig(t, u, Options{}).fates(t, 200, chatBody)
	}
	first, again, other := run(1), run(1), run(2)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed, other faults (-first +second):\n%s", diff)
	}
	if slices.Equal(first, other) {
		t.Error("another seed, the same faults")
	}
	struck := 0
	for _, f := range first {
		if f != "" {
			struck++
		}
	}
	if struck < 40 || struck > 80 {
		t.Errorf("%d of 200 were struck, want about 60", struck)
	}
}

func TestResetPlaysAgain(t *testing.T) {
	r := newRig(t, oneUpstream("script: [http-400]\nfail: {rate: 50%, with: [http-500, http-429]}\nquota: {requests: 15, per: 1h}"), Options{})
	first := r.fates(t, 20, chatBody)
	ids := func() (out []string) {
		for _, s := range r.Requests("a") {
			out = append(out, fmt.Sprint(s.Call, s.Status))
		}
		return out
	}
	before := ids()
	r.Reset()
	if n := r.Calls("a"); n != 0 || len(r.Requests("a")) != 0 {
		t.Errorf("%d calls, %d requests after Reset", n, len(r.Requests("a")))
	}
	if diff := cmp.Diff(first, r.fates(t, 20, chatBody)); diff != "" {
		t.Errorf("faults (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(before, ids()); diff != "" {
		t.Errorf("statuses (-first +second):\n%s", diff)
	}
}

// Draws are independent of the order in which calls are answered: call n has
// the same dice whatever happened before.
func TestDiceDependOnCallAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, salt, n := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "salt"), rapid.Uint64().Draw(t, "n")
		a, b := newDice(seed, salt, n), newDice(seed, salt, n)
		for range 10 {
			if x, y := a.next(), b.next(); x != y {
				t.Fatalf("%d and %d", x, y)
			}
		}
		c := newDice(seed, salt, n+1)
		if a.next() == c.next() {
			t.Fatal("two calls with the same dice")
		}
	})
}

func TestDiceAreFair(t *testing.T) {
	const throws, sides = 60_000, 6
	var count [sides]int
	for n := range uint64(throws) {
		d := newDice(1, saltOf("a"), n)
		count[d.below(sides)]++
	}
	for side, n := range count {
		if n < 9_500 || n > 10_500 {
			t.Errorf("side %d came %d times of %d", side, n, throws)
		}
	}
}

func TestFaultsOn(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]\nfaults_on: [models, embeddings]\nalways: http-500"), Options{})
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", chatPath, chatBody, 200},
		{"POST", "/a/v1/completions", `{"model":"m","prompt":"x"}`, 200},
		{"POST", "/a/v1/embeddings", embeddingBody, 500},
		{"GET", "/a/v1/models", "", 500},
	} {
		if got := r.send(t, c.method, c.path, c.body); got.status != c.want {
			t.Errorf("%s: got %d, want %d", c.path, got.status, c.want)
		}
	}
}
