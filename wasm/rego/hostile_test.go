package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// input is a document with so many candidates.
func input(candidates int) string {
	var list []string
	for i := range candidates {
		list = append(list, fmt.Sprintf(`{"id":"d%d","provider":"p%d","model":"m","region":"r%d","supply_tier":"","tier":0,"tags":{"zone":"z%d"},"price":%d,"ttft_ms":%d,"samples":9,"success_ppm":%d,"circuit":"closed","affinity":false}`,
			i, i%7, i%4, i%3, i*7919%100_000, i*131%900, 990_000+i*37%10_000))
	}
	return `{"v":1,"request":{"org":"o","team":"search","key":"k","tags":{"residency":"eu"},"endpoint":"chat","model":"gpt","stream":true,"hour":21,"weekday":3,"input_tokens":1200,"max_output_tokens":500,"now_unix_ms":1736962200000},` +
		`"caller":{"budget_left_nusd":5000000},"facets":{"region":["r0","r1"],"provider":["p0","p1"]},"candidates":[` + strings.Join(list, ",") + `]}`
}

var wants = regexp.MustCompile(`(?m)^# want: (\w+) ?(.*)$`)

func TestHostile(t *testing.T) {
	files, err := filepath.Glob("../../testdata/rego/hostile/*.rego")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".rego"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := wants.FindAllStringSubmatch(string(text), -1)
			if len(want) == 0 {
				t.Fatal("the file does not say what becomes of it")
			}
			m, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": string(text)}, Data: []byte("{}"), Params: []byte("{}")})
			if want[0][1] == "refused" {
				refusedAs(t, err, want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			contained(t, m, want[0][1], want[0][2])
		})
	}
}

// refusedAs checks that a refusal names all lines that it should.
func refusedAs(t *testing.T, err error, want [][]string) {
	t.Helper()
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got %v, want it refused", err)
	}
	for _, w := range want {
		line, words, _ := strings.Cut(w[2], " ")
		n, _ := strconv.Atoi(line)
		found := false
		for _, p := range refused.Problems {
			found = found || p.Line == n && p.File == "p.rego" && strings.Contains(p.Message, words)
		}
		if !found {
			t.Errorf("no problem in line %d says %q:\n%v", n, words, err)
		}
	}
}

// contained checks what becomes of a policy that runs.
func contained(t *testing.T, m *Module, want, answer string) {
	t.Helper()
	document, err := m.Bind(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := newInstance(t.Context(), t, m.Wasm, string(document))
	got, err := i.eval(t.Context(), m.Entrypoint, input(100))
	switch want {
	case "stopped":
		if err == nil || errors.Is(err, errUndefined) {
			t.Fatalf("it answers %.100s, %v", got, err)
		}
		if out := int64(i.budget.Get()) < 0; !out && !strings.Contains(err.Error(), "opa_malloc: failed") {
			t.Errorf("it failed with %d units left and %d bytes of memory: %v", int64(i.budget.Get()), i.memory.Size(), err)
		}
	case "fault":
		if err == nil || errors.Is(err, errUndefined) {
			t.Errorf("compiled: got %q and the error %v, want a fault", got, err)
		}
		natively(t, m, document, func(got []byte, err error) {
			// Bounds of the host are no bounds natively.
			if err == nil && !strings.Contains(t.Name(), "P12") && !strings.Contains(t.Name(), "P15") && !strings.Contains(t.Name(), "P16") {
				t.Errorf("natively: got %s, want a fault", got)
			}
		})
	case "bounded":
		if i.used > testBudget+testBudget/10 {
			t.Errorf("it used %d units", i.used)
		}
	case "runs":
		if err != nil || got != answer {
			t.Errorf("got %s, %v, want %s", got, err, answer)
		}
	default:
		t.Fatalf("unknown wish %q", want)
	}
}

func natively(t *testing.T, m *Module, document []byte, check func([]byte, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	n, err := m.Native(ctx, document)
	if err != nil {
		t.Fatal(err)
	}
	check(n.Eval(ctx, []byte(input(3))))
}

// What is too large or no text is refused before anything costs much.
func TestHostileSources(t *testing.T) {
	const head = "package gatewright.admission\n\ndeny contains {\"code\": \"x\"} if ok\n\n"
	tests := []struct {
		name, source, want string
	}{
		{"P37 10 MB", head + "ok if input.request.hour == 3\n" + strings.Repeat("# 0123456789\n", 10<<20/13), "bytes of Rego"},
		{"P38 100,000 rules", head + strings.Repeat("ok if 1 > 2\n", 100_000), "bytes of Rego"},
		{"P38 rules that fit", head + strings.Repeat("ok if 1 > 2\n", 2000), "rules, the limit"},
		{"P39 brackets", head + "ok if " + strings.Repeat("[", 5000) + "1" + strings.Repeat("]", 5000), "nested deeper"},
		{"P39 brackets in a template", head + "ok if $\"{" + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500) + "}\" == \"\"", "nested deeper"},
		{"P39 comprehensions", head + "ok if count(" + strings.Repeat("[1 | x := ", 20) + "[1]" + strings.Repeat("]", 20) + ") > 1", "nested deeper"},
		{"P39 templates", head + "ok if " + strings.Repeat(`$"{`, 20) + "1" + strings.Repeat(`}"`, 20) + ` == ""`, "nested deeper"},
		{"P39 many templates", head + strings.Repeat("ok if $\"{1}\" == \"\"\n", 400), "template strings"},
		{"P39 every", head + "ok if " + strings.Repeat("every x in [1] { ", 20) + "x > 1" + strings.Repeat(" }", 20), "nested deeper"},
		{"P39 a long sum", head + "ok if 1" + strings.Repeat(" + 1", 500) + " > 1", "parts within each other"},
		{"P39 else", head + "ok if 1 > 2\nelse := true if 2 > 3" + strings.Repeat("\nelse := true if 2 > 3", 200), "else branches"},
		{"P39 a long body", head + "ok if {\n" + strings.Repeat("1 > 2\n", 300) + "}", "expressions in one body"},
		{"P39 many bodies", head + strings.Repeat("ok if { "+strings.Repeat("1 > 2; ", 50)+"1 > 2 }\n", 100), "expressions, the limit"},
		{"P39 a long list", head + "ok if 5 in [" + strings.Repeat("1, ", 3000) + "1]", "entries are written out"},
		{"P39 many terms", head + strings.Repeat("ok if 5 in ["+strings.Repeat("1, ", 900)+"1]\n", 12), "terms"},
		{"P39 functions of functions", head + fanOut(), "more ways than can be followed"},
		{"P44 not UTF-8", head + "ok if \"\xff\" == \"a\"", "not UTF-8"},
		{"empty", "", "empty module"},
		{"NUL", "\x00", "illegal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": test.source}})
			refused, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %.500v, want it refused for %q", err, test.want)
			}
			if len(refused.Problems) > maxProblems {
				t.Errorf("%d problems", len(refused.Problems))
			}
		})
	}
}

// fanOut is functions that each call the one before with three new shapes.
func fanOut() string {
	var s strings.Builder
	s.WriteString("ok if f14([1])\nf0(y) if count(y) > 1\n")
	for i := range 14 {
		fmt.Fprintf(&s, "f%d(y) if { f%[2]d([y]); f%[2]d({y}); f%[2]d({\"a\": y}) }\n", i+1, i)
	}
	return s.String()
}

// P34, P35, P36: inputs that OPA itself would fail on, or keep for ever.
func TestHostileInputs(t *testing.T) {
	m, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": "package gatewright.admission\n\ndeny contains {\"code\": \"x\"} if input.request.hour > 20\n"}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := m.Native(t.Context(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"number":        `{"request":{"hour":1e99999}}`,
		"long number":   `{"request":{"hour":` + strings.Repeat("9", 1000) + `}}`,
		"depth":         strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"size":          `"` + strings.Repeat("a", 2<<20) + `"`,
		"doubled key":   `{"request":{"hour":1,"hour":21}}`,
		"surrogate":     `{"request":{"model":"\ud800"}}`,
		"not UTF-8":     "{\"request\":{\"model\":\"\xff\"}}",
		"control":       "{\"request\":{\"model\":\"\x00\"}}",
		"nothing":       "",
		"two documents": "{}{}",
		"cut off":       `{"request":{"hour":`,
		"no number":     `{"request":{"hour":01}}`,
	} {
		if answer, err := n.Eval(t.Context(), []byte(text)); err == nil {
			t.Errorf("%s: got %s, want an error", name, answer)
		}
	}
	var many strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	if _, err := n.Eval(t.Context(), []byte(`{"request":{`+many.String()+`"hour":21}}`)); err != nil {
		t.Errorf("many keys: %v", err)
	}
}

// cut is an input with so many candidates, of which it has what a policy reads.
func cut(candidates int, m *Module) string {
	var all map[string]any
	if err := json.Unmarshal([]byte(input(candidates)), &all); err != nil {
		panic(err)
	}
	var list []map[string]any
	for _, c := range all["candidates"].([]any) {
		kept := map[string]any{}
		for k, v := range c.(map[string]any) {
			if slices.Contains(m.Reads, "candidates[_]."+k) {
				kept[k] = v
			}
		}
		list = append(list, kept)
	}
	b, err := json.Marshal(map[string]any{"v": 1, "request": map[string]any{"tags": map[string]any{"residency": "eu"}}, "candidates": list})
	if err != nil {
		panic(err)
	}
	return string(b)
}
