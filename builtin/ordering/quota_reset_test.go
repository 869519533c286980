package ordering_test

import (
	"testing"
	"time"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestQuotaReset(t *testing.T) {
	spec := engine.KeySpec{Integer: true, Missing: engine.MissingLast}
	const weekly, hours = 7 * 24 * time.Hour, 5 * time.Hour
	window := func(period, resets time.Duration) engine.QuotaWindow {
		return engine.QuotaWindow{Name: "w", Period: period, ResetsAt: now.Add(resets), LeftPPM: 500_000}
	}
	never := func(period time.Duration) engine.QuotaWindow { return engine.QuotaWindow{Name: "w", Period: period} }
	at := func(d time.Duration) float64 { return float64(now.Add(d).UnixMilli()) }
	day, hour := 24*time.Hour, time.Hour
	runKey(t, ordering.QuotaReset{}, "quota_reset", spec, []valueCase{
		{"no snapshot", func(*engine.Candidate) {}, missing},
		{"no window", read(0), missing},
		{"one window", read(0, window(weekly, day)), at(day)},
		{"ten minutes old", read(10*time.Minute, window(weekly, day)), at(day)},
		{"older", read(10*time.Minute+1, window(weekly, day)), missing},
		{"weekly before five-hourly", read(0, window(hours, hour), window(weekly, day)), at(day)},
		{"whatever their order", read(0, window(weekly, day), window(hours, hour)), at(day)},
		{"an unknown length is the shortest", read(0, window(0, hour), window(hours, 2*hour)), at(2 * hour)},
		{"an unknown length alone", read(0, window(0, hour)), at(hour)},
		{"the longest has no reset", read(0, window(hours, hour), never(weekly)), missing},
		{"the longest was reset since", read(time.Minute, window(hours, hour), window(weekly, 0)), missing},
		{"two of one length: the first to reset", read(0, window(weekly, day), window(weekly, hour), never(weekly)), at(hour)},
		{"the share need not be known", read(0, engine.QuotaWindow{Period: weekly, LeftPPM: engine.Unknown, ResetsAt: now.Add(day)}), at(day)},
	})
}
