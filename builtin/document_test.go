package builtin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"gatewright/engine"
)

// input is what a rule is given, in the names of the document that policies
// read. A case leaves out what its rule does not look at: text is then empty, a
// candidate's weight 1 and its other numbers not known.
type input struct {
	V          int              `json:"v"`
	Request    inputRequest     `json:"request"`
	Candidates []inputCandidate `json:"candidates"`
}

type inputRequest struct {
	Key             string `json:"key"`
	Endpoint        string `json:"endpoint"`
	Model           string `json:"model"`
	Stream          bool   `json:"stream"`
	Tools           bool   `json:"tools"`
	Vision          bool   `json:"vision"`
	Audio           bool   `json:"audio"`
	JSONSchema      bool   `json:"json_schema"`
	Reasoning       bool   `json:"reasoning"`
	InputTokens     int64  `json:"input_tokens"`
	MaxOutputTokens int64  `json:"max_output_tokens"`
	Session         string `json:"session"`
	NowUnixMS       int64  `json:"now_unix_ms"`
}

type inputCandidate struct {
	ID                string        `json:"id"`
	Provider          string        `json:"provider"`
	Model             string        `json:"model"`
	UpstreamModel     string        `json:"upstream_model"`
	SupplyTier        string        `json:"supply_tier"`
	Region            string        `json:"region"`
	Priority          int           `json:"priority"`
	Weight            *int          `json:"weight"`
	ContextLimit      int64         `json:"context_limit"`
	MaxOutput         int64         `json:"max_output"`
	PriceIn           *int64        `json:"price_in"`
	PriceOut          *int64        `json:"price_out"`
	Price             *int64        `json:"price"`
	EstCostNUSD       *int64        `json:"est_cost_nusd"`
	TTFTMS            *int64        `json:"ttft_ms"`
	ThroughputMilli   *int64        `json:"throughput_tps_milli"`
	SuccessPPM        *int64        `json:"success_ppm"`
	InFlight          int64         `json:"in_flight"`
	QuotaLeftPPM      *int64        `json:"quota_left_ppm"`
	QuotaResetUnixMS  *int64        `json:"quota_reset_unix_ms"`
	Circuit           string        `json:"circuit"`
	Affinity          bool          `json:"affinity"`
	Preferred         bool          `json:"preferred"`
	Locked            bool          `json:"locked"`
	LastSuccessUnixMS *int64        `json:"last_success_unix_ms"`
	Skipped           *inputSkipped `json:"skipped"`
}

type inputSkipped struct {
	Reason      engine.Reason `json:"reason"`
	UntilUnixMS *int64        `json:"until_unix_ms"`
}

// facts is what built-in rules read beyond that document: what configuration
// says of callers, providers and candidates, and single quota windows.
type facts struct {
	Request struct {
		Needs       []string `json:"needs"`
		MaxTTFTMS   int64    `json:"max_ttft_ms"`
		MaxCostNUSD int64    `json:"max_cost_nusd"`
	} `json:"request"`
	Caller struct {
		AllowedModels    []string `json:"allowed_models"`
		AllowedProviders []string `json:"allowed_providers"`
		SupplyTiers      []string `json:"supply_tiers"`
		MaxTTFTMS        int64    `json:"max_ttft_ms"`
		MaxCostNUSD      int64    `json:"max_cost_nusd"`
	} `json:"caller"`
	Providers  map[string]providerFacts  `json:"providers"`
	Candidates map[string]candidateFacts `json:"candidates"`
}

type providerFacts struct {
	Disabled     bool `json:"disabled"`
	NoCredential bool `json:"no_credential"`
}

type candidateFacts struct {
	Disabled            bool        `json:"disabled"`
	Endpoints           []string    `json:"endpoints"` // absent = all
	Capabilities        []string    `json:"capabilities"`
	CapabilitiesKnown   []string    `json:"capabilities_known"`
	CooldownUntilUnixMS *int64      `json:"cooldown_until_unix_ms"`
	TokensThisMinute    int64       `json:"tokens_this_minute"`
	LastOfSession       bool        `json:"last_of_session"`
	ProbeTaken          bool        `json:"probe_taken"`
	TTFTMicros          *int64      `json:"ttft_us"` // of which the document has the whole milliseconds
	Quota               *quotaFacts `json:"quota"`
	Sale                *saleFacts  `json:"sale"`
}

// saleFacts is a promotion, with the prices before it: the document has those that
// the caller pays.
type saleFacts struct {
	PriceIn       int64  `json:"price_in"`
	PriceOut      int64  `json:"price_out"`
	MultiplierPPM int64  `json:"multiplier_ppm"`
	FromUnixMS    *int64 `json:"from_unix_ms"`
	UntilUnixMS   *int64 `json:"until_unix_ms"`
}

type quotaFacts struct {
	TakenAtUnixMS int64 `json:"taken_at_unix_ms"`
	Windows       []struct {
		Name           string `json:"name"`
		PeriodMS       int64  `json:"period_ms"`
		LeftPPM        *int64 `json:"left_ppm"`
		ResetsAtUnixMS *int64 `json:"resets_at_unix_ms"`
	} `json:"windows"`
}

// decode reads a section; an unknown or misspelt field is an error.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("text after the document, at byte %d", d.InputOffset())
	}
	return nil
}

func number(v *int64) int64 {
	if v == nil {
		return engine.Unknown
	}
	return *v
}

func unixMS(v *int64) time.Time {
	if v == nil {
		return time.Time{}
	}
	return time.UnixMilli(*v).UTC()
}

func endpoint(name string) (engine.Endpoint, error) {
	for _, e := range []engine.Endpoint{engine.EndpointChat, engine.EndpointCompletions, engine.EndpointEmbeddings} {
		if e.String() == name {
			return e, nil
		}
	}
	if name == "" {
		return engine.EndpointChat, nil
	}
	return 0, fmt.Errorf("there is no endpoint %q", name)
}

func capabilities(names []string) (engine.Capabilities, error) {
	var set engine.Capabilities
	for _, n := range names {
		c, ok := engine.CapabilityByName(n)
		if !ok {
			return 0, fmt.Errorf("there is no capability %q", n)
		}
		set |= c
	}
	return set, nil
}

func circuit(name string) (engine.Circuit, error) {
	for _, c := range []engine.Circuit{engine.CircuitClosed, engine.CircuitHalfOpen, engine.CircuitOpen} {
		if c.String() == name || name == "" {
			return c, nil
		}
	}
	return 0, fmt.Errorf("there is no circuit state %q", name)
}

// quota builds the snapshot that a case describes: its windows, or one window
// from the two numbers of the document.
func quota(c *inputCandidate, f *candidateFacts, now time.Time) *engine.Quota {
	if f.Quota == nil {
		if c.QuotaLeftPPM == nil && c.QuotaResetUnixMS == nil {
			return nil
		}
		return &engine.Quota{TakenAt: now, Windows: []engine.QuotaWindow{
			{Name: "window", LeftPPM: number(c.QuotaLeftPPM), ResetsAt: unixMS(c.QuotaResetUnixMS)},
		}}
	}
	q := &engine.Quota{TakenAt: time.UnixMilli(f.Quota.TakenAtUnixMS)}
	for _, w := range f.Quota.Windows {
		q.Windows = append(q.Windows, engine.QuotaWindow{
			Name: w.Name, Period: time.Duration(w.PeriodMS) * time.Millisecond, LeftPPM: number(w.LeftPPM), ResetsAt: unixMS(w.ResetsAtUnixMS),
		})
	}
	return q
}
