package rego

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the cases of testdata/rego/cases give into them")

// TestCases runs the shared cases of the dialect: what a policy is, what is
// wrong with it, and what it answers natively and compiled.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/rego/cases/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newCase(archive)
			got := c.run(t)
			if *update {
				c.write(t, file, archive, got)
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// regoCase is one file of cases.
type regoCase struct {
	source Source
	inputs map[string]string // by name
	want   map[string]string // by file
}

func newCase(a *txtar.Archive) *regoCase {
	c := &regoCase{source: Source{Files: map[string]string{}}, inputs: map[string]string{}, want: map[string]string{}}
	for _, f := range a.Files {
		name, text := f.Name, string(f.Data)
		dir, base := filepath.Split(name)
		switch {
		case strings.HasSuffix(name, ".rego"):
			c.source.Files[name] = text
		case name == "data.json":
			c.source.Data = f.Data
		case name == "params.json":
			c.source.Params = f.Data
		case base == "input.json":
			c.inputs[strings.TrimSuffix(dir, "/")] = text
		default:
			c.want[name] = text
		}
	}
	return c
}

// run gives what the case should want.
func (c *regoCase) run(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	m, err := Compile(t.Context(), c.source)
	if refused, ok := errors.AsType[*Error](err); ok {
		var b strings.Builder
		for _, p := range refused.Problems {
			fmt.Fprintln(&b, p)
		}
		got["want.problems"] = b.String()
		return got
	}
	if err != nil {
		t.Fatal(err)
	}
	got["want.info"] = described(m)
	document, err := m.Bind(c.source.Params, c.source.Data)
	if err != nil {
		got["want.unbound"] = err.Error() + "\n"
		return got
	}
	compiled := newInstance(t.Context(), t, m.Wasm, string(document))
	native, err := m.Native(t.Context(), document)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.inputs)) {
		answer, fault := compare(t, name, compiled, native, m, c.inputs[name])
		if fault {
			got[name+"/want.fault"] = answer
		} else {
			got[name+"/want.json"] = answer
		}
	}
	return got
}

// compare evaluates natively and compiled. Both must answer the same, or both
// must fail: the answer is then what the native one says.
func compare(t *testing.T, name string, compiled *instance, native *Native, m *Module, input string) (answer string, fault bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	want, err := native.Eval(ctx, []byte(input))
	got, compiledErr := compiled.eval(ctx, m.Entrypoint, input)
	switch {
	case err != nil && compiledErr == nil:
		t.Errorf("%s: natively it fails (%v), and compiled it answers %s", name, err, got)
	case err == nil && compiledErr != nil:
		t.Errorf("%s: natively it answers %s, and compiled it fails: %v", name, want, compiledErr)
	case err == nil && normal(t, m, string(want)) != normal(t, m, got):
		t.Errorf("%s: natively %s, compiled %s", name, want, got)
	}
	if err != nil {
		return err.Error() + "\n", true
	}
	return indent(normal(t, m, string(want))), false
}

// normal is an answer with its sets in order. A list of values of a decision is
// in no order either.
func normal(t *testing.T, m *Module, answer string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	if m.Form == FormFacet || m.Form == FormCandidate {
		sortLists(v)
	}
	v = rounded(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rounded cuts fractions to 15 digits: the two forms divide with more digits
// than that, and not with the same number of them.
func rounded(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		short, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
		return short
	case map[string]any:
		for k, e := range v {
			v[k] = rounded(e)
		}
	case []any:
		for i, e := range v {
			v[i] = rounded(e)
		}
	}
	return v
}

func sortLists(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			sortLists(e)
		}
	case []any:
		for _, e := range v {
			sortLists(e)
		}
		slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

func indent(s string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", "  "); err != nil {
		return s
	}
	return b.String() + "\n"
}

func described(m *Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, by %s, outputs %v\n", m.Kind, m.Form, m.Outputs)
	for _, l := range []struct {
		name string
		list []string
	}{{"reads", m.Reads}, {"data", m.DataReads}, {"host", m.Builtins}} {
		for _, e := range l.list {
			fmt.Fprintf(&b, "%s %s\n", l.name, e)
		}
	}
	if m.Cacheable {
		fmt.Fprintf(&b, "kept by %s\n", strings.Join(m.CacheKey, " "))
	}
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

// write writes a file of cases anew.
func (c *regoCase) write(t *testing.T, file string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { _, wanted := c.want[f.Name]; return wanted })
	for _, name := range slices.Sorted(maps.Keys(got)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}
