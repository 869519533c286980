package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the gateway that TestMain has built.
var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gatewright-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "gatewright")
	args := []string{"build", "-o", binary}
	if os.Getenv("GATEWRIGHT_RACE") != "" {
		args = append(args, "-race")
	}
	if err := spreadOut(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	build := exec.CommandContext(context.Background(), "go", append(args, "./cmd/gatewright")...)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the gateway: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// spreadOut lets many of the tests that run in parallel do so: they wait, most of
// the time.
func spreadOut() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", "16")
}

// process is one run of the binary.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string // where it listens
	done    chan struct{}

	mu      sync.Mutex
	lines   []string                    // the newest, for messages of failed tests
	entries map[string][]map[string]any // by message; the newest of each
	counts  map[string]int              // by message, all of them
	faults  []string                    // lines that no run may have
	tap     func(line string, entry map[string]any)
	wake    chan struct{}
}

// keptLines is how many log lines and entries of a message are kept.
const keptLines = 200

// start runs a verb of the binary and waits until it says where it listens.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := launch(t, args...)
	p.address, _ = p.wait("serving", 20*time.Second)["address"].(string)
	if p.address == "" {
		t.Fatalf("%v did not say where it listens:\n%s", args, p.log())
	}
	return p
}

// launch runs a verb of the binary. The process is killed when the test ends.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{
		t: t, done: make(chan struct{}), wake: make(chan struct{}, 1),
		entries: map[string][]map[string]any{}, counts: map[string]int{},
	}
	p.cmd = exec.Command(binary, args...) // ended by kill or stop, with the test
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(pipe)
	t.Cleanup(func() {
		p.kill()
		if len(p.faults) > 0 {
			t.Errorf("%v has a fault of its own:\n%s", args, strings.Join(p.faults, "\n"))
		}
	})
	return p
}

func (p *process) read(pipe io.Reader) {
	defer close(p.done)
	in := bufio.NewReader(pipe)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			p.keep(strings.TrimSpace(line))
			select {
			case p.wake <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *process) keep(line string) {
	var entry map[string]any
	message := ""
	if json.Unmarshal([]byte(line), &entry) == nil {
		message, _ = entry["msg"].(string)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = newest(append(p.lines, line))
	p.entries[message] = newest(append(p.entries[message], entry))
	p.counts[message]++
	if isFault(line, message) {
		p.faults = newest(append(p.faults, line))
	}
	if p.tap != nil {
		p.tap(line, entry)
	}
}

// isFault reports whether a line tells of a fault of the program itself, as
// opposed to one that it met.
func isFault(line, message string) bool {
	return strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") ||
		strings.Contains(line, "DATA RACE") || strings.HasSuffix(message, "panicked")
}

// listen calls f with every line from now on; entry is nil for a line that is
// no JSON. f must not block.
func (p *process) listen(f func(line string, entry map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tap = f
}

func newest[T any](list []T) []T {
	if len(list) > 2*keptLines {
		return append([]T(nil), list[len(list)-keptLines:]...)
	}
	return list
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// count returns how many log entries with the message there were, and the
// newest.
func (p *process) count(message string) (int, map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.entries[message]
	if len(list) == 0 {
		return 0, nil
	}
	return p.counts[message], list[len(list)-1]
}

// wait returns the newest entry with the message once there is one, nil when
// there is none in time.
func (p *process) wait(message string, within time.Duration) map[string]any {
	return p.waitCount(message, 1, within)
}

func (p *process) waitCount(message string, n int, within time.Duration) map[string]any {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		if have, last := p.count(message); have >= n {
			return last
		}
		select {
		case <-p.wake:
		case <-p.done:
			if have, last := p.count(message); have >= n {
				return last
			}
			return nil
		case <-deadline.C:
			return nil
		}
	}
}

// kill ends the process at once, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	_ = p.cmd.Wait()
}

// stop asks the process to end and returns its exit status.
func (p *process) stop() int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.done
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) url(path string) string { return "http://" + p.address + path }

// write puts text into a file of the test's own folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// status asks for a path and returns the status alone; 0 when nobody answers.
func status(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true // a new connection each time
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// answer is what a plain HTTP client got.
type answer struct {
	status int
	header http.Header
	body   string
}

// post sends a JSON body, as curl would.
func post(t *testing.T, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

func (a answer) errorCode(t *testing.T) string {
	t.Helper()
	var out struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("not an error body: %q: %v", a.body, err)
	}
	return out.Error.Code
}
