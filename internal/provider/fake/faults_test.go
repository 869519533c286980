package fake

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// faultCase observes one fault from the far end of a connection.
type faultCase struct {
	name   string // what is special about the case; may be empty
	fault  string // as a script writes it: http-500, or {fault: …, …}
	answer string // what the script says beside it; empty means 20 tokens
	stream bool
	path   string // what is asked; empty means chat completions
	body   string
	check  func(t *testing.T, r reply)
}

// faultName is the bare name of the fault of a case.
func (c *faultCase) faultName() string {
	name := strings.TrimPrefix(c.fault, "{fault: ")
	if i := strings.IndexAny(name, ",}"); i >= 0 {
		name = name[:i]
	}
	return name
}

func faultCases() []faultCase {
	return slices.Concat(statusCases(), answerCases(), encodingCases(), connectionCases(), httpCases(), streamCases(), framingCases())
}

const twentyTokens = "answer: {text: \"one two three\", tokens: 20}"

func TestFaults(t *testing.T) {
	for _, c := range faultCases() {
		form := "plain"
		if c.stream {
			form = "stream"
		}
		t.Run(strings.Join([]string{c.faultName(), form, c.name}, "/"), func(t *testing.T) {
			if c.answer == "" {
				c.answer = twentyTokens
			}
			r := newRig(t, oneUpstream(c.answer+"\nscript: ["+c.fault+"]"), Options{})
			path, body := chatPath, chatBody
			if c.stream {
				body = streamBody
			}
			if c.path != "" {
				path, body = c.path, c.body
			}
			got := r.send(t, "POST", path, body)
			c.check(t, got)
			if seen := r.Requests("a"); len(seen) == 0 || seen[0].Fault != c.faultName() {
				t.Errorf("recorded %+v, want the fault %s", seen, c.faultName())
			}
			// A fault leaves no trace: the next request is served.
			if after := r.send(t, "POST", chatPath, chatBody); after.status != 200 {
				t.Errorf("next request: status %d, error %v", after.status, after.err)
			}
		})
	}
}

// timedFaults are the ones that need a made-up clock or a client that leaves;
// their tests are in pace_test.go and cancel_test.go.
var timedFaults = []string{
	"silent", "headers-dripped", "stall-after-headers", "stall", "close-on-reuse",
	"comments-only", "slow-first-token", "gaps", "long-stream", "stall-after-finish",
}

func TestEveryFaultIsObserved(t *testing.T) {
	observed := slices.Clone(timedFaults)
	for _, c := range faultCases() {
		observed = append(observed, c.faultName())
		if statusOf(c.faultName()) != 0 {
			observed = append(observed, "http-NNN")
		}
	}
	for _, s := range otherFaults() {
		observed = append(observed, (&faultCase{fault: s.fault}).faultName())
	}
	observed = append(observed, "redacted-thinking") // TestMessagesThoughts
	for _, f := range Faults() {
		if !slices.Contains(observed, f.Name) {
			t.Errorf("no test observes the fault %s", f.Name)
		}
	}
}

func TestMatrixIsCovered(t *testing.T) {
	have := map[string]bool{}
	for _, f := range slices.Concat(Faults(), Elsewhere()) {
		for _, id := range f.Matrix {
			have[id] = true
		}
	}
	for i := 1; i <= 56; i++ {
		if id := fmt.Sprintf("F%02d", i); !have[id] {
			t.Errorf("no fault plays %s", id)
		}
	}
}

func TestFaultsAreWellFormed(t *testing.T) {
	names := map[string]bool{}
	known := []string{"after", "size", "count", "delay", "status", "code", "type", "message", "retry_after", "headers", "body", "location"}
	for _, f := range Faults() {
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true
		if f.Does == "" || f.Class == "" || f.Applies == "" {
			t.Errorf("%s is incomplete: %+v", f.Name, f)
		}
		for _, p := range f.Params {
			if !slices.Contains(known, p) {
				t.Errorf("%s takes %s, which no script can write", f.Name, p)
			}
		}
	}
}

// faultTableText is the table of docs/simulate.md.
func faultTableText() string {
	var b strings.Builder
	class := ""
	for _, f := range Faults() {
		if f.Class != class {
			class = f.Class
			fmt.Fprintf(&b, "\n### %s\n\n| fault | fits | what happens | parameters | matrix |\n|---|---|---|---|---|\n", class)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Applies, f.Does, strings.Join(f.Params, ", "), strings.Join(f.Matrix, " "))
	}
	b.WriteString("\n### Not played here\n\n| fault | how to make it happen | matrix |\n|---|---|---|\n")
	for _, f := range Elsewhere() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.Name, f.Does, strings.Join(f.Matrix, " "))
	}
	return b.String()
}

const docsPage = "../../../docs/simulate.md"

// TestDocsTable holds the page to the table; GATEWRIGHT_UPDATE=1 rewrites it.
func TestDocsTable(t *testing.T) {
	page, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- faults: begin -->\n", "<!-- faults: end -->"
	before, rest, ok1 := strings.Cut(string(page), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has lost its markers %q and %q", docsPage, begin, end)
	}
	want := faultTableText() + "\n"
	if table == want {
		return
	}
	if os.Getenv("GATEWRIGHT_UPDATE") == "" {
		t.Fatalf("the fault table of %s is not the code's; run the test with GATEWRIGHT_UPDATE=1 and review the difference", docsPage)
	}
	if err := os.WriteFile(docsPage, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocsExamples reads every script that the page shows.
func TestDocsExamples(t *testing.T) {
	page, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, part := range strings.Split(string(page), "```") {
		if script, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			n++
			mustParse(t, script)
		}
	}
	if n < 2 {
		t.Errorf("%d scripts on the page, want at least 2", n)
	}
}
