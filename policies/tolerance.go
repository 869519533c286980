package policies

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gatewright/engine"
)

const ppmPerPercent = 10_000

// ToleranceByText reads the tolerance of a score: "5%" of the best of its band,
// or an absolute number; "" = 0.
func ToleranceByText(text string) (engine.Tolerance, error) {
	number, relative := strings.CutSuffix(strings.TrimSpace(text), "%")
	if number == "" && !relative {
		return engine.Tolerance{}, nil
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || relative && v > 100 {
		return engine.Tolerance{}, fmt.Errorf("tolerance %q: want a share of 0%% to 100%%, or a number that is not negative", text)
	}
	if relative {
		return engine.Tolerance{RelativePPM: int64(math.Round(v * ppmPerPercent))}, nil
	}
	return engine.Tolerance{Absolute: v}, nil
}

// ToleranceText writes a tolerance as ToleranceByText reads it.
func ToleranceText(t engine.Tolerance) string {
	switch {
	case t.RelativePPM != 0:
		return strconv.FormatFloat(float64(t.RelativePPM)/ppmPerPercent, 'g', -1, 64) + "%"
	case t.Absolute != 0:
		return strconv.FormatFloat(t.Absolute, 'g', -1, 64)
	}
	return ""
}
