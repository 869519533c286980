//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
	"gatewright/internal/bench/suite"
)

// TestMain lets the test binary play every part of a run, and a gateway.
func TestMain(m *testing.M) {
	parts := []string{"mock", "ref", "load"}
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		play(func(ctx context.Context) error { return standIn(ctx, os.Args[len(os.Args)-1]) })
	case len(os.Args) > 1 && slices.Contains(parts, os.Args[1]):
		play(func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdout, os.Stderr) })
	}
	os.Exit(m.Run())
}

func play(part func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := part(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// settings are what the stand-in reads of a gateway's configuration. Fault is
// how it misbehaves.
type settings struct {
	Fault     string
	Listen    string
	Providers map[string]struct {
		BaseURL string `json:"base_url"`
	}
	Models map[string]struct{ Deployments []struct{ Provider string } }
	Keys   map[string]struct{ Secret string }
}

// standIn is a gateway as a run sees one: it reads a configuration, and asks one
// deployment after the other, having learned nothing.
func standIn(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s settings
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s.Fault == "no start" {
		return errors.New("the stand-in does not start")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: &s, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

var upstreams = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 300, DisableCompression: true}}

func (s *settings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked struct {
		Model  string
		Stream bool
	}
	if err := errors.Join(err, json.Unmarshal(body, &asked)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+s.Keys["bench"].Secret || r.Header.Get("X-Gatewright-Session") == "" {
		http.Error(w, "no key or no session", http.StatusUnauthorized)
		return
	}
	for _, d := range s.Models[asked.Model].Deployments {
		if s.call(w, r, s.Providers[d.Provider].BaseURL, body, asked.Stream) {
			return
		}
	}
	http.Error(w, "no deployment has answered", http.StatusBadGateway)
}

// call asks one upstream; false = it refused.
func (s *settings) call(w http.ResponseWriter, r *http.Request, base string, body []byte, stream bool) bool {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return false
	}
	resp, err := upstreams.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	if s.Fault == "truncated streams" && stream {
		_, _ = io.CopyN(w, resp.Body, 500)
		return true
	}
	if s.Fault == "held back streams" {
		text, _ := io.ReadAll(resp.Body)
		_, _ = w.Write(text)
		return true
	}
	out := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		_, _ = w.Write(buf[:n])
		_ = out.Flush()
		if err != nil {
			return true
		}
	}
}

// surround prepares what a run of a test finds.
func surround(t *testing.T) {
	t.Helper()
	if _, err := proc.Allowed(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else each part takes a second to end
}

// children counts the processes below this one.
func children(t *testing.T) int {
	t.Helper()
	return len(proc.Tree(os.Getpid())) - 1
}

// measure runs a short run against the stand-in.
func measure(ctx context.Context, t *testing.T, fault string, works ...string) (*report.Report, error) {
	t.Helper()
	surround(t)
	before := children(t)
	r := &report.Report{Gateways: []report.Target{{Name: "lean"}}}
	err := suite.Run(ctx, suite.Options{
		Self: os.Args[0], Works: works, Passes: 1, Scale: minScale, Progress: io.Discard,
		Gateways: []suite.Gateway{{Name: "lean", Binary: os.Args[0], Extra: map[string]any{"fault": fault}}},
	}, r)
	if after := children(t); after != before {
		t.Errorf("processes below this one: %d, before the run %d", after, before)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "gatewright-bench-*")); len(left) > 0 {
		t.Errorf("files were left: %v", left)
	}
	return r, err
}

func TestRunMeasuresEverything(t *testing.T) {
	r, err := measure(t.Context(), t, "")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]report.Row{}
	for _, row := range r.Rows() {
		rows[row.ID] = row
	}
	var cpu float64 // of a single work it may be less than the clock shows
	for _, id := range []string{"c32", "stream", "body", "added_p50", "start", "idle_anonymous", "peak_c256"} {
		row := rows[id]
		if row.Ref == nil || row.Gateways["lean"].Value == nil {
			t.Fatalf("%s: got %+v", id, row)
		}
		if row.Unit == report.CPUSeconds {
			cpu += row.Ref.Median + row.Gateways["lean"].Value.Median
		}
	}
	for _, id := range []string{"start", "idle_anonymous", "peak_c256"} {
		if row := rows[id]; row.Ref.Median <= 0 || row.Gateways["lean"].Value.Median <= 0 {
			t.Errorf("%s: got %+v", id, row)
		}
	}
	if cpu <= 0 {
		t.Error("no work has used CPU time")
	}
	// The stand-in learns nothing: each request calls the limited upstream first.
	for id, want := range map[string]float64{"hinted_calls": 400, "hinted_errors": 0, "limited_calls": 400, "limited_errors": 0} {
		if f := rows[id].Gateways["lean"]; f == nil || f.Value.Median != want {
			t.Errorf("%s: got %+v, want %g", id, f, want)
		}
	}
	for _, id := range []string{"hinted_cost", "limited_cost"} {
		if f := rows[id].Gateways["lean"]; f == nil || f.Value.Median <= 0 {
			t.Errorf("%s: got %+v", id, f)
		}
	}
}

func TestRunFails(t *testing.T) {
	for _, tt := range []struct {
		name, fault, work string
		want              []string
	}{
		{"when streams are cut off", "truncated streams", "stream", []string{"lean", "wrong", "stream is"}},
		{"when streams are held back", "held back streams", "stream", []string{"lean", "held back"}},
		{"when a gateway does not start, with its log", "no start", "c32", []string{"lean", "ended", "the stand-in does not start"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := measure(t.Context(), t, tt.fault, tt.work)
			if err == nil {
				t.Fatal("the run has figures")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

func TestRunEndsItsProcessesWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	surround(t)
	before := children(t)
	err := suite.Run(ctx, suite.Options{
		Self: os.Args[0], Works: []string{"c32"}, Passes: 1, Scale: minScale, Progress: steps,
		Gateways: []suite.Gateway{{Name: "lean", Binary: os.Args[0]}},
	}, &report.Report{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if after := children(t); after != before {
		t.Errorf("processes below this one: %d, before the run %d", after, before)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestRefPassesOnWhatItGets(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
	}))
	defer upstream.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"ref", upstream.Listener.Addr().String()}, w, io.Discard) }()
	var address string
	if _, err := fmt.Fscanln(r, &address); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+address+"/v1/x", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if got := string(body); err != nil || got != "POST /v1/x hello" || resp.StatusCode != http.StatusTeapot {
		t.Errorf("got %d %q, %v", resp.StatusCode, got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		args string
		want []string // parts of the error; none = it is good
	}{
		{"nothing", "", nil},
		{"without policies", "-plain", nil},
		{"everything", "-plain -passes 3 -scale 0.3 -phases c32,body -gateway g -also old=g2 -extra policy=p.json -extra old=q.json -o json", nil},
		{"an unknown flag", "-fast", []string{"-fast"}},
		{"an argument", "c32", []string{"c32"}},
		{"all faults at once", "-passes 0 -scale 100 -phases c33 -o xml", []string{"-passes", "-scale", "c33", "limited", "xml", "json"}},
		{"no number", "-scale NaN", []string{"-scale"}},
		{"no name", "-also path", []string{"name=path"}},
		{"the yardstick's name", "-extra ref=x", []string{"reverse proxy"}},
		{"a name twice", "-also a=x -also a=y", []string{"already"}},
		{"the first gateway's name", "-also lean=x", []string{"-gateway"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(strings.Fields(tt.args), io.Discard)
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if !errors.Is(err, errUsage) {
				t.Fatalf("got %v, want a fault of usage", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
		})
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: got %v, want flag.ErrHelp", err)
	}
}

// The gateway with policies has those of the checkout, which are there.
func TestPoliciesOfTheCheckout(t *testing.T) {
	c, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	extra, err := c.extraOf(policies)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := extra["policies"].(map[string]any)
	if len(files) != 2 {
		t.Errorf("%d policies: %v", len(files), extra)
	}
	for name, p := range files {
		file, _ := p.(map[string]any)["file"].(string)
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGatewaysOfACommandLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"new": "", "old": "", "p.json": `{"log":{"level":"error"}}`, "bad.json": "log: error"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	prepare := func(args string) ([]suite.Gateway, error) {
		c, err := parse(strings.Fields(args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		err = c.prepare(t.Context(), dir, io.Discard)
		return c.options.Gateways, err
	}
	for args, want := range map[string]string{
		"-plain -gateway new -extra policy=p.json -also before=old -extra before=p.json": "lean new 0, policy new 1, before old 1",
		"-plain -gateway new -extra policies=p.json":                                     "lean new 0, policies new 1",
		"-gateway new -extra lean=p.json -extra policies=p.json":                         "lean new 1, policies new 1",
	} {
		got, err := prepare(args)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, g := range got {
			text = append(text, fmt.Sprintf("%s %s %d", g.Name, filepath.Base(g.Binary), len(g.Extra)))
		}
		if list := strings.Join(text, ", "); list != want {
			t.Errorf("%s: got %s, want %s", args, list, want)
		}
	}
	for _, args := range []string{"-plain -gateway gone", "-plain -gateway new -extra a=gone.json", "-plain -gateway new -extra a=bad.json", "-gateway new"} {
		if _, err := prepare(args); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
