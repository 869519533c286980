package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/mock"
)

// callerKey is the API key that requests carry. It opens nothing but the
// gateways of a run.
const callerKey = "sk-gatewright-bench-0123456789"

// The models of the limited work.
const (
	modelPair    = "healthy-pair"      // two deployments that answer
	modelLimited = "limited-first"     // the first answers 429
	modelHinted  = "limited-for-first" // the first answers 429 with Retry-After
)

// supplyTier is that of every upstream.
const supplyTier = "standard"

type object = map[string]any

// Policies is what makes a gateway one with policies, to be merged into its
// configuration: an admission in Rego that gives teams their supply tiers, by one
// decision about the pool, and a ranking in Wasm. The files are those of the
// gateway's module, whose root is given.
func Policies(root string) map[string]any {
	return object{
		"policies": object{
			"tiers": object{"file": filepath.Join(root, "policies", "admission", "tier_by_team.rego")},
			"rank":  object{"file": filepath.Join(root, "testdata", "wasm", "guests", "rank.wasm")},
		},
		"bindings": []any{
			object{"policy": "tiers", "parameters": object{"teams": object{"batch": []any{"economy"}}, "default": []any{supplyTier}}},
			object{"policy": "rank", "model": dialog.Model}, // the others have a strategy
		},
	}
}

// configuration returns the configuration of a gateway that listens on an
// address: one deployment of the upstream, keys, a price. With pools it has the
// models of the limited work too.
func configuration(listen, upstream, dataDir string, pools bool) object {
	provider := func(path string) object {
		return object{
			"protocol": "openai", "base_url": "http://" + upstream + path, "api_key": "sk-upstream",
			"region": "eu-west", "supply_tier": supplyTier,
		}
	}
	deployment := func(provider string) object {
		return object{"provider": provider, "cost": object{"input": 2.5, "output": 10}}
	}
	model := func(providers ...string) object {
		var list []any
		for _, p := range providers {
			list = append(list, deployment(p))
		}
		return object{"deployments": list}
	}
	c := object{
		"listen": listen, "data_dir": dataDir,
		"providers": object{"upstream": provider(mock.Healthy)},
		"models":    object{dialog.Model: model("upstream")},
		"keys":      object{"bench": object{"secret": callerKey}},
	}
	if pools {
		c["providers"] = object{
			"upstream": provider(mock.Healthy), "other": provider(mock.Healthy),
			"limited": provider(mock.Limited), "hinted": provider(mock.Hinted),
		}
		c["models"] = object{
			dialog.Model: model("upstream"),
			modelPair:    model("upstream", "other"),
			modelLimited: model("limited", "other"),
			modelHinted:  model("hinted", "other"),
		}
		c["router"] = object{"selection": "priority"}
	}
	return c
}

// ParseExtra reads what is to be merged into a gateway's configuration: a JSON
// object.
func ParseExtra(text []byte) (map[string]any, error) {
	var extra object
	if err := json.Unmarshal(text, &extra); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return extra, nil
}

// merge puts extra into base, as a JSON merge patch does (RFC 7396): objects
// are merged, null removes, everything else replaces. Only the top of base is
// written to.
func merge(base, extra object) object {
	merged := object{}
	maps.Copy(merged, base)
	for k, v := range extra {
		if v == nil {
			delete(merged, k)
			continue
		}
		if patch, ok := v.(object); ok {
			below, _ := merged[k].(object)
			merged[k] = merge(below, patch)
			continue
		}
		merged[k] = v
	}
	return merged
}
