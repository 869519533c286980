package rego

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutate makes one of two texts: a few places are changed, doubled, or taken
// from the other.
func mutate(r *rand.Rand, text, other string) string {
	s := []byte(text)
	part := func(t []byte, most int) []byte {
		if len(t) == 0 {
			return nil
		}
		i := r.IntN(len(t))
		return t[i : i+1+r.IntN(min(len(t)-i, most))]
	}
	for range 1 + r.IntN(4) {
		if len(s) == 0 {
			break
		}
		i := r.IntN(len(s))
		switch r.IntN(5) {
		case 0:
			s[i] = byte(r.IntN(128))
		case 1:
			s = slices.Delete(s, i, i+1)
		case 2:
			const marks = " {}[]()|:=,.\"$`#\n+-*/<>!&%"
			s = slices.Insert(s, i, marks[r.IntN(len(marks))])
		case 3:
			s = slices.Insert(s, i, part([]byte(other), 80)...)
		case 4:
			s = slices.Insert(s, i, slices.Repeat(part(s, 10), 1+r.IntN(12))...)
		}
	}
	return string(s)
}

// Whatever becomes of a policy's text, it is refused or compiled, and soon: a
// hang fails the run. Of what is compiled, nothing refers to what the dialect
// does not have.
func TestMutations(t *testing.T) {
	var texts []string
	for _, pattern := range []string{"../../testdata/rego/hostile/*.rego", "../../policies/*/*.rego"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
	}
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	r := rand.New(rand.NewPCG(1, 2))
	compiled := 0
	for range rounds {
		text := mutate(r, texts[r.IntN(len(texts))], texts[r.IntN(len(texts))])
		m, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": text}})
		if err != nil {
			if refused, ok := errors.AsType[*Error](err); !ok || len(refused.Problems) == 0 {
				t.Fatalf("%q: %v", text, err)
			}
			continue
		}
		compiled++
		for _, name := range m.Builtins {
			if _, ok := Builtin(name); !ok {
				t.Fatalf("%q needs the built-in %s", text, name)
			}
		}
		if strings.Contains(strings.Join(m.Reads, " "), "__local") {
			t.Fatalf("%q reads %v", text, m.Reads)
		}
	}
	if compiled < rounds/50 {
		t.Errorf("only %d of %d compiled", compiled, rounds)
	}
}

// Many causes of one missing value are told once each, and there is an end to
// them.
func TestManyCauses(t *testing.T) {
	var b strings.Builder
	b.WriteString("package gatewright.admission\n\ndeny contains {\"code\": \"x\", \"message\": t12} if input.request.hour > 3\n\n")
	b.WriteString("t0 := concat(\"\", [input.request.tags.a, input.request.tags.b, input.request.tags.c])\n\n")
	for i := range 12 {
		last := fmt.Sprintf("t%d", i)
		fmt.Fprintf(&b, "t%d := concat(\"\", [%s%s])\n\n", i+1, strings.Repeat(last+", ", 15), last)
	}
	_, err := Compile(t.Context(), Source{Files: map[string]string{"p.rego": b.String()}})
	refused, ok := errors.AsType[*Error](err)
	if !ok || len(refused.Problems) != 3 || !strings.Contains(refused.Problems[0].Message, `input.request.tags["a"] may be missing`) {
		t.Errorf("got %v", err)
	}
}
