package app

import (
	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/tenant"
)

// callers makes the table of API keys.
func callers(f *config.File) (*tenant.Directory, error) {
	keys := make([]tenant.Key, 0, len(f.Keys))
	for i := range f.Keys {
		k := &f.Keys[i]
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
				Strategy:             k.Strategy,
				StrategySource:       "key",
				Preferred:            engine.NewSet(k.PreferredProviders),
			},
		})
	}
	return tenant.New(keys)
}
