package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const orderRest = `
models:
  m: {deployments: [a, b, c, d]}
router:
  models:
    m: {providers: {a: {weight: 6000}, b: {weight: 4000}, c: {weight: 100}, d: {weight: 0}}}
`

// TestSessionsKeepTheirOrder looks at the whole order of each session, turn
// after turn, across a kill and a reload that changes nothing: it stays, and the
// deployment of weight 0 is in none.
func TestSessionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	config := sim.config(orderRest)
	path, dir := write(t, "g.yaml", config), t.TempDir()
	gw := gateway(t, path, dir)
	sessions := either(2000, 100_000)
	first := orders(t, gw, sessions)
	reload(t, gw, path, config+"# nothing else\n")
	again := orders(t, gw, sessions)
	gw.kill()
	gw = gateway(t, path, dir)
	later := orders(t, gw, sessions)
	moved, at := 0, map[string]int{}
	for session, order := range first {
		head, _, _ := strings.Cut(order, " ")
		at[head]++
		if again[session] != order || later[session] != order {
			moved++
			t.Errorf("session %s: %s, then %s, after a kill %s", session, order, again[session], later[session])
		}
		if strings.Contains(order, "d/m") || strings.Count(order, "/m") != 3 {
			t.Errorf("session %s: order %s, want a, b and c in some order", session, order)
		}
		if moved > 10 {
			t.Fatal("and more")
		}
	}
	calls := sim.calls()
	t.Logf("%d sessions, three turns each: none moved; first choices %v, calls %v", len(first), at, calls)
	if len(first) != sessions || calls["d"] != 0 {
		t.Errorf("%d sessions seen, want %d; %d calls to the deployment of weight 0", len(first), sessions, calls["d"])
	}
}

// orders sends one request of each session and reads from the log in which order
// its candidates stood.
func orders(t *testing.T, gw *process, sessions int) map[string]string {
	t.Helper()
	var mu sync.Mutex
	found := map[string]string{}
	lines := 0
	gw.listen(func(_ string, entry map[string]any) {
		request, _ := entry["request"].(map[string]any)
		session, _ := request["session"].(string)
		order, _ := entry["order"].([]any)
		if session == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		lines++
		found[session] = strings.Trim(fmt.Sprint(order), "[]")
	})
	defer gw.listen(nil)
	clients := newCaller(t, gw, 8)
	next := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range next {
				got := clients.chat(t.Context(), say("m", "the same words in every session", false), nil, "X-Gatewright-Session", fmt.Sprintf("session-%d", i))
				if got.status != http.StatusOK {
					t.Errorf("session %d: %v", i, got)
				}
			}
		})
	}
	for i := range sessions {
		next <- i
	}
	close(next)
	workers.Wait()
	eventually(t, 20*time.Second, "every request is in the log", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return lines == sessions
	})
	return found
}
