package engine

import (
	"cmp"
	"context"
	"errors"
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
	keys     []keyValues // per used key
	rank     []int       // scratch of the law
	known    []float64   // scratch of the median
	faults   []RuleFault
	trail    *Trail // of the request
	strategy *Strategy
	locked   bool // priority and weight are bypassed
}

// keyValues are what one key of the strategy said of the pool.
type keyValues struct {
	skipped bool      // a fault, or no value at all
	values  []float64 // per pool index; NaN = missing
	fill    float64   // what a missing value counts as, unless it goes last
}

// RuleFault is a check or a sort key that failed in one request.
type RuleFault struct {
	Rule string
	Err  error
}

// run orders the admitted candidates: preferred parts, priority tiers, the
// strategy's keys band by band, the weighted draw, then affinity in front.
func (o *orderer) run(ctx context.Context, r *Request, s *Strategy) {
	o.strategy = s
	o.locked = len(o.pool) > 0 && o.pool[0].Locked
	o.faults = o.faults[:0]
	o.computeDraw(r, s)
	o.computeValues(ctx, r, s)
	slices.SortFunc(o.order, o.byDraw)
	o.split(func(c *Candidate) int { return boolRank(c.Preferred) }, func(lo, hi int) {
		if o.locked || s.lists(KeyPriority) {
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
		if s.EqualWeights || o.locked {
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

// The parts that one key cuts a range into, in the order they are tried.
const (
	partEnough  = iota // good enough: one band
	partRanked         // cut into bands
	partMissing        // no value, and the key puts that last: one band, base order
	partBeyond         // worse than max: one band
)

// part says where the key at index k puts a candidate.
func (o *orderer) part(k, i int) int {
	use, v := &o.strategy.Keys[k], o.counted(k, i)
	high := use.Key.Spec().HighFirst
	switch {
	case math.IsNaN(v):
		return partMissing
	case use.Max != nil && worse(v, *use.Max, high):
		return partBeyond
	case use.Enough != nil && !worse(v, *use.Enough, high):
		return partEnough
	}
	return partRanked
}

// counted is the value that the key at index k counts for a candidate: what it
// said, or the median where that is missing; NaN = goes last.
func (o *orderer) counted(k, i int) float64 {
	v := o.keys[k].values[i]
	if math.IsNaN(v) && o.strategy.Keys[k].Key.Spec().Missing == MissingMedian {
		return o.keys[k].fill
	}
	return v
}

// band orders o.order[lo:hi] by the key at index k and what follows it. The
// range comes in draw order, which is what is left when no key decides.
func (o *orderer) band(lo, hi, k int) {
	for k < len(o.strategy.Keys) && o.keys[k].skipped {
		k++
	}
	if hi-lo < 2 || k == len(o.strategy.Keys) {
		return
	}
	use := &o.strategy.Keys[k]
	spec := use.Key.Spec()
	list := o.order[lo:hi]
	slices.SortStableFunc(list, func(a, b int) int {
		pa, pb := o.part(k, a), o.part(k, b)
		if pa != pb || pa != partRanked {
			return cmp.Compare(pa, pb)
		}
		return compareGood(o.counted(k, a), o.counted(k, b), spec.HighFirst)
	})
	for start := 0; start < len(list); {
		part, head := o.part(k, list[start]), o.counted(k, list[start])
		end := start + 1
		for end < len(list) && o.part(k, list[end]) == part &&
			(part != partRanked || within(o.counted(k, list[end]), head, use.Tolerance, spec.Integer)) {
			end++
		}
		if part == partMissing {
			o.baseOrder(lo+start, lo+end)
		} else {
			o.inDraw(lo+start, lo+end, k+1)
		}
		start = end
	}
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
	o.keys = slices.Grow(o.keys[:0], n)[:n]
	for k := range s.Keys {
		key, kept := s.Keys[k].Key, &o.keys[k]
		kept.values = slices.Grow(kept.values[:0], len(o.pool))[:len(o.pool)]
		clear(kept.values)
		err := o.ask(ctx, r, key, kept.values)
		if err == nil {
			err = o.settle(kept, key.Spec().Integer)
		}
		if kept.skipped = err != nil || len(o.known) == 0; err != nil {
			o.faults = append(o.faults, RuleFault{Rule: key.Name(), Err: err})
		}
	}
}

// ask lets a key write its values.
func (o *orderer) ask(ctx context.Context, r *Request, key SortKey, out []float64) error {
	if p, ok := key.(PolicyKey); ok {
		return p.Rank(ctx, r, o.pool, out, o.trail)
	}
	return key.Values(ctx, r, o.pool, out)
}

// errInfinite is a sort key that gave a value without a bound.
var errInfinite = errors.New("returned an infinite value")

// settle finds what a missing value of an admitted candidate counts as, of whole
// numbers rounded down to one. It leaves the known values in o.known.
func (o *orderer) settle(kept *keyValues, whole bool) error {
	o.known = o.known[:0]
	for _, i := range o.order {
		switch v := kept.values[i]; {
		case math.IsInf(v, 0):
			return errInfinite
		case !math.IsNaN(v):
			o.known = append(o.known, v)
		}
	}
	if len(o.known) > 0 {
		kept.fill = median(o.known)
		if whole {
			kept.fill = math.Floor(kept.fill)
		}
	}
	return nil
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

// within reports whether v is in the band that head leads. Whole numbers of a key
// that has them compare exactly; others allow 1e-9 of the head's size, at least
// 1e-9.
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
// was skipped or the value is missing.
func (o *orderer) value(k, i int) float64 {
	if o.keys[k].skipped {
		return math.NaN()
	}
	return o.keys[k].values[i]
}
