package abi

import (
	"slices"
	"strconv"
)

// facets writes the distinct values of the pool, sorted. A candidate without a
// value adds none, and one that was skipped is not in the pool.
func (w *writer) facets(in *Input, r *Reads) {
	w.open("facets", '{')
	whole := in.whole()
	for i, name := range FacetNames {
		switch {
		case !w.key(r.facets, i, name):
		case name == facetTier:
			w.tiers(in)
		case whole != nil:
			w.b = append(w.b, whole.facets[i]...)
		default:
			w.facet(in, name)
		}
	}
	if r.allTags {
		w.everyTag(in)
	} else {
		for _, tag := range r.tags {
			w.tag(in, tag)
		}
	}
	w.b = append(w.b, '}')
}

// facetTier is the facet that does not follow from the candidates alone.
const facetTier = "tier"

// whole returns the roster in use if none of its candidates was skipped, else nil.
func (in *Input) whole() *Roster {
	r := in.rosterInUse()
	if r == nil {
		return nil
	}
	for i := range in.Records {
		if in.Records[i].Skipped != 0 {
			return nil
		}
	}
	return r
}

// facet writes the values of a facet other than the tier and tags.
func (w *writer) facet(in *Input, name string) {
	in.values = in.values[:0]
	for i := range in.Records {
		c := &in.Records[i]
		if c.Skipped == 0 {
			in.values = collect(in.values, c.facet(name))
		}
	}
	w.list(in)
}

// facet is the value of a facet other than the tier and tags.
func (c *Candidate) facet(name string) string {
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
	}
	return c.ID
}

// collect adds a value unless it is empty or among the newest: of a small
// number of values it lets none in twice, and of many it leaves some for list.
func collect(values []string, v string) []string {
	const looked = 16
	if v == "" || slices.Contains(values[max(0, len(values)-looked):], v) {
		return values
	}
	return append(values, v)
}

// list writes the collected values.
func (w *writer) list(in *Input) {
	slices.Sort(in.values)
	in.values = slices.Compact(in.values)
	w.b = append(w.b, '[')
	for i, v := range in.values {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = appendString(w.b, v)
	}
	w.b = append(w.b, ']')
}

func (w *writer) tiers(in *Input) {
	in.known = in.known[:0]
	for i := range in.Records {
		if in.Records[i].Skipped == 0 {
			in.known = append(in.known, int64(in.Records[i].Tier))
		}
	}
	slices.Sort(in.known)
	in.known = slices.Compact(in.known)
	w.b = append(w.b, '[')
	for i, v := range in.known {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = strconv.AppendInt(w.b, v, 10)
	}
	w.b = append(w.b, ']')
}

// tag writes the values of one tag.
func (w *writer) tag(in *Input, key string) {
	in.values = in.values[:0]
	for i := range in.Records {
		c := &in.Records[i]
		if c.Skipped != 0 {
			continue
		}
		for _, t := range c.Tags[:min(len(c.Tags), MaxPairs)] {
			if t.Key == key {
				in.values = collect(in.values, t.Value)
			}
		}
	}
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, TagFacet...)
	w.b = appendEscaped(w.b, key)
	w.b = append(w.b, '"', ':')
	w.list(in)
}

// everyTag writes the values of all tags that the pool has.
func (w *writer) everyTag(in *Input) {
	keys := in.keys[:0]
	for i := range in.Records {
		c := &in.Records[i]
		if c.Skipped != 0 {
			continue
		}
		for _, t := range c.Tags[:min(len(c.Tags), MaxPairs)] {
			keys = collect(keys, t.Key)
		}
	}
	slices.Sort(keys)
	in.keys = slices.Compact(keys)
	for _, k := range in.keys {
		w.tag(in, k)
	}
}
