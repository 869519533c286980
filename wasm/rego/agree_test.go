package rego

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// randomInput is an input as the contract has it: what may be missing is
// missing at times, texts are those that policies of the tests look for and
// others.
func randomInput(r *rand.Rand) string {
	words := []string{"", "eu", "us", "eu-west", "gpt-5", "a", "search", "20", "{}", `{"a":5,"b":"x"}`, "1.2.3", "ä\"\\\n", "x", "10KB", "high"}
	word := func() string { return words[r.IntN(len(words))] }
	object := func(fields []field) map[string]any {
		o := map[string]any{}
		for _, f := range fields {
			if f.absent && r.IntN(2) == 0 {
				continue
			}
			switch f.sort {
			case sortText:
				o[f.name] = word()
			case sortInteger:
				o[f.name] = []int64{0, 1, 2, 7, 20, 21, 1000, 1736962200000, 9_000_000_000_000_000_000}[r.IntN(9)]
			case sortBool:
				o[f.name] = r.IntN(2) == 0
			case sortCircuit:
				o[f.name] = circuits[r.IntN(len(circuits))]
			case sortTextMap:
				m := map[string]string{}
				for _, k := range []string{"zone", "residency", "owner", "level", "json", "size", "x-version", "approved", "data_class", "x"} {
					if r.IntN(3) > 0 {
						m[k] = word()
					}
				}
				o[f.name] = m
			case sortSkipped:
				o[f.name] = nil
				if r.IntN(2) == 0 {
					o[f.name] = map[string]any{"reason": "cooldown", "until_unix_ms": 1736962300000}
				}
			}
		}
		return o
	}
	in := map[string]any{"v": 1, "request": object(requestFields), "caller": object(callerFields)}
	var list []any
	for i := range r.IntN(6) {
		c := object(candidateFields)
		c["id"] = fmt.Sprintf("d%d", i)
		list = append(list, c)
	}
	in["candidates"] = append([]any{}, list...)
	in["facets"] = map[string]any{"region": []string{word(), "eu-west"}, "tag.zone": []string{word()}, "provider": []string{"p"}, "supply_tier": []string{}, "tier": []int{0, 1}}
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Both forms of a policy agree on any input: they answer the same, or both
// fail. Where the native one fails, the compiled one must not answer.
func TestBothFormsAgree(t *testing.T) {
	sources := map[string]Source{}
	cases, _ := filepath.Glob("../../testdata/rego/cases/*.txtar")
	for _, f := range cases {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(f)] = newCase(a).source
	}
	shipped, _ := filepath.Glob("../../policies/*/*.rego")
	for _, f := range shipped {
		if strings.HasSuffix(f, testSuffix) {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(f)] = Source{
			Files: map[string]string{"p.rego": string(text)}, Data: []byte("{}"),
			Params: []byte(`{"regions":{"eu":["eu-west"]},"teams":{"search":["premium"]},"zone":"Europe/Berlin","low_tiers":["a"],"exempt":["a"]}`),
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for name, s := range sources {
		m, err := Compile(t.Context(), s)
		if err != nil {
			continue
		}
		document, err := m.Bind(s.Params, s.Data)
		if err != nil {
			continue
		}
		compiled := newInstance(t.Context(), t, m.Wasm, string(document))
		native, err := m.Native(t.Context(), document)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		for range 40 {
			input := randomInput(r)
			if compare(t, name, compiled, native, m, input); t.Failed() {
				t.Fatalf("%s on %s", name, input)
			}
		}
	}
	if compared < 15 {
		t.Errorf("%d policies were compared", compared)
	}
}

// A module and its native form serve many goroutines.
func TestModuleInParallel(t *testing.T) {
	m := mustCompile(t, `package gatewright.admission

deny contains {"code": "late"} if input.request.hour > data.params.last

exclude contains {"id": c.id, "reason": "region"} if {
	some c in input.candidates
	not c.region in {"r0", "r1"}
	regex.match("^d[0-9]+$", c.id)
}
`)
	document, err := m.Bind([]byte(`{"last":20}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := m.Native(t.Context(), document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := shared.Eval(t.Context(), []byte(input(5)))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				got, err := shared.Eval(context.Background(), []byte(input(5)))
				if err != nil || string(got) != string(want) {
					t.Errorf("got %s, %v, want %s", got, err, want)
				}
			}
			if _, err := m.Bind([]byte(`{"last":"20"}`), nil); err == nil {
				t.Error("a text is taken for a number")
			}
			if _, err := m.Native(context.Background(), document); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
