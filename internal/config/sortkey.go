package config

import "slices"

// Unit is what the values of a sort key count, and so how tolerance, enough and
// max of it are written and kept.
type Unit uint8

// The units. Whatever is written, the number kept is a whole one.
const (
	UnitNumber     Unit = iota // a plain whole number
	UnitUSD                    // written in US dollars per million tokens, kept in nano-USD
	UnitDuration               // written as 3s or 250ms, kept in nanoseconds
	UnitPPM                    // written in parts per million or as 30%, kept in parts per million
	UnitThroughput             // written in tokens per second, kept in thousandths of them
	UnitInstant                // a time: only a tolerance, written as a duration, kept in nanoseconds
	UnitFlag                   // 0 or 1: takes no tolerance, enough or max
	UnitScore                  // of a ranking policy: written as a number, kept in millionths
)

// SortKey is what the configuration knows of one sort key.
type SortKey struct {
	Name      string
	Unit      Unit
	HighFirst bool // high values are good
}

// sortKeys are all sort keys, in the order of the documentation.
var sortKeys = []SortKey{
	{Name: "priority", Unit: UnitNumber, HighFirst: true},
	{Name: "price", Unit: UnitUSD},
	{Name: "input_price", Unit: UnitUSD},
	{Name: "latency", Unit: UnitDuration},
	{Name: "throughput", Unit: UnitThroughput, HighFirst: true},
	{Name: "reliability", Unit: UnitPPM, HighFirst: true},
	{Name: "in_flight", Unit: UnitNumber},
	{Name: "usage", Unit: UnitNumber},
	{Name: "quota_reset", Unit: UnitInstant},
	{Name: "quota_left", Unit: UnitPPM, HighFirst: true},
	{Name: "last_good", Unit: UnitFlag, HighFirst: true},
	{Name: "affinity", Unit: UnitFlag, HighFirst: true},
	{Name: "listed", Unit: UnitNumber},
	{Name: "score", Unit: UnitScore},
}

// strategyNames are the built-in strategies, in the order of the documentation.
var strategyNames = []string{
	"balanced", "price", "latency", "throughput", "reliability", "priority", "quota-reset", "quota-aware",
	"last-known-good", trafficSplit, "simple-shuffle", "random", "least-busy", "latency-based-routing",
	"cost-based-routing", "usage-based-routing",
}

const (
	trafficSplit = "traffic-split"
	policyPrefix = "policy:"
)

// SortKeys lists every sort key that a combo can name.
func SortKeys() []SortKey { return slices.Clone(sortKeys) }

// BuiltinStrategies lists the names of the strategies that need no
// configuration.
func BuiltinStrategies() []string { return slices.Clone(strategyNames) }

// sortKey returns the key of that name.
func sortKey(name string) (SortKey, bool) {
	i := slices.IndexFunc(sortKeys, func(k SortKey) bool { return k.Name == name })
	if i < 0 {
		return SortKey{}, false
	}
	return sortKeys[i], true
}

// sortKeyNames lists the names of the sort keys.
func sortKeyNames() []string {
	names := make([]string, len(sortKeys))
	for i, k := range sortKeys {
		names[i] = k.Name
	}
	return names
}
