package openai

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// Limits of the values that are checked here; the rest is the upstream's to
// judge.
const (
	MaxChoices = 128           // of n
	MaxOutput  = 1_000_000_000 // tokens, of max_completion_tokens and max_tokens
)

// TokenBytes is what a token counts in [Request.TextBytes] where a request
// holds tokens instead of text.
const TokenBytes = 4

// Request is what one scan found in a request body. It refers to the body,
// which must not change while the Request is in use.
type Request struct {
	// Model is the model as the client named it, never empty.
	Model string
	// Stream is true if the client asks for a stream; absent means false.
	Stream bool
	// IncludeUsage is stream_options.include_usage.
	IncludeUsage bool
	// MaxOutput is the largest number of output tokens that the client wants,
	// 0 if it names none.
	MaxOutput int64
	// N is the number of choices, 1 if the client names none.
	N int
	// TextBytes is the length in bytes, as UTF-8, of what the model will read as
	// text: the contents of messages with their tool calls, the prompt or the
	// input, and the tools. Images, sound and files do not count.
	TextBytes int64

	// What the request needs of a model.
	Tools      bool // tools or functions are offered
	Vision     bool // an image_url part
	Audio      bool // an input_audio part, or sound as output
	Video      bool // a video_url part
	Files      bool // a file part
	JSONSchema bool // response_format json_schema
	Reasoning  bool // reasoning_effort other than none

	// DisableFallbacks is the gateway's own field disable_fallbacks.
	DisableFallbacks bool

	// Session keys, as the client wrote them: of any length, not trusted.
	PromptCacheKey   string // prompt_cache_key
	SessionID        string // session_id
	LitellmSessionID string // litellm_session_id
	// MetadataSession is metadata.session_id, else
	// metadata.langfuse_session_id, else the session part of metadata.user_id.
	MetadataSession string
	// User is user, else safety_identifier: a person, not a session.
	User string

	// EncodingFormat is the encoding_format of an embeddings request, empty if
	// the client names none, which means "float".
	EncodingFormat string

	body    []byte
	opening request.Opening

	open          int // offset behind the brace that opens the body
	model         span
	options       span        // stream_options, if present
	optionsMember scan.Member // the same with its key; zero = absent
	optionsOpen   int         // offset behind its brace, 0 if it is null
	optionsBare   bool        // it has no members
	usage         span        // stream_options.include_usage, if present
	own           [2]scan.Member
	owns          int

	input        span        // messages, prompt or input
	maxTokens    scan.Member // zero = absent, as in the next two
	maxNewTokens scan.Member // max_completion_tokens
	encoding     scan.Member // encoding_format
	instructed   bool        // a message is the system's or the developer's
	echoes       bool        // a message or a call holds what models think
}

// span is a place in a body; an empty one is none.
type span struct{ start, end int }

func (s span) there() bool { return s.end > s.start }
