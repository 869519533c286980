package ordering

import (
	"math"

	"gatewright/engine"
)

// The tolerances that keys have unless a combo names another.
const (
	percent     = 10_000 // in ppm
	priceBand   = 2 * percent
	speedBand   = 20 * percent
	successBand = 1 * percent
	quotaBand   = 5 * percent
)

// known returns v, or NaN when nobody knows it.
func known(v int64) float64 {
	if v == engine.Unknown {
		return math.NaN()
	}
	return float64(v)
}

// counted returns a count that is never missing: what is not known is 0.
func counted(v int64) float64 { return float64(max(v, 0)) }

// flag returns 1 for yes.
func flag(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
