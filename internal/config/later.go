package config

import "reflect"

// What is said of names that the configuration has but this version has not.
const (
	notYet   = "known, but this version does not have it yet"
	removeIt = "remove it"
)

// laterNames are the keys that are reserved and refused, by the section that
// they belong to.
var laterNames = map[reflect.Type]map[string]bool{
	reflect.TypeFor[File](): {
		"telemetry": true, "orgs": true, "teams": true, "templates": true, "decisions": true, "prices": true,
	},
	reflect.TypeFor[Binding](): {"org": true, "team": true},
	reflect.TypeFor[Key]():     {"team": true, "budget": true, "rate": true, "price_multiplier": true},
}

// misplaced are keys that belong somewhere else, with where.
var misplaced = map[reflect.Type]map[string]string{
	reflect.TypeFor[File](): {
		"selection":    "write it under router",
		"retry_policy": "write it under router",
		"retry_budget": "write it under router",
		"fallbacks":    "write it under models.<model>",
		"api_keys":     "callers' keys are in keys, providers' in providers.<id>.api_key",
		"port":         "write listen: 127.0.0.1:20128",
		"host":         "write listen: 127.0.0.1:20128",
	},
	reflect.TypeFor[Provider](): { //nolint:gosec // advice on keys, no credential
		"url":          "write base_url",
		"api_base":     "write base_url",
		"endpoint":     "write base_url",
		"key":          "write api_key",
		"token":        "write api_key",
		"models":       "list the provider under models.<model>.deployments",
		"cost":         "write it at the deployment or under router.models.<model>.providers.<provider>",
		"limit":        "write it at the deployment or under router.models.<model>.providers.<provider>",
		"api-version":  "write api_version",
		"type":         "write protocol or preset",
		"supply_tiers": "a provider has one: write supply_tier",
	},
	reflect.TypeFor[Deployment](): {
		"model":         "the public name is the key under models; the provider's own name is upstream_model",
		"priority":      "write it under providers.<provider> or router.models.<model>.providers.<provider>",
		"weight":        "write it under providers.<provider>, router.models.<model>.providers.<provider> or in allocations",
		"deployment_id": "write id",
		"name":          "write id",
		"price":         "write cost",
	},
	reflect.TypeFor[Model](): {
		"selection":   "write it under router.models.<model>",
		"allocations": "write it under router.models.<model>",
		"strategy":    "write router.models.<model>.selection",
		"providers":   "write deployments",
		"cost":        "write it at a deployment",
		"limit":       "write it at a deployment",
	},
	reflect.TypeFor[Router](): {
		"strategy":                 "write selection",
		"fallbacks":                "write it under models.<model>",
		"context_window_fallbacks": "write it under models.<model>",
		"content_policy_fallbacks": "write it under models.<model>",
	},
	reflect.TypeFor[ModelRoute](): {"strategy": "write selection", "deployments": "write it under models.<model>"},
	reflect.TypeFor[Key]():        {"key": "write secret: \"${NAME}\" or hash: \"sha256:…\"", "token": "write secret: \"${NAME}\" or hash: \"sha256:…\"", "models": "write allowed_models", "providers": "write allowed_providers"},
	reflect.TypeFor[Admin](): {
		"address": "write listen", "port": "write listen: 127.0.0.1:20129", "enabled": "write listen: off, or an address",
		"host": "write hosts: [NAME]", "key": "write token", "api_key": "write token", "secret": "write token",
	},
	reflect.TypeFor[Policy](): {
		"path": "write file", "source": "write file", "url": "write file", "type": "write kind",
		"parameters": "write them at a binding of the policy", "params": "write parameters, at a binding of the policy",
		"on_fault": "write it at a binding of the policy", "tolerance": "write it at a binding of the policy",
		"model": "write it at a binding of the policy", "key": "write it at a binding of the policy",
	},
	reflect.TypeFor[Binding](): {
		"name": "write id", "params": "write parameters", "data": "write parameters", "grants": "write grant",
		"policies": "write policy; one binding binds one", "models": "write model; one binding names one", "keys": "write key; one binding names one",
		"fail_open": "write on_fault: fail_open", "on_error": "write on_fault", "mode": "a shadow is started by gatewright policy shadow",
		"file": "write it under policies.<policy>",
	},
	reflect.TypeFor[RetryPolicy](): {
		"timeout":  "write timeout_seconds with a plain number",
		"cooldown": "write cooldown_seconds with a plain number",
		"retries":  "write max_attempts, which counts the first call too",
	},
}
