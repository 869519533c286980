package rego

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustCompile(tb testing.TB, text string) *Module {
	tb.Helper()
	m, err := Compile(context.Background(), Source{Files: map[string]string{"p.rego": text}})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestSourcesThatAreRefused(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"p.rego": text} }
	const rank = "package gatewright.ranking\n\nscore[c.id] := c.price if some c in input.candidates\n"
	for _, test := range []struct {
		name   string
		source Source
		want   string
	}{
		{"nothing", Source{}, "no policy"},
		{"tests alone", Source{Files: map[string]string{"p_test.rego": small}}, "no policy"},
		{"both", Source{Files: one(small), Bundle: []byte{1}}, "both files and a bundle"},
		{"not Rego", Source{Files: map[string]string{"p.txt": small}}, "ends in .rego"},
		{"a path", Source{Files: map[string]string{"../p.rego": small}}, "no name of a file"},
		{"of the other kind", Source{Files: one(rank), Kind: Admission}, "is to be admission"},
		{"helpers alone", Source{Files: one("package lib\n\nx := 1\n")}, "no policy in these files"},
		{"data", Source{Files: one(small), Data: []byte(`[]`)}, "not an object"},
		{"parameters", Source{Files: one(small), Params: []byte(`{`)}, "params"},
		{"parameters twice", Source{Files: one(small), Params: []byte(`{"a":1}`), Data: []byte(`{"params":{"a":1}}`)}, "data.params.a is there twice"},
		{"data of policies", Source{Files: one(small), Data: []byte(`{"gatewright":{}}`)}, "belongs to policies"},
		{"deep data", Source{Files: one(small), Data: []byte(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`)}, "nested"},
		{"large data", Source{Files: one(small), Data: []byte(`{"a":"` + strings.Repeat("a", maxData) + `"}`)}, "the limit is"},
	} {
		_, err := Compile(t.Context(), test.source)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compile(ctx, Source{Files: one(rank)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

// The same source gives the same module.
func TestCompileIsDeterministic(t *testing.T) {
	files := map[string]string{
		"a.rego": "package gatewright.admission\n\nimport data.lib\n\ndeny contains {\"code\": \"x\"} if lib.late(input.request.hour)\n",
		"b.rego": "package gatewright.admission\n\ndeny contains {\"code\": \"y\"} if input.request.hour % 2 == 1\n",
		"c.rego": "package lib\n\nlate(h) if h > 20\n",
	}
	var digest string
	for range 3 {
		m, err := Compile(t.Context(), Source{Files: maps.Clone(files)})
		if err != nil {
			t.Fatal(err)
		}
		if digest != "" && m.Digest != digest {
			t.Errorf("the digests %s and %s", digest, m.Digest)
		}
		digest = m.Digest
	}
}

func TestBind(t *testing.T) {
	m := mustCompile(t, `package gatewright.admission

deny contains {"code": "late"} if input.request.hour > data.params.last

deny contains {"code": "team"} if input.request.team in object.get(data.params, "blocked", [])

deny contains {"code": "cost"} if input.request.input_tokens > data.limits[input.request.model]
`)
	for _, test := range []struct{ name, params, data, want string }{
		{"all there", `{"last":20,"blocked":["a"]}`, `{"limits":{"m":5}}`, ""},
		{"what is optional left out", `{"last":20}`, `{"limits":{}}`, ""},
		{"missing", `{}`, `{"limits":{}}`, "p.rego:3:35: data.params.last is not there"},
		{"misspelt", `{"lats":20}`, `{"limits":{}}`, `did you mean "lats"?`},
		{"another type", `{"last":"20"}`, `{"limits":{}}`, "compares a number with a text"},
		{"another type within", `{"last":20,"blocked":[1]}`, `{"limits":{}}`, "in compares a text with a number"},
		{"types that differ", `{"last":20}`, `{"limits":{"m":5,"n":"6"}}`, "compares a number with a number or a text"},
		{"data missing", `{"last":20}`, `{}`, "data.limits is not there"},
		{"nothing", "", "", "data.params.last is not there"},
	} {
		var params, data []byte
		if test.params != "" {
			params, data = []byte(test.params), []byte(test.data)
		}
		document, err := m.Bind(params, data)
		switch {
		case test.want == "" && (err != nil || !strings.HasPrefix(string(document), `{"limits":`)):
			t.Errorf("%s: got %s, %v", test.name, document, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %s, %v, want %q", test.name, document, err, test.want)
		}
	}
}

func TestNative(t *testing.T) {
	m := mustCompile(t, `package gatewright.admission

deny contains {"code": "late"} if input.request.hour > 20

deny contains {"code": "many"} if {
	some a in input.candidates
	some b in input.candidates
	some c in input.candidates
	some d in input.candidates
	a.price + b.price + c.price + d.price == 1
}
`)
	n, err := m.Native(t.Context(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := n.Eval(t.Context(), []byte(input(3))); err != nil || string(got) != `{"deny":[{"code":"late"}]}` {
		t.Errorf("got %s, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if got, err := n.Eval(ctx, []byte(input(300))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %s, %v, want that it took too long", got, err)
	}
	if _, err := m.Native(t.Context(), []byte("[]")); err == nil {
		t.Error("data that is no object is taken")
	}
}

func TestTest(t *testing.T) {
	s := Source{Data: []byte("{}"), Files: map[string]string{
		"p.rego": "package gatewright.admission\n\ndeny contains {\"code\": \"late\"} if input.request.hour > to_number(object.get(input.request.tags, \"last\", \"20\"))\n",
		"p_test.rego": `package gatewright.admission_test

import data.gatewright.admission

test_late if {
	count(admission.deny) == 1 with input.request as {"hour": 21, "tags": {}}
}

test_wrong if {
	print("looking at", 5)
	x := admission.deny with input.request as {"hour": 20, "tags": {}}
	count(x) == 1
}

test_false := false

test_error if {
	count(admission.deny) == 0 with input.request as {"hour": 21, "tags": {"last": "never"}}
}

todo_test_later if false

test_cases["first"] := true

test_cases["second"] := 1 == 2

helper_rule if true
`,
	}}
	results, err := Test(t.Context(), s, evaluator(t))
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		name     string
		compiled bool
	}
	got := map[key]TestResult{}
	for _, r := range results {
		got[key{r.Name, r.Compiled}] = r
		if r.File != "p_test.rego" || r.Package != "data.gatewright.admission_test" || r.Line == 0 {
			t.Errorf("the place of %+v", r)
		}
	}
	want := map[string]Outcome{"test_late": Passed, "test_wrong": Failed, "test_false": Failed, "test_error": Errored, "todo_test_later": Skipped, "test_cases": Failed}
	if len(results) != 2*len(want) {
		t.Errorf("%d results", len(results))
	}
	for name, outcome := range want {
		for _, compiled := range []bool{false, true} {
			if r := got[key{name, compiled}]; r.Outcome != outcome {
				t.Errorf("%s, compiled %v: %v (%s), want %v", name, compiled, r.Outcome, r.Message, outcome)
			}
		}
	}
	if r := got[key{"test_wrong", false}]; !strings.Contains(r.Message, "p_test.rego:12: not true: count(x) == 1") || r.Output != "looking at 5\n" {
		t.Errorf("message %q, output %q", r.Message, r.Output)
	}
	if r := got[key{"test_cases", false}]; r.Message != "case second" {
		t.Errorf("message %q", r.Message)
	}
	if r := got[key{"test_error", false}]; !strings.Contains(r.Message, "p.rego:3") {
		t.Errorf("message %q", r.Message)
	}
	s.Files["p_test.rego"] = "package x\n\ntest_x if data.gatewright.admission.deny.foo("
	if _, err := Test(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "p_test.rego:3") {
		t.Errorf("got %v", err)
	}
}

func TestEntrypoints(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  []Output
		kind  Kind
		form  Form
		err   string
	}{
		{[]string{"gatewright/ranking/score"}, []Output{OutputScore}, Ranking, FormScore, ""},
		{[]string{"other", "gatewright/ranking/order", "gatewright/ranking"}, []Output{OutputOrder}, Ranking, FormOrder, ""},
		{[]string{"gatewright/admission/exclude", "gatewright/admission/deny"}, []Output{OutputDeny, OutputExclude}, Admission, FormCandidate, ""},
		{[]string{"gatewright/admission/decision"}, []Output{OutputDecision}, Admission, FormFacet, ""},
		{[]string{"gatewright/admission/decision", "gatewright/admission/deny"}, nil, 0, 0, "decision and other outputs"},
		{[]string{"gatewright/ranking/score", "gatewright/ranking/order"}, nil, 0, 0, "score and order"},
		{[]string{"gatewright/ranking/score", "gatewright/admission/deny"}, nil, 0, 0, "never both"},
		{[]string{"gatewright/ranking/deny", "x/y", "gatewright/admission/allow"}, nil, 0, 0, "build with -e"},
		{nil, nil, 0, 0, "build with -e"},
	} {
		list, kind, form, err := Entrypoints(test.names)
		var outputs []Output
		for _, e := range list {
			outputs = append(outputs, e.Output)
			if !slices.Contains(test.names, e.Name) {
				t.Errorf("the name %q", e.Name)
			}
		}
		if test.err == "" && (err != nil || !slices.Equal(outputs, test.want) || kind != test.kind || form != test.form) {
			t.Errorf("%v: got %v, %v, %v, %v", test.names, outputs, kind, form, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%v: got %v, want %q", test.names, err, test.err)
		}
	}
}

// FuzzCompile: whatever the text is, it is refused with its problems or it
// becomes a module, in bounded time.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		small, "", "package gatewright.ranking\nscore[c.id] := c.price if some c in input.candidates",
		"package gatewright.admission\ndeny contains {\"code\": $\"a{input.request.hour}\"} if every x in [1] { x > 0 }",
		"package gatewright.admission\ndecision := {} if not data.params.x else := {}",
		"package gatewright.admission\nf([a, {\"b\": b}]) := a + b\ndeny contains {\"code\": \"x\"} if f([1, {\"b\": 2}]) > 2",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2048 {
			t.Skip()
		}
		m, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": text}})
		if err != nil {
			refused, ok := errors.AsType[*Error](err)
			if !ok || len(refused.Problems) == 0 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if len(m.Wasm) == 0 || len(m.Outputs) == 0 || m.Form == 0 {
			t.Fatalf("%q: %+v", text, m)
		}
	})
}
