package engine

import (
	"encoding/json"
	"math"
	"time"
)

// Decision is the record of one request: everything that was known, decided
// and done. The engine and the executor write it while the request runs; after
// Recorder.Record nobody writes it.
type Decision struct {
	ID       string
	Time     time.Time
	Request  *Request
	Model    string // public name that the request resolved to
	Resolved string // how: model, alias, locked, …
	Snapshot uint64 // generation of the configuration

	CountedTokens int64         // input, by a tokenizer; 0 = an estimate had to do
	Counting      time.Duration // what that took

	Strategy        string
	SelectionSource string // which level chose the strategy
	Candidates      []CandidateRecord
	Skipped         []Skipped
	Order           []string
	Faults          []RuleFault
	Policies        []PolicyRecord
	LawMended       bool // a rule's answer broke the law and was mended

	Attempts     []Attempt
	FallbackPath []string // models after the first, in the order they were tried
	Result       Result
	Err          error
	Duration     time.Duration
	Upstream     time.Duration // time spent on calls to upstreams
}

// CandidateRecord is one admitted candidate as ordering saw it.
type CandidateRecord struct {
	Deployment string
	Keys       []string  // shared by all candidates of a pool
	Values     []float64 // one per key, as measured; NaN = missing or skipped key
	Draw       float64
	Position   int // in its pool's plan, from 0
	Circuit    Circuit
}

// Result is how the request ended.
type Result struct {
	Status     int // sent to the client, or that would have been
	Code       string
	Deployment string
	Model      string // public name of the model that served
	Usage      Usage
	Cost       int64 // nano-USD the caller pays; Unknown
	Truncated  bool  // the upstream broke after the commit
	Cancelled  bool  // the client hung up
}

type candidateJSON struct {
	Deployment string             `json:"deployment"`
	Values     map[string]float64 `json:"values,omitempty"`
	Draw       float64            `json:"draw"`
	Position   int                `json:"position"`
	Circuit    string             `json:"circuit,omitempty"`
}

// MarshalJSON writes the candidate with its values by key.
func (c CandidateRecord) MarshalJSON() ([]byte, error) {
	out := candidateJSON{Deployment: c.Deployment, Draw: c.Draw, Position: c.Position}
	if c.Circuit != CircuitClosed {
		out.Circuit = c.Circuit.String()
	}
	for i, k := range c.Keys {
		if v := c.Values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			if out.Values == nil {
				out.Values = make(map[string]float64, len(c.Keys))
			}
			out.Values[k] = v
		}
	}
	return json.Marshal(out)
}

// MarshalJSON writes the attempt with its times in milliseconds.
func (a Attempt) MarshalJSON() ([]byte, error) {
	type plain Attempt
	out := struct {
		plain
		DurationMS  float64 `json:"duration_ms"`
		FirstByteMS float64 `json:"first_byte_ms,omitempty"`
		Usage       *Usage  `json:"usage,omitempty"`
	}{plain: plain(a), DurationMS: milliseconds(a.Duration), FirstByteMS: milliseconds(a.FirstByte)}
	if a.Usage.Known {
		out.Usage = &a.Usage
	}
	return json.Marshal(out)
}

// MarshalJSON writes the result; what is not known is left out.
func (r Result) MarshalJSON() ([]byte, error) {
	out := struct {
		Status     int    `json:"status"`
		Code       string `json:"code,omitempty"`
		Deployment string `json:"deployment,omitempty"`
		Model      string `json:"model,omitempty"`
		Usage      *Usage `json:"usage,omitempty"`
		Cost       *int64 `json:"cost_nusd,omitempty"`
		Truncated  bool   `json:"upstream_truncated,omitempty"`
		Cancelled  bool   `json:"cancelled,omitempty"`
	}{r.Status, r.Code, r.Deployment, r.Model, nil, nil, r.Truncated, r.Cancelled}
	if r.Usage.Known {
		out.Usage = &r.Usage
		if r.Cost != Unknown {
			out.Cost = &r.Cost
		}
	}
	return json.Marshal(out)
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
