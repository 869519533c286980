package rego

import "slices"

// Kind is the stage that a policy serves.
type Kind uint8

// The kinds of policies. A policy has one, by its package.
const (
	Admission Kind = iota + 1 // package gatewright.admission
	Ranking                   // package gatewright.ranking
)

func (k Kind) String() string {
	switch k {
	case Admission:
		return "admission"
	case Ranking:
		return "ranking"
	}
	return "unknown"
}

// Packages of policies, below data.
const (
	root             = "gatewright"
	admissionPackage = root + ".admission"
	rankingPackage   = root + ".ranking"
)

// sort of a value of the contract.
type sort uint8

const (
	sortText sort = iota
	sortInteger
	sortBool
	sortTextMap
	sortCircuit
	sortSkipped
)

// field is one field of the input.
type field struct {
	name     string
	sort     sort
	absent   bool // may be missing: nobody knows the value
	median   bool // a ranking is given the pool's median then, so it is there
	volatile bool // differs from request to request: no answer is kept for it
}

// The fields of the input. A test holds them equal to the contract's own tables,
// which this package may not import.
var (
	requestFields = []field{
		{name: "id", volatile: true},
		{name: "org"},
		{name: "team"},
		{name: "key"},
		{name: "tags", sort: sortTextMap},
		{name: "endpoint"},
		{name: "model"},
		{name: "stream", sort: sortBool},
		{name: "tools", sort: sortBool},
		{name: "vision", sort: sortBool},
		{name: "audio", sort: sortBool},
		{name: "json_schema", sort: sortBool},
		{name: "reasoning", sort: sortBool},
		{name: "input_tokens", sort: sortInteger, volatile: true},
		{name: "max_output_tokens", sort: sortInteger, volatile: true},
		{name: "session", volatile: true},
		{name: "attempt_budget", sort: sortInteger},
		{name: "headers", sort: sortTextMap},
		{name: "metadata", sort: sortTextMap},
		{name: "text", absent: true, volatile: true},
		{name: "hour", sort: sortInteger},
		{name: "weekday", sort: sortInteger},
		{name: "month", sort: sortInteger},
		{name: "day", sort: sortInteger},
		{name: "now_unix_ms", sort: sortInteger, volatile: true},
		{name: "seed", sort: sortInteger, volatile: true},
	}
	callerFields = []field{
		{name: "budget_left_nusd", sort: sortInteger, volatile: true},
		{name: "rpm_left", sort: sortInteger, volatile: true},
		{name: "tpm_left", sort: sortInteger, volatile: true},
	}
	candidateFields = []field{
		{name: "id"},
		{name: "provider"},
		{name: "model"},
		{name: "upstream_model"},
		{name: "supply_tier"},
		{name: "tier", sort: sortInteger},
		{name: "tags", sort: sortTextMap},
		{name: "region"},
		{name: "priority", sort: sortInteger},
		{name: "weight", sort: sortInteger},
		{name: "context_limit", sort: sortInteger, absent: true},
		{name: "max_output", sort: sortInteger, absent: true},
		{name: "price_in", sort: sortInteger, absent: true, median: true},
		{name: "price_out", sort: sortInteger, absent: true, median: true},
		{name: "price", sort: sortInteger, absent: true, median: true},
		{name: "est_cost_nusd", sort: sortInteger, absent: true, median: true},
		{name: "ttft_ms", sort: sortInteger, absent: true, median: true},
		{name: "latency_p50_ms", sort: sortInteger, absent: true, median: true},
		{name: "latency_p95_ms", sort: sortInteger, absent: true, median: true},
		{name: "throughput_tps_milli", sort: sortInteger, absent: true, median: true},
		{name: "success_ppm", sort: sortInteger, absent: true, median: true},
		{name: "samples", sort: sortInteger},
		{name: "in_flight", sort: sortInteger},
		{name: "quota_left_ppm", sort: sortInteger, absent: true, median: true},
		{name: "quota_reset_unix_ms", sort: sortInteger, absent: true},
		{name: "circuit", sort: sortCircuit},
		{name: "affinity", sort: sortBool},
		{name: "preferred", sort: sortBool},
		{name: "locked", sort: sortBool},
		{name: "last_success_unix_ms", sort: sortInteger, absent: true},
		{name: "skipped", sort: sortSkipped},
	}
)

// facetNames are the facets by name; each tag is besides the facet "tag.NAME".
var facetNames = []string{"provider", "model", "upstream_model", "region", "supply_tier", "tier", "id"}

const (
	tagFacet  = "tag."
	tierFacet = "tier" // the one facet that is a number
)

// circuits are the states of a circuit.
var circuits = []string{"closed", "half_open", "open"}

// limitNames are the limits of a decision.
var limitNames = []string{"min_context", "max_cost_nusd", "min_success_ppm", "min_quota_left_ppm"}

// isFacet reports whether there is a facet of this name.
func isFacet(name string) bool {
	return slices.Contains(facetNames, name) || (len(name) > len(tagFacet) && name[:len(tagFacet)] == tagFacet)
}

// schema is the JSON Schema of the input for OPA's own type checker, which reads
// a part of the language only: what it cannot say (facets of tags, absent
// fields) the analysis of this package knows.
func schema() map[string]any {
	list := func(items any) map[string]any { return map[string]any{"type": "array", "items": items} }
	return closed(map[string]any{
		"v":          map[string]any{"type": "integer"},
		"request":    object(requestFields),
		"caller":     object(callerFields),
		"candidates": list(object(candidateFields)),
		"facets":     map[string]any{"type": "object"}, // any keys: tags are among them
	})
}

func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func object(fields []field) map[string]any {
	text := map[string]any{"type": "string"}
	properties := map[string]any{}
	for _, f := range fields {
		switch f.sort {
		case sortText, sortCircuit:
			properties[f.name] = text
		case sortInteger:
			properties[f.name] = map[string]any{"type": "integer"}
		case sortBool:
			properties[f.name] = map[string]any{"type": "boolean"}
		case sortTextMap:
			properties[f.name] = map[string]any{"type": "object", "additionalProperties": text}
		case sortSkipped:
			skipped := closed(map[string]any{"reason": text, "until_unix_ms": map[string]any{"type": "integer"}})
			properties[f.name] = map[string]any{"anyOf": []any{map[string]any{"type": "null"}, skipped}}
		}
	}
	return closed(properties)
}
