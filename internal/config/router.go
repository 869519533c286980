package config

import "time"

// Router says how candidates are ordered, tried and repeated.
type Router struct {
	// Selection is the strategy of models that set none.
	Selection string `config:"selection"`
	// SelectionSet says whether the file names that strategy; false = Selection is
	// the default.
	SelectionSet bool
	// RetryPolicy is how often and how long one deployment is tried.
	RetryPolicy RetryPolicy `config:"retry_policy"`
	// RetryBudget bounds calls repeated on the same deployment, gateway-wide.
	RetryBudget RetryBudget `config:"retry_budget"`
	// Models are settings for single models.
	Models []ModelRoute `config:"models"`
}

// RetryPolicy is how often and how long one deployment is tried.
type RetryPolicy struct {
	// MaxAttempts is how often one deployment is called, the first call included.
	MaxAttempts int `config:"max_attempts" min:"1" max:"1000"`
	// Timeout is the wait for the first content of a stream, per call; without it
	// timeouts.first_token.
	Timeout time.Duration `config:"timeout_seconds" kind:"seconds" min:"0.001" max:"86400"`
	// FailureThreshold is how many failures in a row open the circuit of a
	// deployment; 0 = it never opens.
	FailureThreshold int `config:"failure_threshold" min:"0" max:"1000000"`
	// Cooldown is how long an open circuit stays open; 0 means 60 seconds.
	Cooldown time.Duration `config:"cooldown_seconds" kind:"seconds" min:"0" max:"2678400"`
}

// RetryBudget bounds calls repeated on the same deployment: a share of the
// requests, and a number per second on top.
type RetryBudget struct {
	// Ratio is the share of requests, such as 0.2 or 20%.
	//
	// It is kept in parts per million.
	Ratio int64 `config:"ratio" kind:"share" min:"0" max:"100%"`
	// PerSecond is how many more may be repeated each second.
	PerSecond int `config:"per_second" min:"0" max:"1000000"`
}

// ModelRoute is what the router does for one model.
type ModelRoute struct {
	// Model is the name of the model.
	Model string `config:",key"`
	// Selection is the strategy of the model; without it the router's.
	Selection string `config:"selection"`
	// Allocations are the weights of traffic-split. Who is not listed has 1; with
	// an empty list all have. Without the list the default weights count.
	//
	// nil = no list.
	Allocations []Allocation `config:"allocations"`
	// Providers override a provider's settings for the model.
	Providers []ProviderOverride `config:"providers"`
}

// Allocation is the weight of one deployment under traffic-split.
type Allocation struct {
	// DeploymentID is the deployment.
	DeploymentID string `config:"deployment_id"`
	// Weight is its share, rounded, then clamped to 0 to 10000; 0 takes nothing.
	Weight *int `config:"weight" kind:"weight"`
}

// ProviderOverride is what holds for a provider in one model; what is left out
// is as the provider's own.
//
// nil = left out.
type ProviderOverride struct {
	// Provider is the id of the provider.
	Provider string `config:",key"`
	// Priority is the tier, higher first.
	Priority *int `config:"priority" min:"0" max:"10000"`
	// Weight is the share within a tier, rounded, then clamped to 0 to 10000.
	Weight *int `config:"weight" kind:"weight"`
	// Cost is the price of deployments that name none.
	Cost Cost `config:"cost"`
	// Limit is the size of deployments that name none.
	Limit Limit `config:"limit"`
}

// defaultCooldown is how long a circuit stays open when nothing, or 0, is
// written.
const defaultCooldown = time.Minute

func defaultRouter() Router {
	return Router{
		Selection:   "balanced",
		RetryPolicy: RetryPolicy{MaxAttempts: 1, FailureThreshold: 3, Cooldown: defaultCooldown},
		RetryBudget: RetryBudget{Ratio: 200_000, PerSecond: 10},
	}
}

// Route returns the settings of a model; nil when the file has none.
func (r *Router) Route(model string) *ModelRoute {
	for i := range r.Models {
		if r.Models[i].Model == model {
			return &r.Models[i]
		}
	}
	return nil
}
