package config

// Dialect is how the bodies of OpenAI's protocol have to differ for one
// deployment from those that clients send and expect. The zero value leaves
// them as they are.
type Dialect struct {
	// NoSystemRole: system and developer messages become a part of the first user
	// message.
	NoSystemRole bool
	// MaxTokensField is the name that the output limit of chat is sent under;
	// "" = the client's.
	MaxTokensField string
	// ThinkTags: reasoning between <think> tags at the beginning of an answer is
	// moved to reasoning_content.
	ThinkTags bool
	// DropFields are the members of assistant messages, and of their tool calls,
	// that are not sent.
	DropFields []string
	// EmbeddingFormat is the encoding_format that is asked for in place of the
	// client's; "" = the client's.
	EmbeddingFormat string
}

// The words that settings of a dialect may have.
const (
	asSent              = "as_sent"
	thinkTags           = "think_tags"
	drop                = "drop"
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// dialect is what a deployment says of itself, else what is known of its
// service and model.
func dialect(r *Resolved, d *Deployment) Dialect {
	up := &r.Provider.Upstream
	if up.Protocol != ProtocolOpenAI {
		// A translation writes and reads bodies of its own; instructions alone
		// may have no place in them.
		return Dialect{NoSystemRole: first(d.NoSystemRole, begins(r.UpstreamModel, up.Service.NoSystemRole))}
	}
	s := &up.Service
	out := Dialect{
		NoSystemRole: first(d.NoSystemRole, begins(r.UpstreamModel, s.NoSystemRole)),
		ThinkTags:    s.ThinkTags,
		DropFields:   s.Refused,
	}
	switch {
	case s.MaxTokens:
		out.MaxTokensField = maxTokens
	case s.MaxCompletionTokens && r.Reasoning:
		out.MaxTokensField = maxCompletionTokens
	}
	for _, set := range []struct {
		to   *string
		from string
	}{{&out.MaxTokensField, d.MaxTokensField}, {&out.EmbeddingFormat, d.EmbeddingFormat}} {
		switch set.from {
		case "":
		case asSent:
			*set.to = ""
		default:
			*set.to = set.from
		}
	}
	if d.Reasoning != "" {
		out.ThinkTags = d.Reasoning == thinkTags
	}
	switch d.HistoryReasoning {
	case asSent:
		out.DropFields = nil
	case drop:
		out.DropFields = reasoningFields
	}
	return out
}
