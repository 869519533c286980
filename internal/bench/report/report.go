package report

import (
	"encoding/json"
	"io"
	"slices"
)

// Unit is what a figure counts.
type Unit string

// The units of figures. A reader of the JSON gets the figure in the unit that
// the name says.
const (
	CPUSeconds   Unit = "cpu_s_per_1k_requests"
	Microseconds Unit = "us"
	Seconds      Unit = "s"
	Bytes        Unit = "bytes"
	Count        Unit = "count"
	Multiple     Unit = "multiple"
)

// Measure is one line of the table.
type Measure struct {
	ID       string // in JSON
	Label    string // in the table
	Unit     Unit
	Relative bool   // a gateway's figure is told as a multiple of the yardstick's
	Goal     string // what a lean gateway and one with policies are to reach
}

// Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"` // that the run could use
	Kernel string `json:"kernel"`
	Go     string `json:"go"` // that built yardstick, load and upstream
}

// Target is something that was measured.
type Target struct {
	Name    string `json:"name"`
	Version string `json:"version"` // what its binary says; "" = nothing
}

// Report is a run: what it was, and its figures. It is for one goroutine.
type Report struct {
	Date     string
	Machine  Machine
	Passes   int
	Scale    float64
	Gateways []Target
	Notes    []string // what a reader should know before the figures

	measures []Measure
	values   map[string]map[string][]float64 // of a measure and a target, a pass each
}

// Yardstick is the target whose figures the others are multiples of.
const Yardstick = "ref"

// Declare adds measures to the table, in their order.
func (r *Report) Declare(measures ...Measure) { r.measures = append(r.measures, measures...) }

// Add adds what the next pass measured. The measure is declared.
func (r *Report) Add(measure, target string, value float64) {
	if r.values == nil {
		r.values = map[string]map[string][]float64{}
	}
	if r.values[measure] == nil {
		r.values[measure] = map[string][]float64{}
	}
	r.values[measure][target] = append(r.values[measure][target], value)
}

// Row is a measure with its figures.
type Row struct {
	ID       string              `json:"id"`
	Label    string              `json:"label"`
	Unit     Unit                `json:"unit"`
	Goal     string              `json:"goal,omitempty"`
	Ref      *Summary            `json:"ref,omitempty"`
	Gateways map[string]*Figures `json:"gateways"`
}

// Figures are one gateway's.
type Figures struct {
	Value    *Summary `json:"value,omitempty"`
	Multiple *Summary `json:"multiple_of_ref,omitempty"` // nil where it means nothing
}

// Rows returns the measures that have figures.
func (r *Report) Rows() []Row {
	var rows []Row
	for _, m := range r.measures {
		values := r.values[m.ID]
		if len(values) == 0 {
			continue
		}
		row := Row{ID: m.ID, Label: m.Label, Unit: m.Unit, Goal: m.Goal, Ref: summarize(values[Yardstick]), Gateways: map[string]*Figures{}}
		for _, g := range r.Gateways {
			f := &Figures{Value: summarize(values[g.Name])}
			if m.Relative {
				f.Multiple = summarize(ratios(values[g.Name], values[Yardstick]))
			}
			row.Gateways[g.Name] = f
		}
		rows = append(rows, row)
	}
	return rows
}

// WriteJSON writes the report as a JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{
		"date": r.Date, "machine": r.Machine, "passes": r.Passes, "scale": r.Scale,
		"gateways": r.Gateways, "notes": slices.Concat([]string{}, r.Notes), "rows": r.Rows(),
	})
}
