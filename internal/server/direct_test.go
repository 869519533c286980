package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/gorilla/mux"
	"pgregory.net/rapid"
)

// TestDirectChoosesAsTheRouter compares where requests get to with and without
// the look-up in front.
func TestDirectChoosesAsTheRouter(t *testing.T) {
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	serve := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }
	}
	known := direct{}
	post := func(name, path string) { known[path] = m.Handle(path, serve(name)).Methods(http.MethodPost) }
	m.Handle("/narrow", serve("narrow")).Methods(http.MethodPost).Headers("Anthropic-Version", "")
	m.Handle("/first/{rest:.+}", serve("pattern")).Methods(http.MethodPost)
	m.Handle("/plain", serve("got")).Methods(http.MethodGet)
	post("plain", "/plain")
	post("narrow without", "/narrow")
	post("behind a pattern", "/first/plain")
	post("a pattern", "/{name}")
	post("escaped", "/a b")
	post("deep", "/v1/chat/completions")
	m.Handle("/twice", serve("first")).Methods(http.MethodPost)
	post("second", "/twice")
	m.NotFoundHandler, m.MethodNotAllowedHandler = serve("none"), serve("other method")
	front := known.before(m, []string{"Anthropic-Version"})

	if got, want := chosenPaths(known, m), []string{"/plain", "/v1/chat/completions"}; !slices.Equal(got, want) {
		t.Errorf("looked up directly: %q, want %q", got, want)
	}
	get := func(h http.Handler, method, target string, header bool) string {
		r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
		if header {
			r.Header.Set("Anthropic-Version", "x")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	piece := rapid.SampledFrom([]string{"/", "//", "/plain", "/narrow", "/first", "/twice", "/v1/chat/completions", "%2F", "%70lain", "/a%20b", "?q=1", "/.", "/..", ";", "/x"})
	rapid.Check(t, func(t *rapid.T) {
		target := "/" + strings.TrimPrefix(strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "target"), ""), "/")
		if rapid.Bool().Draw(t, "absolute") {
			target = "http://gw" + target
		}
		method := rapid.SampledFrom([]string{http.MethodPost, http.MethodPost, http.MethodGet, http.MethodDelete}).Draw(t, "method")
		header := rapid.Bool().Draw(t, "header")
		if got, want := get(front, method, target, header), get(m, method, target, header); got != want {
			t.Fatalf("%s %s (header: %v) gets to %q, want %q", method, target, header, got, want)
		}
	})
}

func chosenPaths(d direct, m *mux.Router) []string {
	var list []string
	for path := range d {
		if d.chosen(m, path, []string{"Anthropic-Version"}) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	last := ""
	for range 1000 {
		text := newID()
		id, err := uuid.Parse(text)
		if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 || seen[text] {
			t.Fatalf("%q is no new UUIDv7: %v", text, err)
		}
		seen[text] = true
		// 48 bits of milliseconds, the version, 12 bits of their parts.
		if at := text[:18]; at < last {
			t.Fatalf("%q comes after %q", at, last)
		}
		last = text[:18]
	}
	id, _ := uuid.Parse(newID())
	before, _ := uuid.NewV7()
	if d := id.Time() - before.Time(); d > 10_000_000 || d < -10_000_000 { // 100 ns each
		t.Errorf("an id is dated %d00 ns from now", d)
	}
}
