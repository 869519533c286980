package config

import (
	"slices"
	"strings"
)

// Service is what is known of the API of a maker or a server beside its
// protocol. The zero value is one of which nothing is known.
type Service struct {
	// Full: it takes all fields of its protocol, the newer and rarer ones too.
	Full bool
	// KeepsReasoning: it wants the reasoning of earlier turns back.
	KeepsReasoning bool
	// ShortCallIDs: the ids of calls must be nine letters or digits.
	ShortCallIDs bool
	// NoEffort and EffortOnly are the beginnings of names of reasoning models:
	// those that cannot be told how much to reason, or, where EffortOnly is not
	// nil, the only ones that can.
	NoEffort, EffortOnly []string
	// NoSystemRole are the beginnings of names of models that refuse system and
	// developer messages.
	NoSystemRole []string
	// MaxTokens: it knows only max_tokens, and refuses or ignores the newer name.
	MaxTokens bool
	// MaxCompletionTokens: its reasoning models know only max_completion_tokens.
	MaxCompletionTokens bool
	// ThinkTags: some of its models answer with their reasoning between <think>
	// tags.
	ThinkTags bool
	// Refused are the fields of reasoning that it refuses in the messages of a
	// request.
	Refused []string
}

// reasoningFields are the fields of an assistant's message, and of its calls,
// that hold reasoning or what a maker wants back with it.
var reasoningFields = []string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content"}

// butReasoning are those that services refuse which take reasoning back under
// the name that they give it themselves.
var butReasoning = []string{"reasoning_content", "reasoning_details", "thinking_blocks", "extra_content"}

// The services of the presets that are not plain. Of what their reasoning models
// do without a word in their documentation, nothing is taken for known.
var (
	openAIService = Service{
		Full: true, MaxCompletionTokens: true, Refused: reasoningFields,
		NoEffort: []string{"o1-mini", "o1-preview"}, NoSystemRole: []string{"o1-mini", "o1-preview"},
	}
	// Azure's dated versions lack what is newer than they are.
	azureService = Service{
		MaxCompletionTokens: true, Refused: reasoningFields,
		NoEffort: openAIService.NoEffort, NoSystemRole: openAIService.NoSystemRole,
	}
	geminiService     = Service{Full: true, NoSystemRole: []string{"gemma-3"}}
	geminiChatService = Service{KeepsReasoning: true, NoSystemRole: []string{"gemma-3"}}
	groqService       = Service{EffortOnly: []string{"openai/gpt-oss"}, ThinkTags: true, Refused: butReasoning}
	cerebrasService   = Service{EffortOnly: []string{"gpt-oss"}, Refused: butReasoning}
	mistralService    = Service{ShortCallIDs: true, EffortOnly: none, MaxTokens: true, Refused: reasoningFields}
	deepseekService   = Service{KeepsReasoning: true, MaxTokens: true}
	moonshotService   = Service{KeepsReasoning: true, EffortOnly: none}
	qwenService       = Service{EffortOnly: none, MaxTokens: true}
	xaiService        = Service{EffortOnly: []string{"grok-3-mini", "grok-4.3", "grok-4.5", "grok-4.6"}}
	togetherService   = Service{EffortOnly: []string{"openai/gpt-oss"}, MaxTokens: true, ThinkTags: true}
	ollamaService     = Service{MaxTokens: true}
	zaiService        = Service{KeepsReasoning: true, EffortOnly: none, MaxTokens: true}
	perplexityService = Service{EffortOnly: none, MaxTokens: true, ThinkTags: true}
)

// none is a list of models that holds none, as against no list.
var none = []string{}

// takesEffort reports whether a model of the service that reasons can be told
// how much.
func (s *Service) takesEffort(model string) bool {
	if s.EffortOnly != nil {
		return begins(model, s.EffortOnly)
	}
	return !begins(model, s.NoEffort)
}

// begins reports whether a model's name begins with one of a list, with or
// without "models/" before it.
func begins(model string, list []string) bool {
	model = strings.TrimPrefix(strings.ToLower(model), "models/")
	return slices.ContainsFunc(list, func(part string) bool { return strings.HasPrefix(model, part) })
}
