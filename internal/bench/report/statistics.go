package report

import (
	"math"
	"slices"
)

// Summary is what several passes say of one figure.
type Summary struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Passes []float64 `json:"passes"` // in their order
}

// summarize returns the summary of values that are numbers; nil when there are
// none.
func summarize(values []float64) *Summary {
	kept := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(kept) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(kept))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return &Summary{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1], Passes: kept}
}

// ratios divides values by those of the yardstick in the same pass: what slows
// a pass slows both. A pass whose yardstick is not above zero has no ratio.
func ratios(values, yardstick []float64) []float64 {
	list := make([]float64, 0, len(values))
	for i := range min(len(values), len(yardstick)) {
		if yardstick[i] > 0 {
			list = append(list, values[i]/yardstick[i])
		}
	}
	return list
}
