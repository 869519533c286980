package conform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

const modules = "../../testdata/wasm"

func readModule(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(modules, name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func examine(tb testing.TB, k *Kit, s Subject) *Report {
	tb.Helper()
	if s.Name == "" {
		s.Name = "subject"
	}
	r, err := k.Examine(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// brokenOf are the clauses that a report says are broken.
func brokenOf(r *Report) (list []string) {
	for _, f := range r.Findings {
		if f.Outcome == Broken {
			list = append(list, string(f.Clause))
		}
	}
	return list
}

// The table of testdata/wasm/conform: each module breaks the clause that its name
// begins with, and no other.
func TestModulesThatBreakOneClause(t *testing.T) {
	k := newKit(t)
	rows := 0
	for lines := bufio.NewScanner(bytes.NewReader(readModule(t, "conform/README.md"))); lines.Scan(); {
		cells := strings.Split(lines.Text(), " | ")
		name := strings.TrimPrefix(cells[0], "| ")
		parts := strings.SplitN(name, "-", 3)
		if len(cells) != 2 || len(parts) != 3 {
			continue
		}
		rows++
		clause, words := parts[0]+"-"+parts[1], strings.TrimSuffix(cells[1], " |")
		t.Run(name, func(t *testing.T) {
			r := examine(t, k, Subject{Bytes: readModule(t, "conform/"+name+".wasm")})
			if diff := cmp.Diff([]string{clause}, brokenOf(r)); diff != "" || r.OK() {
				t.Errorf("broken clauses (-want +got):\n%s", diff)
			}
			f := r.finding(abi.Clause(clause))
			if !strings.Contains(f.Detail, words) || f.Failed < 1 || f.Asked < f.Failed {
				t.Errorf("got %+v, want %q", f, words)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(modules, "conform", "*.wasm"))
	if err != nil || rows != len(files) || rows < 9 {
		t.Errorf("%d rows and %d modules, %v", rows, len(files), err)
	}
}

// Each clause that only a call can show is broken by a module.
func TestEachClauseHasItsModule(t *testing.T) {
	for _, c := range abi.Clauses {
		if slices.Contains(structural, c.Clause) {
			continue
		}
		if files, err := filepath.Glob(filepath.Join(modules, "conform", string(c.Clause)+"-*.wasm")); err != nil || len(files) == 0 {
			t.Errorf("no module breaks %s (%s), %v", c.Clause, c.Text, err)
		}
	}
}

// What keeps its state on purpose is held to the same answers for the same past.
func TestStateOnPurpose(t *testing.T) {
	r := examine(t, newKit(t), Subject{Bytes: readModule(t, "conform/DET-2-in-turn.wasm"), Stateful: true})
	if !r.OK() {
		t.Errorf("broken: %v", brokenOf(r))
	}
	if f := r.finding(abi.ClauseState); f.Outcome != Skipped || !strings.Contains(f.Detail, "on purpose") {
		t.Errorf("got %+v", f)
	}
	if f := r.finding(abi.ClauseRepeat); f.Outcome != Kept || f.Asked == 0 {
		t.Errorf("got %+v", f)
	}
}

// Modules that are in order keep every clause, and every clause is looked at.
func TestHonestModules(t *testing.T) {
	k := newKit(t)
	for name, params := range map[string]string{
		"sdk/c-admission.wasm": `{"regions":["eu","eu-west"]}`, "sdk/c-ranking.wasm": "", "sdk/rust-ranking.wasm": `{"ms_nusd":77}`,
		"sdk/assemblyscript-ranking.wasm": "", "sdk/rust-removals.wasm": "",
	} {
		t.Run(name, func(t *testing.T) {
			s := Subject{Bytes: readModule(t, name)}
			if params != "" {
				s.Params = []byte(params)
			}
			r := examine(t, k, s)
			for _, f := range r.Findings {
				if f.Outcome != Kept || f.Asked == 0 || f.Failed != 0 || f.Demand == "" {
					t.Errorf("%+v", f)
				}
			}
			if len(r.Costs) != len(costed) || r.Profile != "small" || r.Budget == 0 {
				t.Errorf("got %+v", r)
			}
			for i, c := range r.Costs {
				if c.Fault != "" || c.Units <= 0 || c.Took <= 0 || c.Candidates != costed[i] {
					t.Errorf("got %+v", c)
				}
				if i > 0 && c.Units < r.Costs[i-1].Units {
					t.Errorf("%d candidates cost less than %d", c.Candidates, r.Costs[i-1].Candidates)
				}
			}
		})
	}
}

// Two examinations of the same module say the same, but for the time.
func TestReportsAreReproducible(t *testing.T) {
	var reports [2]*Report
	for i := range reports {
		reports[i] = examine(t, newKit(t), Subject{Bytes: readModule(t, "sdk/c-admission.wasm")})
		for n := range reports[i].Costs {
			reports[i].Costs[n].Took = 0
		}
	}
	if diff := cmp.Diff(reports[0], reports[1]); diff != "" {
		t.Error(diff)
	}
}

// What cannot be loaded breaks the clause for which it cannot.
func TestModulesThatCannotBeLoaded(t *testing.T) {
	honest := readModule(t, "sdk/c-ranking.wasm")
	bare := readModule(t, "guests/rank.wasm")
	tests := []struct {
		name    string
		subject Subject
		clause  abi.Clause
		words   string
	}{
		{"no module", Subject{Bytes: []byte("(module)")}, abi.ClauseForm, "offset 0x0"},
		{"empty", Subject{}, abi.ClauseForm, ""},
		{"too large a memory", Subject{Bytes: readModule(t, "hostile/W08-memory-minimum.wasm")}, abi.ClauseForm, "pages"},
		{"no gw_alloc", Subject{Bytes: readModule(t, "hostile/W31-missing-alloc.wasm")}, abi.ClauseExports, `"gw_alloc" is missing`},
		{"both kinds", Subject{Bytes: readModule(t, "hostile/W31-both.wasm")}, abi.ClauseExports, "both"},
		{"the clock", Subject{Bytes: readModule(t, "hostile/W34-clock.wasm")}, abi.ClauseImports, "clock"},
		{"a newer version", Subject{Bytes: readModule(t, "answers/W33-newer-minor.wasm")}, abi.ClauseVersion, "version 1.1"},
		{"a buffer beyond the memory", Subject{Bytes: readModule(t, "answers/W17-alloc-beyond.wasm")}, abi.ClauseAlloc, "the memory ends at"},
		{"an odd address", Subject{Bytes: readModule(t, "answers/W22-alloc-odd.wasm")}, abi.ClauseAlloc, "no multiple of 16"},
		{"traps for parameters", Subject{Bytes: readModule(t, "answers/W56-configure-traps.wasm"), Params: []byte(`{"a":1}`)}, abi.ClauseConfigure, "gw_configure: unreachable"},
		{"refuses parameters", Subject{Bytes: readModule(t, "answers/configure-refuses.wasm"), Params: []byte(`{"a":1}`)}, abi.ClauseConfigure, "it returned -7"},
		{"takes no parameters", Subject{Bytes: bare, Params: []byte(`{"a":1}`)}, abi.ClauseConfigure, "takes none"},
		{"a manifest that is no JSON", Subject{Bytes: describe(bare, "{")}, abi.ClauseManifest, "JSON"},
		{"a manifest of another kind", Subject{Bytes: describe(bare, `{"name":"x","version":"1","kind":"admission","abi":"1.0"}`)}, abi.ClauseManifest, "exports are those"},
		{"two manifests", Subject{Bytes: describe(honest, `{}`)}, abi.ClauseForm, "stands twice"},
		{"never starts", Subject{Bytes: readModule(t, "hostile/W02-loop-in-start.wasm")}, abi.ClauseBudget, "used up"},
	}
	k := newKit(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := examine(t, k, tt.subject)
			if diff := cmp.Diff([]string{string(tt.clause)}, brokenOf(r)); diff != "" {
				t.Errorf("broken clauses (-want +got):\n%s", diff)
			}
			if f := r.finding(tt.clause); !strings.Contains(f.Detail, tt.words) {
				t.Errorf("got %+v, want %q", f, tt.words)
			}
			if r.OK() || len(r.Costs) > 0 {
				t.Errorf("got %+v", r)
			}
			for _, f := range r.Findings {
				if f.Outcome == Kept {
					t.Errorf("%s was looked at: %+v", f.Clause, f)
				}
			}
		})
	}
}

// describe adds a manifest to a module.
func describe(module []byte, manifest string) []byte {
	const name = "gatewright.manifest"
	body := slices.Concat([]byte{byte(len(name))}, []byte(name), []byte(manifest))
	return slices.Concat(module, []byte{0}, binary.AppendUvarint(nil, uint64(len(body))), body)
}

func TestModulesForOthers(t *testing.T) {
	k := newKit(t)
	if _, err := k.Examine(t.Context(), Subject{Name: "x", Bytes: readModule(t, "guests/opa-rank.wasm")}); !errors.Is(err, ErrOPA) {
		t.Errorf("a module of OPA's: %v", err)
	}
	if _, err := k.Examine(t.Context(), Subject{Name: "x", Bytes: readModule(t, "guests/rank.wasm"), Profile: "huge"}); err == nil {
		t.Error("an unknown profile")
	}
	if _, err := k.Examine(t.Context(), Subject{Name: "x", Bytes: readModule(t, "guests/rank.wasm"), Params: []byte("{")}); err == nil {
		t.Error("parameters that are no JSON")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Examine(done, Subject{Name: "x", Bytes: readModule(t, "guests/rank.wasm")}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// An answer becomes an order of all candidates, or it is said why not.
func TestPlaces(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name  string
		out   abi.Result
		count int
		want  []int
		wrong string
	}{
		{"scores", abi.Result{Scores: []float64{3, 1, 2}}, 3, []int{1, 2, 0}, ""},
		{"ties and none", abi.Result{Scores: []float64{nan, 1, 1, nan, 0}}, 5, []int{4, 1, 2, 0, 3}, ""},
		{"an order of some", abi.Result{Ordered: true, Order: []uint32{2, 0}}, 4, []int{2, 0, 1, 3}, ""},
		{"nobody", abi.Result{}, 0, []int{}, ""},
		{"twice", abi.Result{Ordered: true, Order: []uint32{1, 1}}, 2, []int{1, 1, 0}, "candidate 1 is tried twice"},
		{"beyond", abi.Result{Ordered: true, Order: []uint32{7}}, 1, []int{7, 0}, "candidate 7 is tried, and there are 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := places(&tt.out, tt.count)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got := noPermutation(got, tt.count); got != tt.wrong {
				t.Errorf("got %q, want %q", got, tt.wrong)
			}
		})
	}
	if got := noPermutation([]int{0}, 2); got != "candidate 1 is never tried" {
		t.Errorf("got %q", got)
	}
}

// Answers that differ in one bit differ.
func TestDiffers(t *testing.T) {
	base := func() *answer {
		return &answer{result: abi.Result{
			Verdicts: []abi.Verdict{{Reason: 1, Until: 5}}, Scores: []float64{0, math.NaN()}, Message: []byte("m"),
			Refusal: abi.Refusal{Status: 402},
		}}
	}
	if d := base().differs(base()); d != "" {
		t.Errorf("the same: %q", d)
	}
	for name, change := range map[string]func(*answer){
		"a sign":    func(a *answer) { a.result.Scores[0] = math.Copysign(0, -1) },
		"a score":   func(a *answer) { a.result.Scores[1] = 1 },
		"a verdict": func(a *answer) { a.result.Verdicts[0].Reason = 2 },
		"an until":  func(a *answer) { a.result.Verdicts[0].Until = 6 },
		"a refusal": func(a *answer) { a.result.Refusal.RetryAfter = 1 },
		"a message": func(a *answer) { a.result.Message = nil },
		"an order":  func(a *answer) { a.result.Ordered = true },
		"a longer":  func(a *answer) { a.result.Order = []uint32{0} },
		"an error":  func(a *answer) { a.err = errors.New("trap") },
	} {
		other := base()
		change(other)
		if base().differs(other) == "" || other.differs(base()) == "" {
			t.Errorf("%s makes no difference", name)
		}
	}
}
