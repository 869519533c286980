package policies

import (
	"fmt"
	"sync"
	"testing"

	"gatewright/wasm/rego"
)

func TestRecentCompilesOnce(t *testing.T) {
	var r recent
	upload := func(n int) (*Upload, rego.Source) {
		text := fmt.Sprintf("package gatewright.admission\ndeny contains {\"code\": \"c%d\"} if input.request.hour > 24\n", n)
		u := &Upload{Name: "p", Format: FormatRego, Body: []byte(text)}
		return u, rego.Source{Files: map[string]string{u.file(): text}}
	}
	first, source := upload(0)
	var mu sync.Mutex
	var running sync.WaitGroup
	got := map[*rego.Module]bool{}
	want, err := r.compile(t.Context(), first, source)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		running.Go(func() {
			m, err := r.compile(t.Context(), first, source)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[m] = true
		})
	}
	running.Wait()
	if len(got) != 1 || !got[want] {
		t.Errorf("%d modules of one source", len(got))
	}
	renamed := *first
	renamed.File = "other.rego"
	if m, err := r.compile(t.Context(), &renamed, source); err != nil || m == want {
		t.Errorf("under another name: the same module, %v; its problems would name the wrong file", err)
	}
	for n := range maxRecent {
		u, s := upload(n + 1)
		if _, err := r.compile(t.Context(), u, s); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.keys) != maxRecent || len(r.known) != maxRecent || r.known[Digest(first.Body)+"  p.rego"] != nil {
		t.Errorf("%d keys and %d modules are kept, want %d, the oldest dropped", len(r.keys), len(r.known), maxRecent)
	}
}
