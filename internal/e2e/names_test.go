package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const namesRest = `
models:
  openrouter/gpt-4: {deployments: [a, b]}
  llama3.1:70b: {deployments: [a, b]}
  x-v2:0: {aliases: ["x:latest", "x/y:z"], deployments: [a, b]}
  plain: {deployments: [{provider: b, upstream_model: "up/stream:name"}]}
router: {selection: priority}
keys:
  plain: {secret: sk-names-0123-plain, expose_routing: true}
  chooser: {secret: sk-names-0123-chooser, expose_routing: true, allow_request_strategy: true}
`

// TestNames addresses models whose names hold slashes and colons: the whole name
// comes first, only then the last colon splits off a suffix.
func TestNames(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(namesRest)), t.TempDir())
	for _, c := range []struct{ name, want string }{
		{"openrouter/gpt-4", "a/openrouter/gpt-4"},
		{"openrouter/gpt-4:b", "b/openrouter/gpt-4"},
		{"b/openrouter/gpt-4", "b/openrouter/gpt-4"},
		{"llama3.1:70b", "a/llama3.1:70b"},
		{"llama3.1:70b:b", "b/llama3.1:70b"},
		{"b/llama3.1:70b", "b/llama3.1:70b"},
		{"x-v2:0", "a/x-v2:0"},
		{"x-v2:0:b", "b/x-v2:0"},
		{"x:latest", "a/x-v2:0"},
		{"x/y:z", "a/x-v2:0"},
		{"b/x/y:z", "b/x-v2:0"},
		{"b/up/stream:name", "b/plain"},
		{"x-v2:0:@price", "400 strategy_override_not_allowed"},
		{"llama3.1:70b:a:b", "400 conflicting_suffixes"},
		{"b/llama3.1:70b:b", "400 conflicting_suffixes"},
		{"llama3.1", "404 model_not_found"},
		{"x-v2", "404 model_not_found"},
		{"gpt-4", "404 model_not_found"},
		{"c/plain", "404 model_not_found"},
	} {
		if got := askBody(t, gw, say(c.name, unique(), false), "Authorization", "Bearer sk-names-0123-plain"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for name, want := range map[string]string{"x-v2:0:@priority": "a/x-v2:0", "x-v2:0:@nope": "400 unknown_strategy", "plain:@price": "b/plain"} {
		if got := askBody(t, gw, say(name, unique(), false), "Authorization", "Bearer sk-names-0123-chooser"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestModelRoutes reads every model by its name, however it is written in a
// path, and lists all of them.
func TestModelRoutes(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(namesRest)), t.TempDir())
	read := func(path string, into any) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gw.url(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer sk-names-0123-plain")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return resp.StatusCode
	}
	var list struct{ Data []struct{ ID string } }
	if status := read("/v1/models", &list); status != 200 {
		t.Errorf("status %d", status)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	for _, name := range []string{"openrouter/gpt-4", "llama3.1:70b", "x-v2:0", "x:latest", "x/y:z", "plain"} {
		if !slices.Contains(names, name) {
			t.Errorf("the list %v lacks %s", names, name)
		}
		for _, path := range []string{name, strings.NewReplacer("/", "%2F", ":", "%3A").Replace(name)} {
			var one struct{ ID string }
			if status := read("/v1/models/"+path, &one); status != 200 || one.ID != name {
				t.Errorf("GET /v1/models/%s: %d, id %q, want %s", path, status, one.ID, name)
			}
		}
	}
	var failure struct{ Error struct{ Code string } }
	if status := read("/v1/models/gpt-4", &failure); status != 404 || failure.Error.Code != "model_not_found" {
		t.Errorf("unknown: %d %+v", status, failure)
	}
}
