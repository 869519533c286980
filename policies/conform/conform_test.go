package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"gatewright/wasm/rego"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKit(t *testing.T) *Kit {
	t.Helper()
	k, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return k
}

const policy = `package gatewright.admission

import data.params

deny contains {"code": "late", "message": sprintf("it is %d o'clock", [input.request.hour])} if {
	input.request.hour >= object.get(params, "to", 20)
}

deny contains {"code": "name", "message": "no such name"} if {
	not regex.match("^[a-z]+$", input.request.model)
}
`

const tests = `package gatewright.admission_test

import data.gatewright.admission

test_late if {
	some d in admission.deny with input.request as {"hour": 20, "model": "m"} with data.params as {}
	d.message == "it is 20 o'clock"
}

test_parameter if {
	count(admission.deny) == 0 with input.request as {"hour": 20, "model": "m"} with data.params as {"to": 21}
}

test_wrong if {
	count(admission.deny) == 1 with input.request as {"hour": 3, "model": "m"} with data.params as {}
}

todo_test_later if { false }

test_cases[name] := allowed if {
	some name, hour in {"early": 1, "noon": 12}
	allowed := count(admission.deny) == 0 with input.request as {"hour": hour, "model": "m"} with data.params as {}
}
`

func TestBothForms(t *testing.T) {
	results, err := newKit(t).Test(t.Context(), rego.Source{Files: map[string]string{"p.rego": policy, "p_test.rego": tests}, Data: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		form := "native"
		if r.Compiled {
			form = "compiled"
		}
		got = append(got, fmt.Sprintf("%s %s %v", r.Name, form, r.Outcome))
		if failed := r.Outcome == rego.Failed; failed != (r.Message != "") && r.Outcome != rego.Skipped {
			t.Errorf("%s: %v says %q", r.Name, r.Outcome, r.Message)
		}
	}
	if d := cmp.Diff([]string{
		"test_late native pass", "test_late compiled pass",
		"test_parameter native pass", "test_parameter compiled pass",
		"test_wrong native fail", "test_wrong compiled fail",
		"todo_test_later native skip", "todo_test_later compiled skip",
		"test_cases native pass", "test_cases compiled pass",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A built-in that fails fails the test in both forms: an error must not become an
// undefined value, which a refusal could hang on.
func TestFaultsOfBuiltins(t *testing.T) {
	source := `package gatewright.admission

deny contains {"code": "old", "message": "too old"} if {
	to_number(object.get(input.request.metadata, "version", "0")) < 3
}
`
	check := `package gatewright.admission_test

import data.gatewright.admission

test_garbled if {
	count(admission.deny) == 0 with input.request.metadata as {"version": "three"}
}
`
	results, err := newKit(t).Test(t.Context(), rego.Source{Files: map[string]string{"p.rego": source, "p_test.rego": check}, Data: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if r.Outcome != rego.Errored || !strings.Contains(r.Message, "to_number") {
			t.Errorf("compiled %v: %v, %q", r.Compiled, r.Outcome, r.Message)
		}
	}
}

func TestProblemsOfASource(t *testing.T) {
	k := newKit(t)
	for name, files := range map[string]map[string]string{
		"a policy that is none": {"p.rego": "package gatewright.admission\n\ndeny contains {\"code\": input.request.modle}\n"},
		"a test that is none":   {"p.rego": policy, "p_test.rego": "package p_test\n\ntest_x if {\n"},
	} {
		_, err := k.Test(t.Context(), rego.Source{Files: files})
		if refused, ok := errors.AsType[*rego.Error](err); !ok || len(refused.Problems) == 0 || refused.Problems[0].Line == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
