package sdk_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

// BenchmarkPolicies are the worked examples in each language: the time of one
// call, the units of budget that it uses, and the memory of an instance. The table
// of README.md is made of it.
func BenchmarkPolicies(b *testing.B) {
	r := newRuntime(b)
	for _, policy := range []string{"admission", "ranking"} {
		for _, language := range languages {
			b.Run(policy+"/"+language, func(b *testing.B) {
				m := load(b, r, language, policy, "")
				ask := m.Admit
				if m.Info().Kind == check.KindRanking {
					ask = m.Rank
				}
				var out abi.Result
				for _, n := range []int{3, 20, 200, 1000} {
					b.Run(strconv.Itoa(n), func(b *testing.B) {
						in := pool(n)
						if err := ask(context.Background(), in, &out); err != nil {
							b.Fatal(err)
						}
						before := m.Stats()
						b.ReportAllocs()
						for b.Loop() {
							if err := ask(context.Background(), in, &out); err != nil {
								b.Fatal(err)
							}
						}
						after := m.Stats()
						b.ReportMetric(float64(after.Units-before.Units)/float64(after.Calls-before.Calls), "units/op")
						b.ReportMetric(float64(after.Memory)/1024, "KiB")
					})
				}
			})
		}
	}
}

// README.md says of the modules in the repository how large they are and what they
// use up.
func TestReadmeIsCurrent(t *testing.T) {
	readme := string(read(t, "README.md"))
	r := newRuntime(t)
	row := func(name string, figure func(language string) int) {
		var b strings.Builder
		fmt.Fprintf(&b, "| %s |", name)
		for _, language := range languages[:3] {
			fmt.Fprintf(&b, " %s |", thousands(figure(language)))
		}
		if !strings.Contains(readme, b.String()) {
			t.Errorf("the table of README.md must have\n%s", b.String())
		}
	}
	size := func(policy string) func(string) int {
		return func(language string) int { return len(kept(t, language, policy)) }
	}
	row("admission, bytes", size("admission"))
	row("ranking, bytes", size("ranking"))
	row("a policy without parameters begins at, bytes", size("removals"))
	for _, policy := range []string{"admission", "ranking"} {
		for _, n := range []int{3, 20, 200, 1000} {
			name := "at " + thousands(n)
			if n == 3 {
				name = policy + ", units at 3 candidates"
			}
			row(name, func(language string) int {
				m := ready(t, r, language, policy, "", kept(t, language, policy))
				before := m.Stats().Units
				answer(t, m, pool(n))
				return int(m.Stats().Units - before)
			})
		}
	}
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
