package engine

import "context"

// SortKey is one ordering rule: it gives each candidate a value and nothing
// else, so it can neither add nor remove. One value serves many requests in
// parallel; it must not keep the slices that it is given.
type SortKey interface {
	// Name is the key's name in the configuration ("price", "latency", …).
	Name() string
	// Spec says how the values are compared.
	Spec() KeySpec
	// Values writes one value per candidate into out (same length as pool).
	// NaN means that the value is missing. An error or an infinite value is a
	// fault of the rule: the key is skipped and the decision says so.
	Values(ctx context.Context, r *Request, pool []Candidate, out []float64) error
}

// KeySpec says how a key's values are compared.
type KeySpec struct {
	HighFirst bool      // high values are good
	Integer   bool      // whole numbers below 2^53 compare exactly, and the median is rounded down to one
	Missing   Missing   // what a missing value means
	Tolerance Tolerance // when a use of the key names none
}

// Missing says what happens to a candidate without a value.
type Missing uint8

// MissingMedian takes the median of the pool's known values; MissingLast puts
// the candidate after all that have a value, in base order.
const (
	MissingMedian Missing = iota
	MissingLast
)

// Tolerance is how far a value may lie from its band's head and still be in
// the band. At most one of the two is set.
type Tolerance struct {
	RelativePPM int64   // of the head's size
	Absolute    float64 // in the key's unit
}

// KeyUse is one sort key as a strategy uses it. Tolerance, Enough and Max are
// in the key's unit (see the key's documentation).
type KeyUse struct {
	Key       SortKey
	Tolerance Tolerance
	Enough    *float64 // values at least this good count as equal: a band of their own
	Max       *float64 // worse values form a last band, tried after all others
}

// Use returns the key with its own default tolerance.
func Use(k SortKey) KeyUse { return KeyUse{Key: k, Tolerance: k.Spec().Tolerance} }

// The names of keys that move a step of the base order into a strategy.
const (
	KeyPriority = "priority"
	KeyAffinity = "affinity"
)

// Strategy is a named list of sort keys. It is data; what it lists is applied
// in order, then the weighted draw decides.
type Strategy struct {
	Name         string
	Keys         []KeyUse
	EqualWeights bool // the draw ignores weights (0 still stays out)
}

// lists reports whether the strategy places the named key itself.
func (s *Strategy) lists(name string) bool {
	for i := range s.Keys {
		if s.Keys[i].Key.Name() == name {
			return true
		}
	}
	return false
}
