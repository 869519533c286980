package health

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCellsAreTight(t *testing.T) {
	for i, b := range bounds {
		if cell(b) != i+1 || cell(b-1) != i {
			t.Fatalf("bound %d = %d: cells %d and %d, want %d and %d", i, b, cell(b), cell(b-1), i+1, i)
		}
		if i > 0 && float64(b)/float64(bounds[i-1]) > 1.1 {
			t.Fatalf("bounds %d and %d are more than a tenth apart", bounds[i-1], b)
		}
	}
	for _, v := range []int64{math.MinInt64, -1, 0, 1} {
		if cell(v) != 0 {
			t.Errorf("cell(%d) = %d, want 0", v, cell(v))
		}
	}
	if got := cell(math.MaxInt64); got != cells-1 {
		t.Errorf("the greatest value is in cell %d, want %d", got, cells-1)
	}
}

// exactMedian is the definition that the histogram comes close to.
func exactMedian(v []int64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	if n%2 == 1 {
		return float64(v[n/2])
	}
	return (float64(v[n/2-1]) + float64(v[n/2])) / 2
}

func TestMedianAndSlowestAreClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) int64 {
			// Evenly over the orders of magnitude, as times are.
			low, high := math.Log(float64(bounds[0])), math.Log(float64(bounds[cells-2]-1))
			return int64(math.Ceil(math.Exp(rapid.Float64Range(low, high-1e-9).Draw(t, "log"))))
		})
		values := rapid.SliceOfN(value, 1, 60).Draw(t, "values")
		var h histogram
		for _, v := range values {
			h.add(v)
		}
		got, want := float64(h.median()), exactMedian(values)
		if math.Abs(got-want) > 0.05*want {
			t.Fatalf("median of %v: %.0f, want %.0f within 5 %%", values, got, want)
		}
		if got, want := float64(h.slowest()), exactSlowest(values); math.Abs(got-want) > 0.05*want {
			t.Fatalf("slowest of %v: %.0f, want %.0f within 5 %%", values, got, want)
		}
	})
}

func TestOfNothing(t *testing.T) {
	var h histogram
	if got := h.median(); got != 0 {
		t.Errorf("median %d, want 0", got)
	}
	if got := h.slowest(); got != 0 {
		t.Errorf("slowest %d, want 0", got)
	}
}

// exactSlowest is the least value that no less than 95 % of all keep to.
func exactSlowest(v []int64) float64 {
	v = slices.Sorted(slices.Values(v))
	for i, x := range v {
		if (i+1)*100 >= len(v)*95 {
			return float64(x)
		}
	}
	return 0
}
