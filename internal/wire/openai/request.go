package openai

import (
	"cmp"
	"slices"

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

	body    []byte
	opening opening

	open          int // offset behind the brace that opens the body
	model         span
	options       span        // stream_options, if present
	optionsMember scan.Member // the same with its key; zero = absent
	optionsOpen   int         // offset behind its brace, 0 if it is null
	optionsBare   bool        // it has no members
	usage         span        // stream_options.include_usage, if present
	own           [2]scan.Member
	owns          int
}

// span is a place in a body; an empty one is none.
type span struct{ start, end int }

func (s span) there() bool { return s.end > s.start }

// Rewrite is what a request needs to go to one upstream.
type Rewrite struct {
	// Model replaces the model; empty leaves it.
	Model string
	// AddStreamUsage sets stream_options.include_usage, beside whatever else
	// stream_options holds.
	AddStreamUsage bool
	// DropStreamOptions takes stream_options out, for upstreams that refuse it.
	DropStreamOptions bool
}

// Rewrite appends body, which must be the text that was scanned or a copy of
// it, to dst with the changes of w made and returns the longer slice. The
// fields that are meant for a gateway (disable_fallbacks, litellm_session_id)
// are taken out; every other byte is the client's. It may be called many times
// and from several goroutines.
func (r *Request) Rewrite(dst, body []byte, w Rewrite) []byte {
	var room [6]scan.Edit
	edits := room[:0]
	if w.Model != "" && w.Model != r.Model {
		edits = append(edits, scan.Edit{Start: r.model.start, End: r.model.end, Text: scan.AppendString(nil, w.Model)})
	}
	if w.AddStreamUsage && !r.IncludeUsage {
		edits = append(edits, r.addUsage())
	}
	var gone [len(r.own) + 1]scan.Member
	members := append(gone[:0], r.own[:r.owns]...)
	if w.DropStreamOptions && r.optionsMember.End > 0 {
		members = append(members, r.optionsMember)
		slices.SortFunc(members, func(a, b scan.Member) int { return a.Index - b.Index })
	}
	edits = scan.Remove(edits, body, members...)
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}

// byStart orders edits; an insertion goes before a removal at the same place.
func byStart(a, b scan.Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) }

var (
	usageTrue    = []byte("true")
	usageMember  = []byte(`"include_usage":true`)
	usageFirst   = []byte(`"include_usage":true,`)
	usageObject  = []byte(`{"include_usage":true}`)
	usageOptions = []byte(`"stream_options":{"include_usage":true},`)
)

func (r *Request) addUsage() scan.Edit {
	switch {
	case r.usage.there():
		return scan.Edit{Start: r.usage.start, End: r.usage.end, Text: usageTrue}
	case r.optionsOpen > 0 && r.optionsBare:
		return scan.Edit{Start: r.optionsOpen, End: r.optionsOpen, Text: usageMember}
	case r.optionsOpen > 0:
		return scan.Edit{Start: r.optionsOpen, End: r.optionsOpen, Text: usageFirst}
	case r.options.there():
		return scan.Edit{Start: r.options.start, End: r.options.end, Text: usageObject}
	}
	return scan.Edit{Start: r.open, End: r.open, Text: usageOptions}
}
