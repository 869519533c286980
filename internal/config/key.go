package config

import "time"

// Key is an API key of a caller. The secret itself is not kept.
type Key struct {
	// ID is the public name of the key.
	ID string `config:",key"`
	// Secret is what the caller presents, 16 bytes or more.
	//
	// Loading replaces it by its hash: it is never set afterwards.
	Secret Secret `config:"secret"`
	// HashText is "sha256:" and the 64 hex digits of the secret's SHA-256, in place
	// of secret.
	HashText string `config:"hash"`
	// Enabled is false for a key that is refused.
	Enabled bool `config:"enabled"`
	// AllowRequestStrategy lets the caller name a strategy with :@strategy.
	AllowRequestStrategy bool `config:"allow_request_strategy"`
	// ExposeRouting shows the caller which deployment served, and why others did
	// not.
	ExposeRouting bool `config:"expose_routing"`
	// AllowedModels are the models that the key may use; empty = all.
	//
	// After loading the list holds names, no aliases.
	AllowedModels []string `config:"allowed_models"`
	// AllowedProviders are the providers that may serve the key; empty = all.
	AllowedProviders []string `config:"allowed_providers"`
	// SupplyTiers are the supply tiers that may serve the key; empty = all.
	SupplyTiers []string `config:"supply_tiers"`
	// MaxTTFT is the longest known time to first token of a deployment that may
	// serve the key, in milliseconds.
	//
	// 0 = no cap.
	MaxTTFT time.Duration `config:"max_ttft_ms" kind:"ms" min:"1" max:"86400000"`
	// MaxRequestCost is the most that a request may be estimated to cost, in US
	// dollars.
	//
	// It is kept in nano-USD; 0 = no cap.
	MaxRequestCost int64 `config:"max_request_cost" kind:"usd" min:"0.000000001" max:"1000000"`
	// Strategy orders the key's requests; without it the model's or the router's
	// selection does.
	Strategy string `config:"strategy"`
	// PreferredProviders are tried first; none or all = no preference.
	PreferredProviders []string `config:"preferred_providers"`

	// Hash is the SHA-256 of the secret.
	Hash [32]byte
}

func (k *Key) defaults() { k.Enabled = true }
