package engine

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// orderer orders one admitted pool. pool holds every candidate, order the
// indexes of the admitted ones; all scratch space is kept for the next request.
type orderer struct {
	pool     []Candidate
	order    []int
	draw     []float64   // per pool index
	values   [][]float64 // per used key, per pool index; nil = the key is skipped
	missing  [][]bool    // per used key: value was missing and the key puts it last
	rank     []int       // scratch of the law
	known    []float64   // scratch of the median
	faults   []KeyFault
	strategy *Strategy
}

// KeyFault is a sort key that failed in one request.
type KeyFault struct {
	Key string
	Err error
}

// run orders the admitted candidates: preferred parts, priority tiers, the
// strategy's keys band by band, the weighted draw, then affinity in front.
func (o *orderer) run(ctx context.Context, r *Request, s *Strategy) {
	o.strategy = s
	o.faults = o.faults[:0]
	o.computeDraw(r, s)
	o.computeValues(ctx, r, s)
	slices.SortFunc(o.order, o.byDraw)
	o.split(func(c *Candidate) int { return boolRank(c.Preferred) }, func(lo, hi int) {
		if s.lists(KeyPriority) {
			o.band(lo, hi, 0)
			return
		}
		o.splitRange(lo, hi, func(c *Candidate) int { return -c.Priority }, func(lo, hi int) { o.band(lo, hi, 0) })
	})
	if !s.lists(KeyAffinity) {
		o.affinityFirst()
	}
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func (o *orderer) byDraw(a, b int) int {
	if c := cmp.Compare(o.draw[a], o.draw[b]); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func (o *orderer) computeDraw(r *Request, s *Strategy) {
	o.draw = slices.Grow(o.draw[:0], len(o.pool))[:len(o.pool)]
	for i := range o.pool {
		w := o.pool[i].Weight
		if s.EqualWeights {
			w = 1
		}
		o.draw[i] = drawValue(r.Seed, o.pool[i].hash, w)
	}
}

// split orders all of o.order by rank (stable) and calls each on every run of
// equal rank.
func (o *orderer) split(rank func(*Candidate) int, each func(lo, hi int)) {
	o.splitRange(0, len(o.order), rank, each)
}

func (o *orderer) splitRange(lo, hi int, rank func(*Candidate) int, each func(lo, hi int)) {
	part := o.order[lo:hi]
	slices.SortStableFunc(part, func(a, b int) int { return cmp.Compare(rank(&o.pool[a]), rank(&o.pool[b])) })
	for start := 0; start < len(part); {
		end := start + 1
		for end < len(part) && rank(&o.pool[part[end]]) == rank(&o.pool[part[start]]) {
			end++
		}
		each(lo+start, lo+end)
		start = end
	}
}

// band orders o.order[lo:hi] by the key at index k and what follows it. The
// range comes in draw order, which is what is left when no key decides.
func (o *orderer) band(lo, hi, k int) {
	for k < len(o.strategy.Keys) && o.values[k] == nil {
		k++
	}
	if hi-lo < 2 || k == len(o.strategy.Keys) {
		return
	}
	use := &o.strategy.Keys[k]
	spec := use.Key.Spec()
	values, missing := o.values[k], o.missing[k]
	// Three parts: values, missing values that go last, values beyond max.
	class := func(i int) int {
		switch {
		case missing != nil && missing[i]:
			return 1
		case use.Max != nil && worse(values[i], *use.Max, spec.HighFirst):
			return 2
		}
		return 0
	}
	part := o.order[lo:hi]
	slices.SortStableFunc(part, func(a, b int) int {
		ca, cb := class(a), class(b)
		if ca != cb || ca != 0 {
			return cmp.Compare(ca, cb)
		}
		return compareGood(values[a], values[b], spec.HighFirst)
	})
	ranked := 0
	for ranked < len(part) && class(part[ranked]) == 0 {
		ranked++
	}
	for start := 0; start < ranked; {
		end := start + 1
		head := values[part[start]]
		for end < ranked && within(values[part[end]], head, use.Tolerance, spec.Integer) {
			end++
		}
		o.inDraw(lo+start, lo+end, k+1)
		start = end
	}
	last := ranked
	for last < len(part) && class(part[last]) == 1 {
		last++
	}
	o.baseOrder(lo+ranked, lo+last)
	o.inDraw(lo+last, hi, k+1)
}

// inDraw puts the range back in draw order and lets the next key order it.
func (o *orderer) inDraw(lo, hi, k int) {
	slices.SortFunc(o.order[lo:hi], o.byDraw)
	o.band(lo, hi, k)
}

// baseOrder is the order that holds without the strategy: priority, then draw.
func (o *orderer) baseOrder(lo, hi int) {
	slices.SortFunc(o.order[lo:hi], func(a, b int) int {
		if c := cmp.Compare(o.pool[b].Priority, o.pool[a].Priority); c != 0 {
			return c
		}
		return o.byDraw(a, b)
	})
}

func (o *orderer) affinityFirst() {
	for i, c := range o.order {
		if o.pool[c].Affinity && !o.pool[c].CircuitBroken() {
			copy(o.order[1:i+1], o.order[:i])
			o.order[0] = c
			return
		}
	}
}

// computeValues asks every key of the strategy once for the whole pool.
func (o *orderer) computeValues(ctx context.Context, r *Request, s *Strategy) {
	n := len(s.Keys)
	o.values = slices.Grow(o.values[:0], n)[:n]
	o.missing = slices.Grow(o.missing[:0], n)[:n]
	for k := range s.Keys {
		use := &s.Keys[k]
		out := make([]float64, len(o.pool))
		o.missing[k] = nil
		if err := use.Key.Values(ctx, r, o.pool, out); err != nil {
			o.faults = append(o.faults, KeyFault{Key: use.Key.Name(), Err: err})
			o.values[k] = nil
			continue
		}
		o.values[k] = o.settle(k, use, out)
	}
}

// settle replaces missing values and applies enough; nil when the pool has no
// value at all.
func (o *orderer) settle(k int, use *KeyUse, values []float64) []float64 {
	spec := use.Key.Spec()
	o.known = o.known[:0]
	for _, i := range o.order {
		if !math.IsNaN(values[i]) {
			o.known = append(o.known, values[i])
		}
	}
	if len(o.known) == 0 {
		return nil
	}
	if len(o.known) < len(o.order) {
		fill := median(o.known)
		for _, i := range o.order {
			if !math.IsNaN(values[i]) {
				continue
			}
			if spec.Missing == MissingLast {
				if o.missing[k] == nil {
					o.missing[k] = make([]bool, len(o.pool))
				}
				o.missing[k][i] = true
				continue
			}
			values[i] = fill
		}
	}
	if use.Enough != nil {
		for i, v := range values {
			if !worse(v, *use.Enough, spec.HighFirst) {
				values[i] = *use.Enough
			}
		}
	}
	return values
}

// median sorts v and returns its median, of an even count the mean of the
// middle two.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return v[n/2-1] + (v[n/2]-v[n/2-1])/2
}

// compareGood orders the better value first.
func compareGood(a, b float64, highFirst bool) int {
	if highFirst {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// worse reports whether v is worse than limit. NaN is not.
func worse(v, limit float64, highFirst bool) bool {
	if highFirst {
		return v < limit
	}
	return v > limit
}

// within reports whether v is in the band that head leads. Integer values
// compare exactly; others allow 1e-9 of the head's size, at least 1e-9.
func within(v, head float64, t Tolerance, integer bool) bool {
	if v == head {
		return true
	}
	distance := math.Abs(v - head)
	if integer && isWhole(v) && isWhole(head) {
		if t.RelativePPM > 0 {
			return mulLessEq(uint64(distance), ppm, uint64(math.Abs(head)), uint64(t.RelativePPM))
		}
		return distance <= t.Absolute
	}
	limit := t.Absolute
	if t.RelativePPM > 0 {
		limit = float64(t.RelativePPM) / ppm * math.Abs(head)
	}
	const slack = 1e-9
	return distance <= limit+slack*max(1, math.Abs(head))
}

// isWhole reports whether v is a whole number that float64 holds exactly.
func isWhole(v float64) bool {
	const exact = 1 << 53
	return math.Abs(v) <= exact && v == math.Trunc(v)
}

// mulLessEq reports a×b ≤ c×d without overflow.
func mulLessEq(a, b, c, d uint64) bool {
	ah, al := bits.Mul64(a, b)
	ch, cl := bits.Mul64(c, d)
	return ah < ch || (ah == ch && al <= cl)
}

// value is what the decision shows of key k and candidate i: NaN when the key
// was skipped or the value is missing and goes last.
func (o *orderer) value(k, i int) float64 {
	if o.values[k] == nil || (o.missing[k] != nil && o.missing[k][i]) {
		return math.NaN()
	}
	return o.values[k][i]
}
