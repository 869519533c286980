package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// applyDecision removes the candidates that a decision about facets is against.
// Those that are removed already stay so.
func applyDecision(d *rego.Decision, in *input, out *verdict) error {
	if d.Refuse != nil {
		out.refuse(d.Refuse)
		return nil
	}
	f := &out.filter
	f.of(d, in.lineup)
	for i := range in.Records {
		c := &in.Records[i]
		if c.Skipped != 0 {
			continue
		}
		reason, err := f.against(i, c)
		if err != nil {
			return err
		}
		if reason != "" {
			out.removals = append(out.removals, removal{index: i, reason: reason})
		}
	}
	return nil
}

// filter is a decision made ready for the candidates of one pool. It may be used
// again.
type filter struct {
	decision   *rego.Decision
	only, deny []sieve // of its entries
	marks      []bool
}

// sieve is one entry of a decision. What it says of a value is found once, where
// the pool's values are known beforehand.
type sieve struct {
	facet  facet
	column *column // nil = each candidate is looked at
	marks  int     // where those of the column's values begin
}

// of makes it the filter of a decision, which nobody may write while it is used.
// l is that of the pool; nil = there is none.
func (f *filter) of(d *rego.Decision, l *lineup) {
	f.decision, f.only, f.deny, f.marks = d, f.only[:0], f.deny[:0], f.marks[:0]
	for i := range d.Only {
		s := f.sieve(d.Only[i].Facet, l)
		f.only = append(f.only, s)
		for _, v := range s.values() {
			f.marks = append(f.marks, keeps(&d.Only[i], v))
		}
	}
	for i := range d.Deny {
		s := f.sieve(d.Deny[i].Facet, l)
		f.deny = append(f.deny, s)
		for _, v := range s.values() {
			f.marks = append(f.marks, denies(&d.Deny[i], v))
		}
	}
}

// sieve makes that of an entry, whose marks are what comes next.
func (f *filter) sieve(name string, l *lineup) sieve {
	facet := facetOf(name)
	return sieve{facet: facet, column: l.column(facet.kind), marks: len(f.marks)}
}

// values are those that are known beforehand.
func (s *sieve) values() []string {
	if s.column == nil {
		return nil
	}
	return s.column.values
}

// mark is what was found for the candidate at index i.
func (f *filter) mark(s *sieve, i int) bool { return f.marks[s.marks+int(s.column.of[i])] }

func keeps(o *rego.Only, v string) bool { return v != "" && oneOf(o.Values, v) }

func denies(x *rego.Deny, v string) bool { return v != "" && v == x.Value }

// against is the reason why the decision removes the candidate at index i; "" = it
// does not.
func (f *filter) against(i int, c *abi.Candidate) (reason string, err error) {
	d := f.decision
	for k := range f.only {
		s := &f.only[k]
		if s.column != nil && !f.mark(s, i) || s.column == nil && !keeps(&d.Only[k], s.facet.value(c)) {
			return d.Only[k].Reason, nil
		}
	}
	for k := range f.deny {
		s := &f.deny[k]
		if s.column != nil && f.mark(s, i) || s.column == nil && denies(&d.Deny[k], s.facet.value(c)) {
			return d.Deny[k].Reason, nil
		}
	}
	for k := range d.Limits {
		l := &d.Limits[k]
		beyond, err := beyond(l, c)
		if err != nil {
			return "", err
		}
		if beyond {
			return l.Reason, nil
		}
	}
	return "", nil
}

// oneOf reports whether v is among values, which are sorted.
func oneOf(values []string, v string) bool {
	const few = 8 // comparing for equality alone is faster
	if len(values) <= few {
		return slices.Contains(values, v)
	}
	_, found := slices.BinarySearch(values, v)
	return found
}

// tagFacet begins the name of a facet that is a tag.
const tagFacet = abi.TagFacet

// facet is where a candidate has a value from.
type facet struct {
	kind facetKind
	tag  string // of ofTag
}

type facetKind uint8

const (
	ofProvider facetKind = iota
	ofModel
	ofUpstreamModel
	ofRegion
	ofSupplyTier
	columns // those above have one in a lineup

	ofID
	ofTier
	ofTag
	ofNothing
)

// facetOf finds the facet of a name.
func facetOf(name string) facet {
	switch name {
	case "provider":
		return facet{kind: ofProvider}
	case "model":
		return facet{kind: ofModel}
	case "upstream_model":
		return facet{kind: ofUpstreamModel}
	case "region":
		return facet{kind: ofRegion}
	case "supply_tier":
		return facet{kind: ofSupplyTier}
	case "tier":
		return facet{kind: ofTier}
	case "id":
		return facet{kind: ofID}
	}
	if tag, ok := strings.CutPrefix(name, tagFacet); ok {
		return facet{kind: ofTag, tag: tag}
	}
	return facet{kind: ofNothing}
}

// value is what a candidate has; "" = nothing.
func (f *facet) value(c *abi.Candidate) string {
	switch f.kind {
	case ofProvider:
		return c.Provider
	case ofModel:
		return c.Model
	case ofUpstreamModel:
		return c.UpstreamModel
	case ofRegion:
		return c.Region
	case ofSupplyTier:
		return c.SupplyTier
	case ofTier:
		return tierText(c.Tier)
	case ofID:
		return c.ID
	case ofTag:
		for i := range c.Tags {
			if c.Tags[i].Key == f.tag {
				return c.Tags[i].Value
			}
		}
	case columns, ofNothing:
	}
	return ""
}

// column is what the candidates of a lineup have of one facet.
type column struct {
	values []string // each once
	of     []uint16 // by candidate: an index of values
}

func newColumn(kind facetKind, records []abi.Candidate) column {
	f := facet{kind: kind}
	c := column{of: make([]uint16, len(records))}
	places := map[string]int{}
	for i := range records {
		v := f.value(&records[i])
		place, ok := places[v]
		if !ok {
			place = len(c.values)
			places[v] = place
			c.values = append(c.values, v)
		}
		c.of[i] = uint16(place) //nolint:gosec // at most abi.MaxRecords
	}
	return c
}

// column returns that of a facet; nil = there is none, or no lineup.
func (l *lineup) column(kind facetKind) *column {
	if l == nil || kind >= columns {
		return nil
	}
	return &l.columns[kind]
}

// tierText is a tier as a decision names it.
func tierText(n uint32) string {
	if n < uint32(len(smallTiers)) {
		return smallTiers[n]
	}
	return strconv.FormatUint(uint64(n), 10)
}

var smallTiers = [...]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// beyond reports whether a candidate is beyond a limit. What nobody knows is not.
func beyond(l *rego.Limit, c *abi.Candidate) (bool, error) {
	switch l.Name {
	case "min_context":
		return c.ContextLimit != abi.UnknownCount && int64(c.ContextLimit) < l.Value, nil
	case "max_cost_nusd":
		return c.EstCost != abi.Unknown && c.EstCost > l.Value, nil
	case "min_success_ppm":
		return c.Success != abi.Unknown && c.Success < l.Value, nil
	case "min_quota_left_ppm":
		return c.QuotaLeft != abi.Unknown && c.QuotaLeft < l.Value, nil
	}
	return false, fmt.Errorf("there is no limit %q", l.Name)
}
