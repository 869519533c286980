package openai

import wire "gatewright/internal/wire/openai"

// Dialect is how the bodies of chat and embeddings have to differ for one
// deployment from those that clients send and expect. The zero value leaves them
// as they are and costs nothing. Of translated requests the translation takes
// care: see [Config.Translation].
type Dialect struct {
	// NoSystemRole: the model refuses system and developer messages; they become a
	// part of the first user message.
	NoSystemRole bool
	// MaxTokensField is the only name that the upstream knows for the output limit
	// of chat; "" = it knows the client's.
	MaxTokensField string
	// ThinkTags: answers of chat begin with what the model thought, between tags;
	// it is moved to reasoning_content.
	ThinkTags bool
	// DropFields are members of messages, and of their tool calls, that the
	// upstream refuses.
	DropFields []string
	// EmbeddingFormat is the only encoding_format that the upstream has; "" = it
	// has the client's. Answers in another format than the client's are converted
	// in any case.
	EmbeddingFormat string
}

// rewrite is what every request of chat, completions and embeddings needs.
func (c *Config) rewrite() wire.Rewrite {
	return wire.Rewrite{
		Model: c.Model, DropStreamOptions: !c.IncludeUsage, NoSystemRole: c.Dialect.NoSystemRole,
		MaxTokensField: c.Dialect.MaxTokensField, DropFields: c.Dialect.DropFields, EmbeddingFormat: c.Dialect.EmbeddingFormat,
	}
}
