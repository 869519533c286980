package rego

import (
	"os"
	"testing"
)

// benched are policies of each form, evaluated on 20 candidates with what they
// read of them.
var benched = []struct{ name, text, input string }{
	{"facet", `package gatewright.admission

decision := {"only": {"region": {"values": ["r0"], "reason": "eu"}}} if {
	input.request.tags.residency == "eu"
} else := {}
`, `{"v":1,"request":{"tags":{"residency":"eu"}}}`},
	{"candidate", `package gatewright.admission

exclude contains {"id": c.id, "reason": "eu_only"} if {
	input.request.tags.residency == "eu"
	some c in input.candidates
	c.region != "r0"
}
`, ""},
	{"score", `package gatewright.ranking

score[c.id] := c.price + c.ttft_ms * 1000000 if some c in input.candidates
`, ""},
}

func BenchmarkCompiled(b *testing.B) {
	for _, p := range benched {
		b.Run(p.name, func(b *testing.B) {
			m := mustCompile(b, p.text)
			i := newInstance(b.Context(), b, m.Wasm, "{}")
			in := p.input
			if in == "" {
				in = cut(20, m)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := i.eval(b.Context(), m.Entrypoint, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(i.used), "units/op")
		})
	}
}

func BenchmarkNative(b *testing.B) {
	for _, p := range benched {
		b.Run(p.name, func(b *testing.B) {
			m := mustCompile(b, p.text)
			n, err := m.Native(b.Context(), []byte("{}"))
			if err != nil {
				b.Fatal(err)
			}
			in := []byte(p.input)
			if p.input == "" {
				in = []byte(cut(20, m))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := n.Eval(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	text, err := os.ReadFile("../../policies/admission/residency.rego")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustCompile(b, string(text))
	}
}

func BenchmarkAnswer(b *testing.B) {
	text := []byte(`{"deny":[],"exclude":[{"id":"d1","reason":"eu_only"},{"id":"d2","reason":"eu_only"},{"id":"d17","reason":"eu_only"}]}`)
	index := map[string]int{"d1": 1, "d2": 2, "d17": 17}
	find := func(id string) int {
		if i, ok := index[id]; ok {
			return i
		}
		return -1
	}
	var a Answer
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Read(text, []Output{OutputDeny, OutputExclude}, find); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for name, args := range map[string]string{"sprintf": `["%d of %s",[5,"x"]]`, "gw_strict.regex.match": `["^gpt-[0-9]+$","gpt-5"]`, "time.clock": `[[1736962200000000000,"Europe/Berlin"]]`} {
		b.Run(name, func(b *testing.B) {
			f, _ := Builtin(name)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f([]byte(args)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
