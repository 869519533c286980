package wasm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read is a file of testdata/wasm.
func read(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"../testdata/wasm"}, parts...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// newRuntime makes a runtime that is closed at the end of the test, when no
// memory may be left.
func newRuntime(tb testing.TB, c wasm.Config) *wasm.Runtime {
	tb.Helper()
	r, err := wasm.NewRuntime(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if left := r.Memory(); left != 0 {
			tb.Errorf("%d bytes of memory are left", left)
		}
	})
	return r
}

func load(tb testing.TB, r *wasm.Runtime, s wasm.Source) *wasm.Module {
	tb.Helper()
	if s.Name == "" {
		s.Name = "test"
	}
	m, err := r.Load(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// answers loads a module of testdata/wasm/answers.
func answers(tb testing.TB, name string, s wasm.Source) *wasm.Module {
	tb.Helper()
	s.Bytes = read(tb, "answers", name+".wasm")
	return load(tb, newRuntime(tb, wasm.Config{}), s)
}

var regions = []string{"eu-west", "us-east", "eu-central", "us-west-2", "eu-north"}

// request is an input with so many candidates. mode is its attempt budget, which
// the modules of testdata/wasm/answers go by.
func request(count int, mode uint32) *abi.Input {
	in := &abi.Input{
		ID: "req-1", Org: "acme", Team: "search", Key: "ci", Endpoint: "chat", Model: "large", Session: "s-1",
		Tags: []abi.Tag{{Key: "env", Value: "prod"}}, Flags: abi.Stream, InputTokens: 1200, MaxOutputTokens: 500, AttemptBudget: mode,
		NowUnixMS: 1790000000000, Seed: 42, BudgetLeft: 1 << 40, RPMLeft: 100, TPMLeft: 100_000,
	}
	for n := range count {
		k := int64(n)
		in.Records = append(in.Records, abi.Candidate{
			ID: fmt.Sprintf("provider-%d/large", n), Provider: fmt.Sprintf("provider-%d", n%4), Model: "large", UpstreamModel: "large-2026",
			Region: regions[n%len(regions)], SupplyTier: "direct", SkippedUntil: abi.Unknown, Priority: 1, Weight: 1, ContextLimit: 128_000,
			MaxOutput: 4096, InFlight: uint32(n % 3), Samples: 100, Circuit: abi.Circuit(n % 3),
			PriceIn: 1000 + k*37%211, PriceOut: 4000 + k*53%401, Price: 7000 + 3*(k*37%211) + k*53%401, EstCost: 1<<39 + k<<37, TTFT: 200 + k*31%97, LatencyP50: 900 + k*71%307,
			LatencyP95: 2000 + k*13%503, Throughput: 60_000, Success: 990_000, QuotaLeft: 1_000_000 - k*29_000%900_000,
			QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
		})
	}
	if count > 2 {
		in.Records[2].Skipped = 10
	}
	return in
}

// table are the rows of a table in a README whose first column is empty or
// begins with a W.
func table(tb testing.TB, folder string, columns, atLeast int) [][]string {
	tb.Helper()
	var rows [][]string
	for line := range strings.Lines(string(read(tb, folder, "README.md"))) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != columns+2 || strings.HasPrefix(f[1], "--") || strings.TrimSpace(f[1]) == "number" {
			continue
		}
		f = f[1 : columns+1]
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		rows = append(rows, f)
	}
	if len(rows) < atLeast {
		tb.Fatalf("the table of %s has %d rows", folder, len(rows))
	}
	return rows
}
