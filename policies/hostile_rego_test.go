package policies

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatewright/engine"
)

// wishes are the lines of a hostile policy that say what becomes of it.
var wishes = regexp.MustCompile(`(?m)^# want: (\w+) ?(.*)$`)

// Every policy of testdata/rego/hostile is refused with its file and line, or
// contained: an admission that cannot decide refuses the request, a ranking leaves
// the base order. The process does nothing afterwards, and no memory is left.
func TestHostileRules(t *testing.T) {
	files, err := filepath.Glob("../testdata/rego/hostile/*.rego")
	if err != nil || len(files) < 48 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	r := newRoom(t)
	r.live("healthy", []byte(bestByPrice), Binding{})
	q := newRouter(t, r.rules(), fleet(5))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".rego")
		t.Run(name, func(t *testing.T) {
			source := testdata(t, "rego", "hostile", filepath.Base(file))
			wants := wishes.FindAllStringSubmatch(string(source), -1)
			if len(wants) == 0 {
				t.Fatal("the file does not say what becomes of it")
			}
			if wants[0][1] != "refused" {
				contains(t, source, wants[0][1], wants[0][2])
				serves(t, q)
				return
			}
			err := whyRefused(t, name, source)
			for _, w := range wants {
				line, words, _ := strings.Cut(w[2], " ")
				n, _ := strconv.Atoi(line)
				refusedAt(t, err, name+".rego", n, words)
			}
			serves(t, q)
		})
	}
	becomesIdle(t)
}

// whyRefused is what a policy is refused for when it is uploaded or, if that needs its
// parameters, bound.
func whyRefused(t *testing.T, name string, source []byte) error {
	t.Helper()
	r := newRoom(t)
	if err := r.upload(name, source); err != nil {
		return err
	}
	return r.bindWith(name, "{}")
}

// refusedAt checks that a problem in a line of a file says the words; line 0 is any.
func refusedAt(t *testing.T, err error, file string, line int, words string) {
	t.Helper()
	refused(t, err, file, words)
	source, _ := errors.AsType[*SourceError](err)
	if source != nil && !slices.ContainsFunc(source.Problems, func(p Problem) bool {
		return (p.Line == line || line == 0) && strings.Contains(p.String(), words)
	}) {
		t.Errorf("no problem in line %d says %q: %v", line, words, source.Problems)
	}
}

const bestByPrice = `package gatewright.ranking

score[c.id] := c.weight if some c in input.candidates
`

// contains lets a policy decide about a large pool, as one that was accepted does:
// what it does wrong may show only there.
func contains(t *testing.T, source []byte, want, answer string) {
	t.Helper()
	r := newRoom(t)
	if err := r.upload("p", source); err != nil {
		if want == "runs" {
			t.Fatal(err)
		}
		refused(t, err, "p.rego", "") // it faults on the requests that it is tried with
		return
	}
	p, err := r.state.Policy("p")
	if err != nil {
		t.Fatal(err)
	}
	r.bind("p", Binding{})
	rules, err := r.library.Rules(t.Context(), r.state, nil, nil)
	if err != nil {
		if want == "runs" {
			t.Fatal(err)
		}
		return // the same, with the parameters of the binding
	}
	t.Cleanup(rules.Close)
	q := newRouter(t, rules, fleet(100))
	for n := range 7 {
		request := later(0, uint64(n))
		d, err := settled(t.Context(), q, request)
		rec := d.Policies[0]
		switch {
		case want == "runs":
			if err != nil || rec.Outcome != engine.OutcomeAllowed && rec.Outcome != engine.OutcomeRanked {
				t.Errorf("got %+v, %v, want %s", rec, err, answer)
			}
		case want == "bounded" && err == nil && (rec.Outcome == engine.OutcomeAllowed || rec.Outcome == engine.OutcomeRanked):
		case n >= faultLimit && rec.Outcome != engine.OutcomeSuspended:
			t.Errorf("after %d faults: %+v", n, rec)
		case p.Kind == Ranking:
			if err != nil || len(d.Order) != 100 || rec.Outcome != engine.OutcomeFallback && rec.Outcome != engine.OutcomeSuspended {
				t.Errorf("got %+v, %d in order, %v", rec, len(d.Order), err)
			}
		case n < faultLimit:
			closes(t, FailClosed, d, err)
		}
	}
}

// What would be an allow by mistake in Rego is refused when it is uploaded, with
// its line, or is a fault of the request. None of it lets a request through.
func TestNoMistakeAllows(t *testing.T) {
	const (
		head   = "package gatewright.admission\n\n"
		faults = -1
	)
	for _, c := range []struct {
		name, source string
		line         int    // of the problem; 0 = it has none; faults = it is accepted, and its evaluation faults
		words        string // of the problem, or of the fault
		params       string
	}{
		{"a misspelt field of the request", `deny contains {"code": "x"} if input.request.modell == "m"`, 3, "modell", ""},
		{"a misspelt field of a candidate", `exclude contains {"id": c.id, "reason": "x"} if { some c in input.candidates; c.regoin == "eu" }`, 3, "regoin", ""},
		{"a misspelt object of the input", `deny contains {"code": "x"} if input.reqest.model == "m"`, 3, "reqest", ""},
		{"a field of the other object", `deny contains {"code": "x"} if input.caller.model == "m"`, 3, "model", ""},
		{"an output that is misspelt", `dney contains {"code": "x"} if input.request.model == "m"`, 0, "dney", ""},
		{"an output beside a misspelt one", "deny contains {\"code\": \"x\"} if false\n\nexclde contains {\"id\": c.id, \"reason\": \"x\"} if some c in input.candidates", 5, "exclde", ""},
		{"a key of an answer that is misspelt", `deny contains {"cod": "x"} if input.request.model == "m"`, 3, "cod", ""},
		{"a division by a variable", `deny contains {"code": "x"} if 100 / input.request.input_tokens < 200`, 3, "could be 0", ""},
		{"a remainder by a variable", `deny contains {"code": "x"} if 100 % input.request.input_tokens < 200`, 3, "could be 0", ""},
		{"a division by a parameter", `deny contains {"code": "x"} if 100 / data.params.share < 200`, 3, "could be 0", `{"share": 0}`},
		{"a type error in a deny", `deny contains {"code": "x"} if startswith(input.request.input_tokens, "1")`, 3, "", ""},
		{"a type error in a deny, for some requests", `deny contains {"code": "x"} if to_number(input.request.model) < 5`, faults, "to_number", ""},
		{"a type error by JSON", "deny contains {\"code\": \"x\"} if startswith(json.unmarshal(`{\"a\": 5}`).a, \"5\")", faults, "startswith", ""},
		{"a rule with two values", "a := 1 if input.request.model\n\na := 2 if input.request.key\n\ndeny contains {\"code\": \"x\"} if a > 0", faults, "", ""},
		{"a decision without a value", `decision := {} if input.request.model == "other"`, 3, "no value", ""},
		{"a parameter of another type", `deny contains {"code": "x"} if input.request.input_tokens > data.params.most`, 3, "", `{"most": "5"}`},
		{"a parameter that is missing", `deny contains {"code": "x"} if input.request.input_tokens > data.params.most`, 3, "most", `{"mots": 5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			err := r.upload("p", []byte(head+c.source+"\n"))
			if err == nil && c.params != "" {
				err = r.bindWith("p", c.params)
			}
			if err != nil {
				refusedAt(t, err, "p.rego", max(c.line, 0), c.words)
				return
			}
			if c.line != faults {
				t.Error("it is accepted")
			}
			r.bind("p", Binding{})
			rules, err := r.library.Rules(t.Context(), r.state, nil, nil)
			if err != nil {
				refused(t, err, "p.rego", c.words)
				return
			}
			t.Cleanup(rules.Close)
			d, err := settled(t.Context(), newRouter(t, rules, fleet(3)), later(0, 1))
			closes(t, FailClosed, d, err)
			if !strings.Contains(d.Policies[0].Detail, c.words) {
				t.Errorf("the fault %q, want %q", d.Policies[0].Detail, c.words)
			}
		})
	}
}

// What is too large, or no text, is refused with a reason and costs no more than
// reading it.
func TestHostileSources(t *testing.T) {
	r := newRoom(t)
	const head = "package gatewright.admission\n\ndeny contains {\"code\": \"x\"} if ok\n\n"
	for _, c := range []struct{ name, source, words string }{
		{"P37 10 MB", head + "ok if input.request.hour == 3\n" + strings.Repeat("# 0123456789\n", 10<<20/13), "bytes of Rego"},
		{"P38 100,000 rules", head + strings.Repeat("ok if 1 > 2\n", 100_000), "bytes of Rego"},
		{"P38 rules that fit", head + strings.Repeat("ok if 1 > 2\n", 2000), "rules, the limit"},
		{"P39 brackets", head + "ok if " + strings.Repeat("[", 5000) + "1" + strings.Repeat("]", 5000), "nested deeper"},
		{"P39 comprehensions", head + "ok if count(" + strings.Repeat("[1 | x := ", 20) + "[1]" + strings.Repeat("]", 20) + ") > 1", "nested deeper"},
		{"P44 not UTF-8", head + "ok if \"\xff\" == \"a\"", "not UTF-8"},
		{"P44 NUL", head + "\x00", "illegal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.library.Judge(t.Context(), &Upload{Name: "p", Body: []byte(c.source)})
			refused(t, err, "p.rego", c.words)
		})
	}
}

// A policy is replaced while many requests use it (W60, P45): each request sees
// one version, none fails, and what was replaced is freed.
func TestReplacedWhileInUse(t *testing.T) {
	r := newRoom(t)
	r.live("p", []byte(excludes("eu")), Binding{})
	regions := map[string]string{} // by version
	var states []*State
	for _, region := range []string{"eu", "us", "ap"} {
		body := []byte(excludes(region))
		if err := r.upload("p", body); err != nil {
			t.Fatal(err)
		}
		regions[Digest(body)] = region
		states = append(states, r.state)
	}
	var current *engine.Engine
	replace := func(s *State) {
		rules, err := r.library.Rules(t.Context(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		next := snapshotOf(t, rules, fleet(6), rules.Close)
		if current == nil {
			current = engine.New(next, nothingKnown{}, nothingKnown{}, nil, nil)
			return
		}
		current.Swap(next)
	}
	replace(states[0])
	one := r.library.runtime.Memory()
	var over atomic.Bool
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for !over.Load() {
				s := current.Acquire()
				d, err := current.Plan(t.Context(), s, ask("k"))
				s.Release()
				if err != nil && strings.Contains(d.Policies[0].Detail, "busy: ") {
					continue // four callers and an instance a processor
				}
				if err != nil || len(d.Skipped) != 2 || d.Skipped[0].Detail != "not_"+regions[d.Policies[0].Version] {
					t.Errorf("skipped %v, %+v, %v", d.Skipped, d.Policies, err)
					return
				}
			}
		})
	}
	for n := range 60 {
		replace(states[n%len(states)])
	}
	over.Store(true)
	running.Wait()
	for r.library.runtime.Memory() != one { // freed in the background; the test's own deadline ends it
		if t.Context().Err() != nil {
			t.Fatalf("%d bytes of memory, want %d as with one version", r.library.runtime.Memory(), one)
		}
	}
	s := current.Acquire()
	s.Release()
	s.Release() // nobody replaces it
}

func excludes(region string) string {
	return "package gatewright.admission\n\nexclude contains {\"id\": c.id, \"reason\": \"not_" + region +
		"\"} if { some c in input.candidates; c.region == \"" + region + "\" }\n"
}
