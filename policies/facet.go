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
	for i := range in.Records {
		c := &in.Records[i]
		if c.Skipped != 0 {
			continue
		}
		reason, err := against(d, c)
		if err != nil {
			return err
		}
		if reason != "" {
			out.removals = append(out.removals, removal{index: i, reason: reason})
		}
	}
	return nil
}

// against is the reason why a decision removes a candidate; "" = it does not.
func against(d *rego.Decision, c *abi.Candidate) (reason string, err error) {
	for i := range d.Only {
		o := &d.Only[i]
		if _, in := slices.BinarySearch(o.Values, facet(c, o.Facet)); !in || facet(c, o.Facet) == "" {
			return o.Reason, nil
		}
	}
	for i := range d.Deny {
		x := &d.Deny[i]
		if v := facet(c, x.Facet); v != "" && v == x.Value {
			return x.Reason, nil
		}
	}
	for i := range d.Limits {
		l := &d.Limits[i]
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

// tagFacet begins the name of a facet that is a tag.
const tagFacet = abi.TagFacet

// facet is the value of a candidate's facet; "" = it has none.
func facet(c *abi.Candidate, name string) string {
	switch name {
	case "provider":
		return c.Provider
	case "model":
		return c.Model
	case "upstream_model":
		return c.UpstreamModel
	case "region":
		return c.Region
	case "supply_tier":
		return c.SupplyTier
	case "tier":
		return tierText(c.Tier)
	case "id":
		return c.ID
	}
	if tag, ok := strings.CutPrefix(name, tagFacet); ok {
		for i := range c.Tags {
			if c.Tags[i].Key == tag {
				return c.Tags[i].Value
			}
		}
	}
	return ""
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
