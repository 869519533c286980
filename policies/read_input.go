package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gatewright/wasm/abi"
)

// inputDocument is the JSON form of an input as a person writes it: what is left
// out is empty, or not known. Facets follow from the candidates.
type inputDocument struct {
	V          int                 `json:"v"`
	Request    requestDocument     `json:"request"`
	Caller     callerDocument      `json:"caller"`
	Candidates []candidateDocument `json:"candidates"`
	Facets     json.RawMessage     `json:"facets"`
}

type requestDocument struct {
	ID, Org, Team, Key, Endpoint, Model, Session string

	Tags, Headers, Metadata map[string]string

	Stream, Tools, Vision, Audio, Reasoning bool

	JSONSchema    bool    `json:"json_schema"`
	Text          *string `json:"text"`
	InputTokens   int64   `json:"input_tokens"`
	MaxOutput     int64   `json:"max_output_tokens"`
	AttemptBudget *int64  `json:"attempt_budget"`
	NowUnixMS     int64   `json:"now_unix_ms"`
	Seed          uint64  `json:"seed"`

	// These follow from now_unix_ms.
	Hour, Weekday, Month, Day *int64
}

type callerDocument struct {
	BudgetLeft *int64 `json:"budget_left_nusd"`
	RPMLeft    *int64 `json:"rpm_left"`
	TPMLeft    *int64 `json:"tpm_left"`
}

type candidateDocument struct {
	ID, Provider, Model, Region, Circuit string

	UpstreamModel string            `json:"upstream_model"`
	SupplyTier    string            `json:"supply_tier"`
	Tags          map[string]string `json:"tags"`

	Tier, Priority, Weight, Samples int64

	InFlight     int64  `json:"in_flight"`
	ContextLimit *int64 `json:"context_limit"`
	MaxOutput    *int64 `json:"max_output"`
	PriceIn      *int64 `json:"price_in"`
	PriceOut     *int64 `json:"price_out"`
	Price        *int64 `json:"price"` // follows from the two, unless it was rounded otherwise
	EstCost      *int64 `json:"est_cost_nusd"`
	TTFT         *int64 `json:"ttft_ms"`
	P50          *int64 `json:"latency_p50_ms"`
	P95          *int64 `json:"latency_p95_ms"`
	Throughput   *int64 `json:"throughput_tps_milli"`
	Success      *int64 `json:"success_ppm"`
	QuotaLeft    *int64 `json:"quota_left_ppm"`
	QuotaReset   *int64 `json:"quota_reset_unix_ms"`
	LastSuccess  *int64 `json:"last_success_unix_ms"`

	Affinity, Preferred, Locked bool

	Skipped *struct {
		Reason string `json:"reason"`
		Until  *int64 `json:"until_unix_ms"`
	} `json:"skipped"`
}

// readInput reads an input in the contract's JSON form.
func readInput(text []byte) (*input, error) {
	var doc inputDocument
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	if doc.V != 0 && doc.V != 1 {
		return nil, fmt.Errorf("v is %d; this gateway has version 1 of the contract", doc.V)
	}
	in := &input{}
	if err := doc.Request.checkClock(); err != nil {
		return nil, err
	}
	doc.Request.fill(&in.Input)
	doc.Caller.fill(&in.Input)
	for i := range doc.Candidates {
		c, err := doc.Candidates[i].candidate()
		if err != nil {
			return nil, fmt.Errorf("candidates[%d]: %w", i, err)
		}
		in.Records = append(in.Records, c)
	}
	return in, checkInput(&in.Input)
}

// checkClock refuses parts of the time that are not those of now_unix_ms: they
// would be given to the policy otherwise than they were written.
func (r *requestDocument) checkClock() error {
	now := time.UnixMilli(r.NowUnixMS).UTC()
	for _, p := range [...]struct {
		name  string
		given *int64
		is    int
	}{
		{"hour", r.Hour, now.Hour()},
		{"weekday", r.Weekday, int(now.Weekday())},
		{"month", r.Month, int(now.Month())},
		{"day", r.Day, now.Day()},
	} {
		if p.given != nil && *p.given != int64(p.is) {
			return fmt.Errorf("request.%s is %d, and by now_unix_ms it is %d (UTC); write the now_unix_ms that you mean", p.name, *p.given, p.is)
		}
	}
	return nil
}

func (r *requestDocument) fill(in *abi.Input) {
	in.ID, in.Org, in.Team, in.Key, in.Endpoint, in.Model, in.Session = r.ID, r.Org, r.Team, r.Key, r.Endpoint, r.Model, r.Session
	in.Tags, in.Headers, in.Metadata = abi.Tags(r.Tags), abi.Tags(r.Headers), abi.Tags(r.Metadata)
	for _, f := range [...]struct {
		is   bool
		flag abi.Flags
	}{
		{r.Stream, abi.Stream},
		{r.Tools, abi.Tools},
		{r.Vision, abi.Vision},
		{r.Audio, abi.Audio},
		{r.JSONSchema, abi.JSONSchema},
		{r.Reasoning, abi.Reasoning},
	} {
		if f.is {
			in.Flags |= f.flag
		}
	}
	if r.Text != nil {
		in.Text, in.Granted = *r.Text, true
	}
	in.InputTokens, in.MaxOutputTokens = abi.Count(r.InputTokens), abi.Count(r.MaxOutput)
	in.AttemptBudget = abi.Count(orElse(r.AttemptBudget, 1))
	in.NowUnixMS, in.Seed = r.NowUnixMS, r.Seed
}

func (c *callerDocument) fill(in *abi.Input) {
	in.BudgetLeft = orElse(c.BudgetLeft, abi.NoLimit)
	in.RPMLeft, in.TPMLeft = countOrNone(c.RPMLeft), countOrNone(c.TPMLeft)
}

// orElse is a number, or another where it is not given.
func orElse(v *int64, other int64) int64 {
	if v == nil {
		return other
	}
	return *v
}

// countOrNone is a count, or what stands for one that is not known or has no
// limit: in the contract they are the same number.
func countOrNone(v *int64) uint32 {
	if v == nil || *v >= int64(abi.NoLimitCount) {
		return abi.NoLimitCount
	}
	return abi.Count(*v)
}

func (c *candidateDocument) candidate() (abi.Candidate, error) {
	out := abi.Candidate{
		ID: c.ID, Provider: c.Provider, Model: c.Model, UpstreamModel: c.UpstreamModel, Region: c.Region, SupplyTier: c.SupplyTier,
		Tags: abi.Tags(c.Tags), SkippedUntil: abi.Unknown,
		Tier: abi.Count(c.Tier), Priority: abi.Count(c.Priority), Weight: abi.Count(c.Weight),
		InFlight: abi.Count(c.InFlight), Samples: abi.Count(c.Samples),
		ContextLimit: countOrNone(c.ContextLimit), MaxOutput: countOrNone(c.MaxOutput),
		PriceIn: orElse(c.PriceIn, abi.Unknown), PriceOut: orElse(c.PriceOut, abi.Unknown), EstCost: orElse(c.EstCost, abi.Unknown),
		TTFT: orElse(c.TTFT, abi.Unknown), LatencyP50: orElse(c.P50, abi.Unknown), LatencyP95: orElse(c.P95, abi.Unknown),
		Throughput: orElse(c.Throughput, abi.Unknown), Success: orElse(c.Success, abi.Unknown), QuotaLeft: orElse(c.QuotaLeft, abi.Unknown),
		QuotaReset: orElse(c.QuotaReset, abi.Unknown), LastSuccess: orElse(c.LastSuccess, abi.Unknown),
	}
	if c.Price != nil && (c.PriceIn == nil || c.PriceOut == nil) {
		return out, errors.New("price follows from price_in and price_out; write those")
	}
	out.Price = orElse(c.Price, abi.Blended(out.PriceIn, out.PriceOut))
	switch i := slices.Index(abi.CircuitNames[:], c.Circuit); {
	case i >= 0:
		out.Circuit = abi.Circuit(i) //nolint:gosec // a handful
	case c.Circuit != "":
		return out, fmt.Errorf("circuit %q: want one of %s", c.Circuit, strings.Join(abi.CircuitNames[:], ", "))
	}
	for _, f := range [...]struct {
		is   bool
		flag abi.Flags
	}{{c.Affinity, abi.Affinity}, {c.Preferred, abi.Preferred}, {c.Locked, abi.Locked}} {
		if f.is {
			out.Flags |= f.flag
		}
	}
	if s := c.Skipped; s != nil {
		out.Skipped, out.SkippedUntil = abi.SkipOf(s.Reason), orElse(s.Until, abi.Unknown)
	}
	return out, nil
}
