package config

import (
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// MaxDeployments is how many deployments one model may have.
const MaxDeployments = 1024

// Model is a public name that clients ask for.
type Model struct {
	// Name is the public name. It may hold slashes and colons.
	Name string `config:",key"`
	// Aliases are further public names.
	Aliases []string `config:"aliases"`
	// Deployments are what serves the model, each a provider id or an object.
	Deployments []Deployment `config:"deployments"`
	// Fallbacks are the models that are asked, in order, when all deployments
	// failed.
	//
	// After loading the lists of fallbacks hold names, no aliases.
	Fallbacks []string `config:"fallbacks"`
	// ContextWindowFallbacks are asked when the request is too long for the model.
	ContextWindowFallbacks []string `config:"context_window_fallbacks"`
	// ContentPolicyFallbacks are asked when the provider refused the content.
	ContentPolicyFallbacks []string `config:"content_policy_fallbacks"`
}

// Deployment is one model served by one provider.
type Deployment struct {
	// ID names the deployment, once in the whole file; without it provider/model.
	ID string `config:"id"`
	// Provider is the id of the provider that serves it.
	Provider string `config:"provider"`
	// UpstreamModel is the provider's own name of the model; without it the public
	// name.
	UpstreamModel string `config:"upstream_model"`
	// Enabled is false for a deployment that must not be called.
	Enabled bool `config:"enabled"`
	// Cost is the price; what it leaves out comes from the router's override, then
	// from the catalog.
	Cost Cost `config:"cost"`
	// Limit is how much the deployment takes and gives; what it leaves out comes
	// as with cost.
	Limit Limit `config:"limit"`
	// Capabilities are the abilities, all of them; without the list those of the
	// catalog.
	Capabilities []string `config:"capabilities"`
	// Endpoints are what the deployment serves, all of it; without the list what
	// the provider serves and the catalog knows of the model.
	Endpoints []string `config:"endpoints"`
	// NoSystemRole is true for a model that refuses system and developer messages:
	// they are then put at the head of the first user message. Without it what is
	// known of the model counts.
	NoSystemRole *bool `config:"no_system_role"`
	// Reasoning says where answers of chat carry what the model thought:
	// think_tags for one that puts it between <think> tags at the beginning of the
	// text, from where it is moved to reasoning_content; as_sent leaves answers
	// alone. Without it what is known of the service counts.
	Reasoning string `config:"reasoning" oneof:"as_sent,think_tags"`
	// HistoryReasoning is drop for a service that refuses reasoning in the messages
	// of a request (reasoning_content, reasoning, reasoning_details,
	// thinking_blocks, extra_content): it is then taken out; as_sent leaves it in.
	// Without it what is known of the service counts.
	HistoryReasoning string `config:"history_reasoning" oneof:"as_sent,drop"`
	// MaxTokensField is the only name of the output limit that the service knows,
	// under which it is sent then; as_sent leaves the client's. Without it what is
	// known of the service and the model counts.
	MaxTokensField string `config:"max_tokens_field" oneof:"as_sent,max_tokens,max_completion_tokens"`
	// EmbeddingFormat is the only encoding of embeddings that the service has:
	// it is asked for, and turned into what the client wants. as_sent, like no
	// value, asks for what the client wants.
	EmbeddingFormat string `config:"embedding_format" oneof:"as_sent,float,base64"`
	// Sale is a promotion on the price.
	Sale *Sale `config:"sale"`
	// Timeouts are the waits of calls to the deployment.
	Timeouts CallTimeouts `config:"timeouts"`
}

// Cost is a price in US dollars per million tokens.
//
// It is kept in nano-USD per million tokens; nil = not given.
type Cost struct {
	// Input is the price of input tokens.
	Input *int64 `config:"input" kind:"usd" min:"0" max:"1000000"`
	// Output is the price of output tokens.
	Output *int64 `config:"output" kind:"usd" min:"0" max:"1000000"`
	// CachedInput is the price of input tokens that the provider had cached.
	CachedInput *int64 `config:"cached_input" kind:"usd" min:"0" max:"1000000"`
	// CacheWrite is the price of input tokens that the provider puts into its
	// cache.
	CacheWrite *int64 `config:"cache_write" kind:"usd" min:"0" max:"1000000"`
}

// Limit is a size in tokens.
//
// nil = not given.
type Limit struct {
	// Context is the most that input and output may have together.
	Context *int64 `config:"context" min:"1" max:"1000000000"`
	// Output is the most that an answer may have.
	Output *int64 `config:"output" min:"1" max:"1000000000"`
}

// Sale is a promotion: for its time callers pay a part of the price.
type Sale struct {
	// Multiplier is that part, such as 0.8 or 80%.
	//
	// It is kept in parts per million.
	Multiplier int64 `config:"multiplier" kind:"share" min:"0.0001%" max:"100%"`
	// From is when it begins, as a date (00:00 UTC) or a time.
	From time.Time `config:"from"`
	// Until is when it ends, likewise.
	Until time.Time `config:"until"`
}

// capabilities are the abilities that a deployment can have.
var capabilities = []string{"tools", "vision", "audio", "video", "files", "json_schema", "reasoning"}

// capabilitySet is what references to them are checked against.
var capabilitySet = newNameSet(capabilities)

// Capabilities lists the names that a deployment's capabilities may have.
func Capabilities() []string { return slices.Clone(capabilities) }

func (d *Deployment) defaults() { d.Enabled = true }

// readNode takes a provider id, or an object.
func (d *Deployment) readNode(dec *decoder, n *yaml.Node, at path) {
	if n.Kind == yaml.MappingNode {
		dec.object(n, reflect.ValueOf(d).Elem(), at)
		return
	}
	if n.Kind != yaml.ScalarNode {
		dec.fail(at, "write a provider id or {provider: …}", "found %s, want a deployment", dec.describe(n, field{}))
		return
	}
	if text, ok := dec.written(n, field{}, forms["text"], at); ok {
		d.Provider = text
	}
}
