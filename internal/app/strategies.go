package app

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"gatewright/builtin"
	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/policies"
)

// strategies are the built-in ones, the rankings, and the combos of the file.
func strategies(f *config.File, rules *policies.Rules) (map[string]*engine.Strategy, error) {
	all := builtin.Strategies()
	maps.Copy(all, rules.Strategies)
	var errs []error
	for i := range f.Strategies {
		s := &f.Strategies[i]
		steps := make([]builtin.Step, len(s.Keys))
		for k := range s.Keys {
			steps[k] = step(&s.Keys[k])
			if p := s.Keys[k].Policy; p != "" {
				steps[k].Score, _ = rules.Score(p) // it was named when the rules were made
			}
		}
		combo, err := builtin.Combo(s.Name, steps)
		if err != nil {
			errs = append(errs, fmt.Errorf("strategies.%s: %w", s.Name, err))
			continue
		}
		all[s.Name] = combo
	}
	return all, errors.Join(errs...)
}

// step turns one key of a combo into the engine's units.
func step(u *config.KeyUse) builtin.Step {
	unit := unitOf(u.Key)
	s := builtin.Step{Key: u.Key, Enough: inUnit(u.Enough, unit), Max: inUnit(u.Max, unit)}
	if t := u.Tolerance; t != nil {
		s.Tolerance = &engine.Tolerance{RelativePPM: t.RelativePPM, Absolute: float64(t.Absolute) / unit}
	}
	return s
}

// unitOf is how many of the configuration's units make one of the sort key's:
// times are written down to nanoseconds and compared in milliseconds, scores are
// kept in millionths.
func unitOf(key string) float64 {
	for _, k := range config.SortKeys() {
		switch {
		case k.Name != key:
		case k.Unit == config.UnitDuration || k.Unit == config.UnitInstant:
			return float64(time.Millisecond)
		case k.Unit == config.UnitScore:
			return million
		}
	}
	return 1
}

const million = 1_000_000

func inUnit(v *int64, unit float64) *float64 {
	if v == nil {
		return nil
	}
	return new(float64(*v) / unit)
}
