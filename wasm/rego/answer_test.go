package rego

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// candidateIndex knows the candidates d0 to d99.
func candidateIndex(id string) int {
	var i int
	if n, err := fmt.Sscanf(id, "d%d", &i); n != 1 || err != nil || i < 0 || i > 99 || id != fmt.Sprintf("d%d", i) {
		return -1
	}
	return i
}

var formOutputs = map[string][]Output{
	"decision": {OutputDecision}, "candidate": {OutputDeny, OutputExclude}, "score": {OutputScore}, "order": {OutputOrder},
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		name, form, text string
		want             Answer
	}{
		{"nothing", "candidate", `{"deny":[],"exclude":[]}`, Answer{}},
		{"the other order", "candidate", ` { "exclude" : [ ] , "deny" : [ ] } `, Answer{}},
		{
			"refusals in order", "candidate",
			`{"deny":[{"code":"b"},{"code":"a","message":"no \"more\"","status":429,"retry_after":60},{"code":"a","message":"an"}],"exclude":[]}`,
			Answer{Refusals: []Refusal{{"a", "an", 403, 0}, {"a", `no "more"`, 429, 60}, {"b", "", 403, 0}}},
		},
		{
			"the removal that lasts longest", "candidate",
			`{"deny":[],"exclude":[{"id":"d2","reason":"z"},{"id":"d1","reason":"b","until":5},{"id":"d1","reason":"c","until":9},{"id":"d2","reason":"a","until":7},{"id":"d2","reason":"y"}]}`,
			Answer{Removals: []Removal{{1, "c", 9}, {2, "y", 0}}},
		},
		{"allow", "decision", `{"decision":{}}`, Answer{}},
		{
			"a whole decision", "decision",
			`{"decision":{"refuse":{"code":"x","status":402},"only":{"tier":{"values":[1,0.0],"reason":"r"},"region":{"reason":"near","values":["us","eu"]},"tag.zone":{"values":[],"reason":"z"}},` +
				`"deny":{"provider":{"b":"no_b","a":"no_a"},"tier":{"2":"late"}},"limits":{"min_context":{"value":8e3,"reason":"c"},"max_cost_nusd":{"value":9223372036854775807,"reason":"m"}}}}`,
			Answer{Decision: Decision{
				Refuse: &Refusal{"x", "", 402, 0},
				Only:   []Only{{"region", []string{"eu", "us"}, "near"}, {"tag.zone", nil, "z"}, {"tier", []string{"0", "1"}, "r"}},
				Deny:   []Deny{{"provider", "a", "no_a"}, {"provider", "b", "no_b"}, {"tier", "2", "late"}},
				Limits: []Limit{{"max_cost_nusd", math.MaxInt64, "m"}, {"min_context", 8000, "c"}},
			}},
		},
		{"scores", "score", `{"score":{"d3":-1.5e3,"d1":7,"d2":0}}`, Answer{Scores: []Score{{1, 7}, {2, 0}, {3, -1500}}}},
		{"order", "order", `{"order":["d3","d1"]}`, Answer{Order: []int{3, 1}}},
		{"escapes", "candidate", `{"deny":[{"code":"a","message":"\u00e4\ud83d\ude00\n\/\\"}],"exclude":[]}`, Answer{Refusals: []Refusal{{"a", "ä😀\n/\\", 403, 0}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a Answer
			for range 2 { // the second time with what is there
				if err := a.Read([]byte(test.text), formOutputs[test.form], candidateIndex); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, a, equateEmpty); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}

// equateEmpty takes a slice without entries for none.
var equateEmpty = cmp.FilterValues(func(x, y any) bool { return isEmpty(x) && isEmpty(y) }, cmp.Ignore())

func isEmpty(v any) bool {
	switch v := v.(type) {
	case []Refusal:
		return len(v) == 0
	case []Removal:
		return len(v) == 0
	case []Score:
		return len(v) == 0
	case []int:
		return len(v) == 0
	case []Only:
		return len(v) == 0
	case []Deny:
		return len(v) == 0
	case []Limit:
		return len(v) == 0
	case []string:
		return len(v) == 0
	}
	return false
}

// A message that is too long is cut before the character that does not fit.
func TestLongMessagesAreCut(t *testing.T) {
	var a Answer
	for _, test := range []struct{ text, want string }{
		{strings.Repeat("a", maxMessage), strings.Repeat("a", maxMessage)},
		{strings.Repeat("a", maxMessage+1), strings.Repeat("a", maxMessage)},
		{strings.Repeat("a", maxMessage-1) + "é", strings.Repeat("a", maxMessage-1)},
		{strings.Repeat("é", maxMessage), strings.Repeat("é", maxMessage/2)},
	} {
		text := `{"deny":[{"code":"x","message":"` + test.text + `"}]}`
		if err := a.Read([]byte(text), []Output{OutputDeny}, nil); err != nil || a.Refusals[0].Message != test.want {
			t.Errorf("%d bytes: got %d, %v", len(test.text), len(a.Refusals[0].Message), err)
		}
	}
}

func TestAnswersThatBreakTheContract(t *testing.T) {
	many := func(entry string, n int) string { return strings.TrimSuffix(strings.Repeat(entry+",", n), ",") }
	for _, test := range []struct{ form, text, want string }{
		{"candidate", ``, "missing"},
		{"candidate", `null`, "missing"},
		{"candidate", `{"deny":[]}`, "an output is missing"},
		{"candidate", `{"deny":[],"exclude":[],"allow":true}`, `unknown output "allow"`},
		{"candidate", `{"deny":[],"exclude":[],"deny":[]}`, "twice"},
		{"candidate", `{"deny":[],"exclude":[]} {}`, "follows the end"},
		{"candidate", `{"deny":{},"exclude":[]}`, "not a list"},
		{"candidate", `{"deny":["no"],"exclude":[]}`, "not an object"},
		{"candidate", `{"deny":[null],"exclude":[]}`, "not an object"},
		{"candidate", `{"deny":[{}],"exclude":[]}`, "has no code"},
		{"candidate", `{"deny":[{"code":""}],"exclude":[]}`, "lower case"},
		{"candidate", `{"deny":[{"code":"A B"}],"exclude":[]}`, "lower case"},
		{"candidate", `{"deny":[{"code":5}],"exclude":[]}`, "not a text"},
		{"candidate", `{"deny":[{"code":"` + many("a", 70) + `"}],"exclude":[]}`, "limit is 64"},
		{"candidate", `{"deny":[{"code":"x","mesage":"y"}],"exclude":[]}`, `unknown key "mesage"`},
		{"candidate", `{"deny":[{"code":"x","message":["a"]}],"exclude":[]}`, "not a text"},
		{"candidate", `{"deny":[{"code":"x","status":200}],"exclude":[]}`, "status"},
		{"candidate", `{"deny":[{"code":"x","status":"403"}],"exclude":[]}`, "not a number"},
		{"candidate", `{"deny":[{"code":"x","status":403.5}],"exclude":[]}`, "not a whole number"},
		{"candidate", `{"deny":[{"code":"x","retry_after":-1}],"exclude":[]}`, "not between"},
		{"candidate", `{"deny":[{"code":"x","retry_after":1e9}],"exclude":[]}`, "not between"},
		{"candidate", `{"deny":[],"exclude":[{"id":"d1"}]}`, "needs id and reason"},
		{"candidate", `{"deny":[],"exclude":[{"reason":"x"}]}`, "needs id and reason"},
		{"candidate", `{"deny":[],"exclude":[{"id":"z","reason":"x"}]}`, `no candidate "z"`},
		{"candidate", `{"deny":[],"exclude":[{"id":1,"reason":"x"}]}`, "not a text"},
		{"candidate", `{"deny":[],"exclude":[{"id":"d1","reason":"x","until":0}]}`, "not between"},
		{"candidate", `{"deny":[],"exclude":[{"id":"d1","reason":"x","until":1e30}]}`, "whole number"},
		{"candidate", `{"deny":[],"exclude":[` + many(`{"id":"d1","reason":"x"}`, maxAnswers+1) + `]}`, "more than 4096"},
		{"candidate", "{\"deny\":[{\"code\":\"x\",\"message\":\"\xff\"}],\"exclude\":[]}", "UTF-8"},
		{"candidate", `{"deny":[{"code":"x","message":"\ud800"}],"exclude":[]}`, "surrogate"},
		{"candidate", `{"deny":[{"code":"x","message":"` + "\n" + `"}],"exclude":[]}`, "control"},
		{"decision", `{"decision":"allow"}`, "not an object"},
		{"decision", `{"decision":true}`, "not an object"},
		{"decision", `{"decision":null}`, "not an object"},
		{"decision", `{"decision":[]}`, "not an object"},
		{"decision", `{"decision":{"allow":true}}`, `unknown key "allow"`},
		{"decision", `{"decision":{"refuse":null}}`, "not an object"},
		{"decision", `{"decision":{"only":{"regoin":{"values":[],"reason":"x"}}}}`, `unknown key "regoin"`},
		{"decision", `{"decision":{"only":{"tag.":{"values":[],"reason":"x"}}}}`, `unknown key "tag."`},
		{"decision", `{"decision":{"only":{"region":{"values":[]}}}}`, "needs values and reason"},
		{"decision", `{"decision":{"only":{"region":{"reason":"x"}}}}`, "needs values and reason"},
		{"decision", `{"decision":{"only":{"region":{"values":[1],"reason":"x"}}}}`, "not a text"},
		{"decision", `{"decision":{"only":{"tier":{"values":["1"],"reason":"x"}}}}`, "not a number"},
		{"decision", `{"decision":{"deny":{"region":["x"]}}}`, "not an object"},
		{"decision", `{"decision":{"deny":{"region":{"eu":5}}}}`, "not a text"},
		{"decision", `{"decision":{"deny":{"tier":{"one":"x"}}}}`, `unknown key "one"`},
		{"decision", `{"decision":{"limits":{"max_price":{"value":1,"reason":"x"}}}}`, `unknown key "max_price"`},
		{"decision", `{"decision":{"limits":{"min_context":{"value":-1,"reason":"x"}}}}`, "not between"},
		{"decision", `{"decision":{"limits":{"min_context":{"reason":"x"}}}}`, "needs value and reason"},
		{"decision", `{"decision":{"limits":{"min_context":5}}}`, "not an object"},
		{"score", `{"score":[]}`, "not an object"},
		{"score", `{"score":{"z":1}}`, `no candidate "z"`},
		{"score", `{"score":{"d1":1,"d1":2}}`, "twice"},
		{"score", `{"score":{"d1":"1"}}`, "not a number"},
		{"score", `{"score":{"d1":null}}`, "not a number"},
		{"score", `{"score":{"d1":NaN}}`, "not a number"},
		{"score", `{"score":{"d1":1e309}}`, "too large"},
		{"score", `{"score":{"d1":2e308}}`, "not finite"},
		{"score", `{"score":{"d1":-}}`, "broken"},
		{"order", `{"order":["d1","d2","d1"]}`, "twice"},
		{"order", `{"order":["d1","nobody"]}`, `no candidate "nobody"`},
		{"order", `{"order":{"d1":1}}`, "not a list"},
		{"order", `{"order":[1]}`, "not a text"},
		{"order", `{"order":[` + many(`"d1"`, 1_000_000) + `]}`, "more than 4096"},
		{"order", `{"order":` + strings.Repeat("[", 200_000) + `}`, "not a text"},
	} {
		a := Answer{Order: []int{5}, Scores: []Score{{1, 1}}}
		err := a.Read([]byte(test.text), formOutputs[test.form], candidateIndex)
		wrong, ok := errors.AsType[*AnswerError](err)
		if !ok || !strings.Contains(wrong.What, test.want) {
			t.Errorf("%.80s: got %v, want %q", test.text, err, test.want)
		}
		if len(a.Order)+len(a.Scores)+len(a.Refusals)+len(a.Removals)+len(a.Decision.Only)+len(a.Decision.Deny)+len(a.Decision.Limits) > 0 || a.Decision.Refuse != nil {
			t.Errorf("%.80s: something is left: %+v", test.text, a)
		}
	}
}

// The outputs of a module that OPA's own tool made come one by one.
func TestReadOutput(t *testing.T) {
	var a Answer
	a.Reset()
	if err := a.ReadOutput(OutputDeny, []byte(`[{"code":"x"}]`), candidateIndex); err != nil {
		t.Fatal(err)
	}
	if err := a.ReadOutput(OutputExclude, []byte(`[{"id":"d4","reason":"y"}]`), candidateIndex); err != nil {
		t.Fatal(err)
	}
	want := Answer{Refusals: []Refusal{{"x", "", 403, 0}}, Removals: []Removal{{4, "y", 0}}}
	if diff := cmp.Diff(want, a, equateEmpty); diff != "" {
		t.Error(diff)
	}
	if err := a.ReadOutput("allow", []byte(`true`), candidateIndex); err == nil {
		t.Error("an unknown output is read")
	}
}

// Whatever comes, an answer that is accepted names only candidates that there
// are, each once, with finite scores.
func checkAnswer(t interface{ Fatalf(string, ...any) }, a *Answer, count int) {
	seen := map[int]bool{}
	for _, i := range a.Order {
		if i < 0 || i >= count || seen[i] {
			t.Fatalf("order %v", a.Order)
		}
		seen[i] = true
	}
	clear(seen)
	for _, s := range a.Scores {
		if s.Candidate < 0 || s.Candidate >= count || seen[s.Candidate] || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			t.Fatalf("scores %v", a.Scores)
		}
		seen[s.Candidate] = true
	}
	clear(seen)
	for _, m := range a.Removals {
		if m.Candidate < 0 || m.Candidate >= count || seen[m.Candidate] || !isCode(m.Reason) {
			t.Fatalf("removals %v", a.Removals)
		}
		seen[m.Candidate] = true
	}
	for _, r := range a.Refusals {
		if !isCode(r.Code) || !slices.Contains(statuses[:], r.Status) || r.RetryAfter < 0 {
			t.Fatalf("refusals %v", a.Refusals)
		}
	}
}

func TestAnswerKeepsTheLaw(t *testing.T) {
	id := rapid.OneOf(rapid.Map(rapid.IntRange(0, 120), func(i int) string { return fmt.Sprintf("%q", fmt.Sprintf("d%d", i)) }), rapid.SampledFrom([]string{`""`, `"x"`, "1", "null", `"d1"`}))
	number := rapid.OneOf(rapid.Map(rapid.Float64(), func(f float64) string { return fmt.Sprint(f) }), rapid.SampledFrom([]string{"-0", "1e308", "1e400", "0.0000001", `"5"`, "true"}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		var scores, order, exclude []string
		for range n {
			i := id.Draw(t, "id")
			scores = append(scores, i+":"+number.Draw(t, "score"))
			order = append(order, i)
			exclude = append(exclude, fmt.Sprintf(`{"id":%s,"reason":%q}`, i, rapid.SampledFrom([]string{"a", "b", "B"}).Draw(t, "reason")))
		}
		for form, text := range map[string]string{
			"score": "{" + strings.Join(scores, ",") + "}", "order": "[" + strings.Join(order, ",") + "]",
		} {
			var a Answer
			if err := a.Read([]byte(`{"`+form+`":`+text+`}`), formOutputs[form], candidateIndex); err == nil {
				checkAnswer(t, &a, 100)
			}
		}
		var a Answer
		if err := a.Read([]byte(`{"deny":[],"exclude":[`+strings.Join(exclude, ",")+`]}`), formOutputs["candidate"], candidateIndex); err == nil {
			checkAnswer(t, &a, 100)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"deny":[{"code":"a","message":"m","status":429,"retry_after":1}],"exclude":[{"id":"d1","reason":"r","until":5}]}`,
		`{"decision":{"only":{"tag.x":{"values":["a"],"reason":"r"}},"deny":{"tier":{"1":"x"}},"limits":{"min_context":{"value":1,"reason":"r"}}}}`,
		`{"score":{"d1":1.5,"d2":-1e-9}}`, `{"order":["d1","d2"]}`, `{"order":["\u0064\u0031"]}`,
	} {
		f.Add([]byte(s))
	}
	var a Answer
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, outputs := range formOutputs {
			if err := a.Read(text, outputs, candidateIndex); err == nil {
				checkAnswer(t, &a, 100)
			}
		}
	})
}

// An answer costs one copy of its text; a decision besides the frames of its
// parts.
func TestAnswerAllocates(t *testing.T) {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("d%d", i))
	}
	index := func(id string) int { return slices.Index(ids, id) }
	for _, test := range []struct {
		form, text string
		most       float64
	}{
		{"decision", `{"decision":{"only":{"region":{"values":["eu","us"],"reason":"r"}},"limits":{"min_context":{"value":1,"reason":"r"}}}}`, 4},
		{"candidate", `{"deny":[{"code":"a","message":"m"}],"exclude":[{"id":"d1","reason":"r"},{"id":"d2","reason":"r"}]}`, 1},
		{"score", `{"score":{"d1":1.5,"d2":-1e-9,"d3":77}}`, 1},
		{"order", `{"order":["d1","d2","d3"]}`, 1},
	} {
		var a Answer
		outputs, text := formOutputs[test.form], []byte(test.text)
		if n := testing.AllocsPerRun(100, func() {
			if err := a.Read(text, outputs, index); err != nil {
				t.Fatal(err)
			}
		}); n > test.most {
			t.Errorf("%s: %v allocations, want at most %v", test.form, n, test.most)
		}
	}
}
