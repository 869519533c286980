package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/builtin"
	"gatewright/engine"
)

var update = flag.Bool("update", false, "rewrite the expected results of the shared cases")

// rule says what a case is about: exactly one of the fields is set.
type rule struct {
	Check    string     `json:"check,omitempty"`
	Key      string     `json:"key,omitempty"`
	Strategy string     `json:"strategy,omitempty"`
	Combo    []caseStep `json:"combo,omitempty"`
}

type caseStep struct {
	Key         string   `json:"key"`
	RelativePPM *int64   `json:"tolerance_ppm,omitempty"`
	Absolute    *float64 `json:"tolerance,omitempty"`
	Enough      *float64 `json:"enough,omitempty"`
	Max         *float64 `json:"max,omitempty"`
}

// removal is one candidate that a check must remove.
type removal struct {
	ID          string        `json:"id"`
	Reason      engine.Reason `json:"reason"`
	UntilUnixMS *int64        `json:"until_unix_ms,omitempty"`
}

// result is what a rule must make of a case. Within a band the draw alone
// decides, so a case does not depend on how the draw hashes.
type result struct {
	Removed *[]removal          `json:"removed,omitempty"` // of a check
	Values  map[string]*float64 `json:"values,omitempty"`  // of a single key; null = missing
	Bands   [][]string          `json:"bands,omitempty"`   // of a key or strategy: best first
}

func TestSharedCases(t *testing.T) {
	for _, stage := range []string{"admission", "ordering"} {
		files, err := filepath.Glob(filepath.Join("..", "testdata", stage, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no cases of %s: %v", stage, err)
		}
		for _, file := range files {
			t.Run(stage+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runFile(t, file) })
		}
	}
}

func runFile(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := parseArchive(data)
	changed := false
	for _, dir := range a.cases() {
		t.Run(dir, func(t *testing.T) {
			got, err := runCase(a, dir)
			if err != nil {
				t.Fatal(err)
			}
			section := dir + "/want.json"
			var want result
			err = decode(a.files[section], &want)
			diff := cmp.Diff(want, got)
			if err == nil && diff == "" {
				return
			}
			if !*update {
				t.Fatalf("%s: %v; (-want +got):\n%s", section, err, diff)
			}
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			a.set(section, append(data, '\n'))
			changed = true
		})
	}
	if changed {
		if err := os.WriteFile(file, a.format(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// decode reads files of a case, by their names. There may be no facts.json.
func (a *archive) decode(dir string, into map[string]any) error {
	for name, value := range into {
		data, ok := a.find(dir, name)
		if !ok && name == "facts.json" {
			continue
		}
		if err := decode(data, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// runCase returns what the rule made of the case.
func runCase(a *archive, dir string) (result, error) {
	var (
		which rule
		in    input
		more  facts
	)
	if err := a.decode(dir, map[string]any{"rule.json": &which, "input.json": &in, "facts.json": &more}); err != nil {
		return result{}, err
	}
	w, err := load(&in, &more)
	if err != nil {
		return result{}, err
	}
	if which.Check != "" {
		list, err := w.refusals(which.Check)
		return result{Removed: &list}, err
	}
	return w.rank(&which)
}

// refusals runs one check over the pool of the case.
func (w *world) refusals(name string) ([]removal, error) {
	checks := builtin.Checks()
	i := slices.IndexFunc(checks, func(c engine.Check) bool { return c.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no check %q", name)
	}
	var out engine.Refusals
	if err := checks[i].Refuse(context.Background(), w.request, w.candidates, &out); err != nil {
		return nil, err
	}
	list := []removal{}
	for _, f := range out.List() {
		r := removal{ID: w.candidates[f.Candidate].ID, Reason: f.Reason}
		if !f.Until.IsZero() {
			until := f.Until.UnixMilli()
			r.UntilUnixMS = &until
		}
		list = append(list, r)
	}
	return list, nil
}

// rank runs the rule's strategy over the pool of the case.
func (w *world) rank(which *rule) (result, error) {
	s, err := which.strategy()
	if err != nil {
		return result{}, err
	}
	// What a case marks as skipped stays out, whatever the reason.
	w.checks = []engine.Check{markedCheck{w.candidates}}
	var out result
	if which.Key != "" {
		values := make([]float64, len(w.candidates))
		if err := s.Keys[0].Key.Values(context.Background(), w.request, w.candidates, values); err != nil {
			return result{}, err
		}
		out.Values = map[string]*float64{}
		for i, v := range values {
			out.Values[w.candidates[i].ID] = nil
			if !math.IsNaN(v) {
				out.Values[w.candidates[i].ID] = &v
			}
		}
	}
	out.Bands, err = w.bands(s)
	return out, err
}

// strategy makes the strategy that the rule names.
func (r *rule) strategy() (*engine.Strategy, error) {
	if r.Strategy != "" {
		s := builtin.Strategies()[r.Strategy]
		if s == nil {
			return nil, fmt.Errorf("there is no strategy %q", r.Strategy)
		}
		return s, nil
	}
	var steps []builtin.Step
	if r.Key != "" {
		steps = []builtin.Step{{Key: r.Key}}
	}
	for _, c := range r.Combo {
		step := builtin.Step{Key: c.Key, Enough: c.Enough, Max: c.Max}
		if c.RelativePPM != nil {
			step.Tolerance = &engine.Tolerance{RelativePPM: *c.RelativePPM}
		}
		if c.Absolute != nil {
			step.Tolerance = &engine.Tolerance{Absolute: *c.Absolute}
		}
		steps = append(steps, step)
	}
	return builtin.Combo("case", steps)
}

// markedCheck removes the candidates that are marked as skipped.
type markedCheck struct{ marked []engine.Candidate }

// Name returns the check's name.
func (markedCheck) Name() string { return "marked" }

// Refuse removes what is marked.
func (m markedCheck) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		for j := range m.marked {
			if s := m.marked[j].Skipped; s != nil && m.marked[j].ID == pool[i].ID {
				out.RemoveUntil(i, s.Reason, "marked", s.Until)
			}
		}
	}
	return nil
}

// caseSeeds is how many draws tell the bands of a case apart: two candidates of
// one band whose weights are 10 to 1 stand in one order only in 1 of 10^15.
const caseSeeds = 400

// bands finds out which candidates the draw may exchange: those that stand in
// both orders over many seeds. It fails if within a band anything but the draw
// decides, or if bands overlap.
func (w *world) bands(s *engine.Strategy) ([][]string, error) {
	p, err := w.planner(s)
	if err != nil {
		return nil, err
	}
	before := map[[2]string]bool{}
	orders := make([]*engine.Decision, caseSeeds)
	for i := range orders {
		d, err := p.plan(uint64(i) * 0x9e3779b97f4a7c15)
		if err != nil {
			return nil, err
		}
		orders[i] = d
		for j, a := range d.Order {
			for _, b := range d.Order[j+1:] {
				before[[2]string{a, b}] = true
			}
		}
	}
	bands := [][]string{}
	for _, id := range orders[0].Order {
		last := len(bands) - 1
		if last >= 0 && slices.ContainsFunc(bands[last], func(a string) bool { return before[[2]string{id, a}] }) {
			bands[last] = append(bands[last], id)
			continue
		}
		bands = append(bands, []string{id})
	}
	for _, d := range orders {
		if err := drawDecides(d, bands); err != nil {
			return nil, err
		}
	}
	for _, band := range bands {
		slices.SortFunc(band, func(a, b string) int { return w.index(a) - w.index(b) })
	}
	return bands, nil
}

func (w *world) index(id string) int {
	return slices.IndexFunc(w.candidates, func(c engine.Candidate) bool { return c.ID == id })
}

// drawDecides checks that an order keeps to the bands and follows the draw
// within each.
func drawDecides(d *engine.Decision, bands [][]string) error {
	draw := map[string]float64{}
	for _, c := range d.Candidates {
		draw[c.Deployment] = c.Draw
	}
	rest := d.Order
	for _, band := range bands {
		if len(rest) < len(band) {
			return errors.New("the plans of two seeds differ in length")
		}
		part := rest[:len(band)]
		rest = rest[len(band):]
		for i, id := range part {
			if !slices.Contains(band, id) {
				return fmt.Errorf("order %v leaves the bands %v", d.Order, bands)
			}
			if i > 0 && draw[part[i-1]] > draw[id] {
				return fmt.Errorf("order %v: %s stands before %s, against the draw", d.Order, part[i-1], id)
			}
		}
	}
	return nil
}
