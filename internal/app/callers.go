package app

import (
	"errors"
	"fmt"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/tenant"
	"gatewright/policies"
)

// callers makes the table of API keys. A ranking that is bound to a key is its
// strategy.
func callers(f *config.File, rankings *policies.Rankings) (*tenant.Directory, error) {
	keys := make([]tenant.Key, 0, len(f.Keys))
	var errs []error
	for i := range f.Keys {
		k := &f.Keys[i]
		strategy := k.Strategy
		if bound := rankings.Key[k.ID]; bound != "" {
			if strategy != "" {
				errs = append(errs, twoStrategies("keys."+k.ID+".strategy", strategy, bound))
			}
			strategy = bound
		}
		keys = append(keys, tenant.Key{
			ID: k.ID, Hash: k.Hash, Disabled: !k.Enabled,
			Caller: engine.Caller{
				Key:                  k.ID,
				AllowRequestStrategy: k.AllowRequestStrategy,
				ExposeRouting:        k.ExposeRouting,
				AllowedModels:        engine.NewSet(k.AllowedModels),
				AllowedProviders:     engine.NewSet(k.AllowedProviders),
				SupplyTiers:          engine.NewSet(k.SupplyTiers),
				MaxTTFT:              k.MaxTTFT,
				MaxCost:              k.MaxRequestCost,
				Strategy:             strategy,
				StrategySource:       "key",
				Preferred:            engine.NewSet(k.PreferredProviders),
			},
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return tenant.New(keys)
}

// twoStrategies is a level that the configuration gives one strategy and a
// binding another.
func twoStrategies(path, configured, bound string) error {
	return fmt.Errorf("%s: %q is set, and a binding puts %q at the same level; remove one of the two", path, configured, bound)
}
