package e2e

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The secrets of this test, each with something that no quoting leaves alone.
const (
	providerSecret = "sk-proj-Pr0vider+Secret/0000"
	headerSecret   = "Header+Secret/1111"
	callerSecret   = "sk-Caller+Secret/2222"
	disabledSecret = "sk-Disabled+Secret/3333"
	wrongSecret    = "sk-Wrong+Secret/4444"
)

// TestSecretsStayInside lets everything fail that can say a secret: no part of
// any key is in an answer, the log, or a file.
func TestSecretsStayInside(t *testing.T) {
	sim := simulate(t)
	dir := t.TempDir()
	gw := gateway(t, write(t, "g.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
log: {level: debug}
providers:
  echo: {protocol: openai, base_url: "http://%s/a/v1", api_key: %q, headers: {X-Token: %q}}
  gone: {protocol: openai, base_url: "http://127.0.0.1:1/v1", api_key: %q}
models: {m: {deployments: [echo]}, n: {deployments: [gone]}}
router: {retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}}
keys:
  caller: {secret: %q, expose_routing: true}
  disabled: {secret: %q, enabled: false}
`, sim.address, providerSecret, headerSecret, providerSecret, callerSecret, disabledSecret)), dir)
	var said strings.Builder
	ask := func(model, key string, status int) {
		got := post(t, gw.url("/v1/chat/completions"), say(model, "hello", false), "Authorization", "Bearer "+key)
		if got.status != status {
			t.Errorf("%s: status %d, want %d: %s", model, got.status, status, got.body)
		}
		fmt.Fprint(&said, got.header, got.body)
	}
	for status, code := range map[string]int{"http-404": 502, "http-400": 400, "http-401": 502, "http-500": 500, "error-200": 502} {
		sim.behave("a", fmt.Sprintf(`always: {fault: %s, message: "no such key %s with %s", code: %q}`, status, providerSecret, headerSecret, providerSecret))
		ask("m", callerSecret, code)
	}
	sim.behave("a", fmt.Sprintf(`always: {fault: http-200, headers: {X-Ratelimit-Key: %q, Set-Cookie: %q}}`, providerSecret, providerSecret))
	ask("m", callerSecret, 200)
	ask("n", callerSecret, 502)
	ask("m", wrongSecret, 401)
	ask("m", disabledSecret, 401)
	if code := gw.stop(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	artefacts := map[string]string{"an answer": said.String(), "the log": gw.log()}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v: others may look", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		artefacts[path] = string(text)
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d data files: %v", files, err)
	}
	for where, text := range artefacts {
		wantNoSecret(t, where, text)
	}
}

// TestSecretsInAddresses refuses a provider's address that holds a key, and does
// not show it.
func TestSecretsInAddresses(t *testing.T) {
	for _, address := range []string{
		"https://api.example/v1?key=" + url.QueryEscape(providerSecret), "https://user:" + url.QueryEscape(providerSecret) + "@api.example/v1",
	} {
		path := write(t, "bad.yaml", fmt.Sprintf("providers: {p: {protocol: openai, base_url: %q, auth: none}}\nmodels: {m: {deployments: [p]}}\n", address))
		for _, verb := range []string{"check", "serve"} {
			code, out := runBinary(t, verb, "--config", path)
			if code != 1 || !strings.Contains(out, "providers.p.base_url") {
				t.Errorf("%s: exit status %d\n%s", verb, code, out)
			}
			wantNoSecret(t, verb, out)
		}
	}
}

// wantNoSecret looks for each secret, and for parts of it, in every form.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{providerSecret, headerSecret, callerSecret, disabledSecret, wrongSecret} {
		tail := secret[len(secret)-len("Secret/0000"):]
		for _, form := range []string{
			secret, tail, secret[:len(secret)-2], url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		} {
			if strings.Contains(text, form) {
				t.Errorf("%q is in %s:\n%.2000s", form, where, text)
			}
		}
	}
}
