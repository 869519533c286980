package builtin

import (
	"gatewright/builtin/admission"
	"gatewright/builtin/ordering"
	"gatewright/engine"
)

// Checks returns the built-in checks in the order that they run, which is also
// the order in which lasting reasons are named. The checks keep no state and
// may be shared by any number of snapshots.
func Checks() []engine.Check {
	return []engine.Check{
		admission.Disabled{},
		admission.ZeroWeight{},
		admission.ModelNotAllowed{},
		admission.ProviderNotAllowed{},
		admission.SupplyTier{},
		admission.NoCredential{},
		admission.Protocol{},
		admission.Capability{},
		admission.ContextWindow{},
		admission.LatencyCap{},
		admission.CostCap{},
		admission.Cooldown{},
		admission.QuotaExhausted{},
	}
}

// SortKeys returns the built-in sort keys by name. The keys keep no state and
// may be shared by any number of strategies; the map is the caller's.
func SortKeys() map[string]engine.SortKey {
	keys := []engine.SortKey{
		ordering.Priority{},
		ordering.Price{},
		ordering.InputPrice{},
		ordering.Latency{},
		ordering.Throughput{},
		ordering.Reliability{},
		ordering.InFlight{},
		ordering.Usage{},
		ordering.QuotaReset{},
		ordering.QuotaLeft{},
		ordering.LastGood{},
		ordering.Affinity{},
		ordering.Listed{},
	}
	byName := make(map[string]engine.SortKey, len(keys))
	for _, k := range keys {
		byName[k.Name()] = k
	}
	return byName
}

// Strategies returns the built-in strategies by name, each key with its own
// tolerance. The map and the strategies are the caller's, to be added to and
// then handed to a snapshot.
func Strategies() map[string]*engine.Strategy {
	list := []*engine.Strategy{
		// The weighted draw alone. The weights of a traffic split are settled
		// where the configuration is read: they are the deployments' own here.
		{Name: engine.StrategyBalanced},
		{Name: "traffic-split"},
		// The draw with all weights equal.
		{Name: "simple-shuffle", EqualWeights: true},
		{Name: "random", EqualWeights: true},

		strategy("price", ordering.Price{}),
		strategy("latency", ordering.Latency{}),
		strategy("throughput", ordering.Throughput{}),
		strategy("reliability", ordering.Reliability{}),
		strategy("priority", ordering.Priority{}, ordering.Listed{}),
		strategy("quota-reset", ordering.QuotaReset{}),
		strategy("quota-aware", ordering.QuotaLeft{}),
		strategy("last-known-good", ordering.LastGood{}),
		strategy("least-busy", ordering.InFlight{}),
		strategy("latency-based-routing", ordering.Latency{}),
		strategy("cost-based-routing", ordering.InputPrice{}),
		strategy("usage-based-routing", ordering.Usage{}),
	}
	byName := make(map[string]*engine.Strategy, len(list))
	for _, s := range list {
		byName[s.Name] = s
	}
	return byName
}

func strategy(name string, keys ...engine.SortKey) *engine.Strategy {
	s := &engine.Strategy{Name: name, Keys: make([]engine.KeyUse, len(keys))}
	for i, k := range keys {
		s.Keys[i] = engine.Use(k)
	}
	return s
}
