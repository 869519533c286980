package builtin_test

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"gatewright/engine"
)

// reference orders a pool a second time, from the rules as they are documented
// rather than from the engine: slices of slices and exact fractions, no care
// for speed. draw is what the engine recorded of each candidate's draw.
type reference struct {
	strategy *engine.Strategy
	pool     []engine.Candidate // admitted
	values   [][]float64        // per key: settled values; nil = all missing
	missing  [][]bool           // per key: goes last
	draw     []float64
}

func newReference(s *engine.Strategy, r *engine.Request, admitted []engine.Candidate, draw map[string]float64) (*reference, error) {
	f := &reference{strategy: s, pool: admitted}
	for i := range admitted {
		f.draw = append(f.draw, draw[admitted[i].ID])
	}
	for _, use := range s.Keys {
		raw := make([]float64, len(admitted))
		if err := use.Key.Values(context.Background(), r, admitted, raw); err != nil {
			return nil, err
		}
		values, missing := settle(&use, raw)
		f.values, f.missing = append(f.values, values), append(f.missing, missing)
	}
	return f, nil
}

// settle fills missing values in.
func settle(use *engine.KeyUse, raw []float64) (values []float64, missing []bool) {
	var known []float64
	for _, v := range raw {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return nil, nil
	}
	slices.Sort(known)
	middle := (known[(len(known)-1)/2] + known[len(known)/2]) / 2
	if use.Key.Spec().Integer {
		middle = math.Floor(middle)
	}
	missing = make([]bool, len(raw))
	for i, v := range raw {
		if math.IsNaN(v) {
			raw[i], missing[i] = middle, use.Key.Spec().Missing == engine.MissingLast
		}
	}
	return raw, missing
}

func beyond(v, limit float64, use *engine.KeyUse) bool {
	if use.Key.Spec().HighFirst {
		return v < limit
	}
	return v > limit
}

// order returns the ids, best first.
func (f *reference) order() []string {
	all := make([]int, len(f.pool))
	for i := range all {
		all[i] = i
	}
	priority := func(i int) int { return -f.pool[i].Priority }
	if f.lists(engine.KeyPriority) {
		priority = func(int) int { return 0 }
	}
	var ordered []int
	for _, part := range groups(all, func(i int) int { return flagged(!f.pool[i].Preferred) }) {
		for _, tier := range groups(part, priority) {
			ordered = append(ordered, f.within(tier, 0)...)
		}
	}
	if !f.lists(engine.KeyAffinity) {
		target := slices.IndexFunc(ordered, func(i int) bool { return f.pool[i].Affinity && !f.pool[i].CircuitBroken() })
		if target >= 0 {
			i := ordered[target]
			ordered = slices.Insert(slices.Delete(ordered, target, target+1), 0, i)
		}
	}
	var ids []string
	for _, broken := range []bool{false, true} {
		for _, i := range ordered {
			if f.pool[i].CircuitBroken() == broken {
				ids = append(ids, f.pool[i].ID)
			}
		}
	}
	return ids
}

func (f *reference) lists(name string) bool {
	return slices.ContainsFunc(f.strategy.Keys, func(u engine.KeyUse) bool { return u.Key.Name() == name })
}

// within orders candidates by the key at index k, band by band.
func (f *reference) within(list []int, k int) []int {
	if k == len(f.strategy.Keys) {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(f.draw[a], f.draw[b]) })
		return list
	}
	if f.values[k] == nil {
		return f.within(list, k+1)
	}
	use, values := &f.strategy.Keys[k], f.values[k]
	var enough, good, unknown, bad []int
	for _, i := range list {
		switch {
		case f.missing[k][i]:
			unknown = append(unknown, i)
		case use.Max != nil && beyond(values[i], *use.Max, use):
			bad = append(bad, i)
		case use.Enough != nil && !beyond(values[i], *use.Enough, use):
			enough = append(enough, i)
		default:
			good = append(good, i)
		}
	}
	out := f.within(enough, k+1)
	for len(good) > 0 {
		head := slices.MinFunc(good, func(a, b int) int {
			if use.Key.Spec().HighFirst {
				a, b = b, a
			}
			return cmp.Compare(values[a], values[b])
		})
		var band, rest []int
		for _, i := range good {
			if tolerated(values[i], values[head], use) {
				band = append(band, i)
				continue
			}
			rest = append(rest, i)
		}
		out = append(out, f.within(band, k+1)...)
		good = rest
	}
	// Base order: priority, then the draw.
	for _, tier := range groups(unknown, func(i int) int { return -f.pool[i].Priority }) {
		out = append(out, f.within(tier, len(f.strategy.Keys))...)
	}
	return append(out, f.within(bad, k+1)...)
}

// tolerated reports whether v is in the band of head: exactly for whole
// numbers, with a rounding error allowed for others.
func tolerated(v, head float64, use *engine.KeyUse) bool {
	distance := new(big.Rat).SetFloat64(math.Abs(v - head))
	limit := new(big.Rat).SetFloat64(use.Tolerance.Absolute)
	if use.Tolerance.RelativePPM > 0 {
		limit.Mul(big.NewRat(use.Tolerance.RelativePPM, 1_000_000), new(big.Rat).SetFloat64(math.Abs(head)))
	}
	if v != math.Trunc(v) || head != math.Trunc(head) {
		limit.Add(limit, new(big.Rat).SetFloat64(1e-9*max(1, math.Abs(head))))
	}
	return distance.Cmp(limit) <= 0
}

// groups splits a list by rank, lowest first.
func groups(list []int, rank func(int) int) [][]int {
	byRank := map[int][]int{}
	var ranks []int
	for _, i := range list {
		if byRank[rank(i)] == nil {
			ranks = append(ranks, rank(i))
		}
		byRank[rank(i)] = append(byRank[rank(i)], i)
	}
	slices.Sort(ranks)
	var out [][]int
	for _, r := range ranks {
		out = append(out, byRank[r])
	}
	return out
}

func flagged(b bool) int {
	if b {
		return 1
	}
	return 0
}
