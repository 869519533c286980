package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gateway is `gatewright serve` in this process.
type gateway struct {
	stdout bytes.Buffer
	admin  string // URL of its admin API
	stop   func()
}

// startGateway serves a configuration until the test stops it.
func startGateway(t *testing.T, path, data string) *gateway {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, lines := io.Pipe()
	g := &gateway{}
	done := make(chan error, 1)
	go func() {
		root := newRoot() //nolint:contextcheck // cobra hands the context to the verbs
		root.SetOut(&g.stdout)
		root.SetErr(lines)
		root.SetArgs([]string{"serve", "-c", path, "--data-dir", data})
		err := root.ExecuteContext(ctx)
		done <- err
		_ = lines.CloseWithError(io.EOF)
	}()
	stopped := false
	g.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	t.Cleanup(g.stop)
	seen := bufio.NewScanner(log)
	for seen.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(seen.Bytes(), &line) == nil && line.Msg == "serving the admin API" {
			g.admin = "http://" + line.Address
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return g
		}
	}
	t.Fatalf("the admin API is not served: %v", <-done)
	return nil
}

// A policy lives in the gateway from its upload over a restart.
func TestServeAndOperate(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("GATEWRIGHT_ADMIN_TOKEN", "")
	path := write("gatewright.yaml", `
listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0"}
providers: {a: {protocol: openai, base_url: "http://127.0.0.1:1", auth: none}}
models: {m: {deployments: [a]}}
`)
	hours := write("hours.rego", "package gatewright.admission\n\ndeny contains {\"code\": \"late\", \"message\": \"too late\"} if input.request.hour >= data.params.to\n")
	g := startGateway(t, path, filepath.Join(dir, "data"))

	t.Setenv("GATEWRIGHT_ADMIN", g.admin)
	g.ask(t, "", "policy", "push", "hours", hours, "--token", "another")
	token := regexp.MustCompile(`gwa_[A-Za-z0-9_-]+`).FindString(g.stdout.String())
	if token == "" {
		t.Fatalf("no token in %q", g.stdout.String())
	}
	t.Setenv("GATEWRIGHT_ADMIN_TOKEN", token)
	g.ask(t, "is a draft", "policy", "push", "hours", hours)
	g.ask(t, "is active", "policy", "activate", "hours")
	g.ask(t, "hours serves model m", "bind", "office", "--policy", "hours", "--model", "m", "--param", "to=20")
	g.ask(t, "", "bind", "office", "--policy", "hours", "--model", "m", "--param", "until=20") // the policy reads to
	g.ask(t, "", "bind", "other", "--policy", "hours", "--model", "nobody")
	g.stop()

	g = startGateway(t, path, filepath.Join(dir, "data"))
	t.Setenv("GATEWRIGHT_ADMIN", g.admin)
	g.ask(t, `{"to":20}`, "bind", "list")
	g.ask(t, "active", "policy", "versions", "hours")
	g.stop()
	if strings.Contains(g.stdout.String(), "gwa_") {
		t.Errorf("the second start shows a token: %s", g.stdout.String())
	}
}

// ask runs a command line that must say something, or "" = fail.
func (g *gateway) ask(t *testing.T, want string, args ...string) {
	t.Helper()
	out, err := cli(t, args...)
	if (err == nil) != (want != "") || !strings.Contains(out, want) {
		t.Fatalf("gatewright %s: error %v, %q, want %q", strings.Join(args, " "), err, out, want)
	}
}
