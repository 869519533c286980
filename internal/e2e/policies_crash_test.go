package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// writer makes changes through the admin API, one after the other, to a policy and
// a binding of its own, and writes down what was acknowledged. The change that was
// under way when the gateway was killed may have happened or not.
type writer struct {
	name string
	dice *rand.Rand
	made int // sources, so that each is another one

	uploaded  []string // versions that are there
	active    string
	tolerance string // of the binding; "" = there is none

	maybe change // under way; its verb is "" when nothing is
}

// change is one write.
type change struct{ verb, version, tolerance string }

// source is a module that nobody has uploaded before.
func (w *writer) source(rank []byte) []byte {
	w.made++
	note := fmt.Sprintf("%s %d", w.name, w.made)
	section := append([]byte{byte(len("note"))}, "note"+note...)
	return append(append([]byte{}, rank...), append([]byte{0, byte(len(section))}, section...)...)
}

// next makes one change. It reports whether the gateway answered.
func (w *writer) next(t *testing.T, o *operator, rank []byte) bool {
	t.Helper()
	c := change{verb: []string{"upload", "activate", "bind", "upload", "delete", "unbind"}[w.dice.IntN(6)]}
	if most := 100; c.verb == "upload" && len(w.uploaded) >= most { // there may be 200
		c.verb = "delete"
	}
	want := http.StatusOK
	var got admitted
	switch {
	case c.verb == "bind" && w.active != "":
		c.tolerance = strconv.Itoa(1 + w.dice.IntN(1e6))
		w.maybe = c
		got = o.try("PUT", "/bindings/"+w.name, fmt.Appendf(nil, `{"policy":%q,"model":%q,"tolerance":%q}`, w.name, w.name, c.tolerance))
	case c.verb == "unbind" && w.tolerance != "":
		want = http.StatusNoContent
		w.maybe = c
		got = o.try("DELETE", "/bindings/"+w.name, nil)
	case c.verb == "activate" && len(w.uploaded) > 0:
		c.version = w.uploaded[w.dice.IntN(len(w.uploaded))]
		w.maybe = c
		got = o.try("POST", "/policies/"+w.name+"/activate", []byte(`{"version":"`+c.version+`"}`))
	case c.verb == "delete" && len(w.uploaded) > 3:
		c.version = w.uploaded[0]
		if c.version == w.active {
			c.version = w.uploaded[1]
		}
		want = http.StatusNoContent
		w.maybe = c
		got = o.try("DELETE", "/policies/"+w.name+"/versions/"+c.version, nil)
	default:
		source := w.source(rank)
		c = change{verb: "upload", version: digest(source)}
		want = http.StatusCreated
		w.maybe = c
		got = o.try("POST", "/policies?name="+w.name, source)
	}
	if got.err != nil {
		return false
	}
	w.maybe = change{}
	if got.status != want {
		t.Errorf("%s: %+v: %d %s, want %d", w.name, c, got.status, got.body, want)
		return false
	}
	w.apply(c)
	return true
}

// apply notes a change that has happened.
func (w *writer) apply(c change) {
	switch c.verb {
	case "upload":
		w.uploaded = append(w.uploaded, c.version)
	case "activate":
		w.active = c.version
	case "bind":
		w.tolerance = c.tolerance
	case "unbind":
		w.tolerance = ""
	case "delete":
		for i, v := range w.uploaded {
			if v == c.version {
				w.uploaded = append(w.uploaded[:i:i], w.uploaded[i+1:]...)
				return
			}
		}
	}
}

// String is what the writer knows.
func (w *writer) String() string {
	return fmt.Sprintf("active %.8s, tolerance %s, versions %s", w.active, w.tolerance, short(w.uploaded))
}

func short(digests []string) string {
	list := make([]string, len(digests))
	for i, d := range digests {
		list[i] = fmt.Sprintf("%.8s", d)
	}
	return strings.Join(list, " ")
}

// seen is what a gateway tells of the writer's policy and binding.
func (w *writer) seen(t *testing.T, o *operator) string {
	t.Helper()
	found := writer{name: w.name}
	if got := o.try("GET", "/policies/"+w.name, nil); got.status == http.StatusOK {
		found.active, _ = got.object(t)["active"].(string)
	}
	if got := o.try("GET", "/policies/"+w.name+"/versions?limit=1000", nil); got.status == http.StatusOK {
		list, _ := got.object(t)["data"].([]any)
		for _, v := range list {
			entry, _ := v.(map[string]any)
			version, _ := entry["version"].(string)
			found.uploaded = append(found.uploaded, version)
		}
	}
	if got := o.try("GET", "/bindings/"+w.name, nil); got.status == http.StatusOK {
		found.tolerance, _ = got.object(t)["tolerance"].(string)
	}
	return found.String()
}

// compare checks that what the gateway has is what it acknowledged, with or without
// the change that was under way.
func (w *writer) compare(t *testing.T, o *operator) {
	t.Helper()
	got, without := w.seen(t, o), w.String()
	c := w.maybe
	w.maybe = change{}
	if got == without {
		return
	}
	w.apply(c)
	if got != w.String() || c.verb == "" {
		t.Fatalf("%s: there is\n%s\nwant\n%s\nor, with %+v,\n%s", w.name, got, without, c, w)
	}
}

// TestKillsUnderAdminWrites kills the gateway while eight people upload, activate
// and bind: its file is clean, what was acknowledged is there, and nothing is there
// by half.
func TestKillsUnderAdminWrites(t *testing.T) {
	n := seed(t)
	sim := simulate(t)
	var models strings.Builder
	models.WriteString(adminRest + "models:\n  m: {deployments: [a]}\n")
	pick := dice(n, 5)
	writers := make([]*writer, 8)
	for i := range writers {
		writers[i] = &writer{name: fmt.Sprintf("p%d", i), dice: dice(n, uint64(10+i))}
		fmt.Fprintf(&models, "  p%d: {deployments: [a, b]}\n", i)
	}
	path, dir := write(t, "g.yaml", sim.config(models.String())), t.TempDir()
	rank := testdata(t, "wasm", "guests", "rank.wasm")
	acknowledged, lost := 0, 0
	var ready []time.Duration
	kills := either(8, 1000)
	for round := range kills + 1 {
		began := time.Now()
		gw := gateway(t, path, dir)
		o := operate(t, gw)
		eventually(t, 20*time.Second, "ready", func() bool { return status(t, gw.url("/readyz")) == http.StatusOK })
		ready = append(ready, time.Since(began))
		for _, w := range writers {
			if w.maybe.verb != "" {
				lost++
			}
			w.compare(t, o)
			if len(w.uploaded) > 0 {
				v := w.uploaded[len(w.uploaded)-1]
				if got := o.try("GET", "/policies/"+w.name+"/versions/"+v+"/source", nil); digest(got.body) != v {
					t.Fatalf("round %d: %s: the source of %s has another digest", round, w.name, v)
				}
			}
		}
		if got := askBody(t, gw, say("p0", "hello", false)); !strings.HasSuffix(got, "/p0") {
			t.Fatalf("round %d: served by %s", round, got)
		}
		if round == kills {
			break
		}
		var running sync.WaitGroup
		counts := make([]int, len(writers))
		for i, w := range writers {
			running.Go(func() {
				for w.next(t, o, rank) {
					counts[i]++
				}
			})
		}
		wait(t, time.Now().Add(time.Duration(50+pick.IntN(500))*time.Millisecond))
		gw.kill()
		running.Wait()
		for _, c := range counts {
			acknowledged += c
		}
		if t.Failed() {
			return
		}
		if code, out := runBinary(t, "store", "check", dir); code != 0 {
			t.Fatalf("round %d: the file is not clean: exit status %d\n%s", round, code, out)
		}
	}
	t.Logf("%d kills under 8 writers: %d changes acknowledged and found again, %d under way, ready after %+v", kills, acknowledged, lost, spreadOf(ready))
	if acknowledged == 0 || lost == 0 {
		t.Error("nothing was under way when the kills came")
	}
}
