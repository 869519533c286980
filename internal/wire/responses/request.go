package responses

import (
	"slices"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// MaxOutput is the largest max_output_tokens that is taken; the rest is the
// upstream's to judge.
const MaxOutput = 1_000_000_000

// Request is what one scan found in a request body. It refers to the body,
// which must not change while the Request is in use.
type Request struct {
	// Model is the model as the client named it, never empty.
	Model string
	// Stream is true if the client asks for a stream; absent means false.
	Stream bool
	// MaxOutput is the largest number of output tokens that the client wants,
	// 0 if it names none.
	MaxOutput int64
	// TextBytes is the length in bytes, as UTF-8, of what the model will read as
	// text: the instructions, the messages, the calls with what they gave, and the
	// tools. Images, files and reasoning do not count, nor what the upstream keeps
	// of a conversation.
	TextBytes int64

	// What the request needs of a model.
	Tools      bool // tools are offered
	Vision     bool // an input_image part
	Audio      bool // an input_audio part
	Files      bool // an input_file part
	JSONSchema bool // text.format json_schema
	Reasoning  bool // a reasoning.effort other than none

	// Stored is false if the client asked the upstream not to keep the answer;
	// absent means true.
	Stored bool
	// Background asks for an answer that is fetched later.
	Background bool
	// Owned is what the request names of an upstream's state.
	Owned Owned
	// Native names the first thing for which the request needs an upstream of
	// this very protocol, as "previous_response_id" or "input[3].type"; it is
	// empty if a translation can serve the request.
	Native string

	// DisableFallbacks is the gateway's own field disable_fallbacks.
	DisableFallbacks bool

	// Session keys, as the client wrote them: of any length, not trusted.
	PromptCacheKey   string // prompt_cache_key
	SessionID        string // session_id
	LitellmSessionID string // litellm_session_id
	// MetadataSession is metadata.session_id, else
	// metadata.langfuse_session_id, else the session part of metadata.user_id,
	// else client_metadata.session_id.
	MetadataSession string
	// User is user, else safety_identifier: a person, not a session.
	User string

	body         []byte
	opening      request.Opening
	instructions span
	model        span
	own          [2]scan.Member
	owns         int
	foreign      []scan.Edit // that take out thoughts of other makers' models
}

// span is a place in a body; an empty one is none.
type span struct{ start, end int }

func (s span) there() bool { return s.end > s.start }

// Rewrite appends body, which must be the text that was scanned or a copy of
// it, to dst with model in the place of the client's and returns the longer
// slice; an empty model leaves it. The fields that are meant for a gateway
// (disable_fallbacks, litellm_session_id) are taken out, and so are reasoning
// items that another maker's model wrote (see [Foreign]); every other byte is the
// client's. It may be called many times and from several goroutines.
func (r *Request) Rewrite(dst, body []byte, model string) []byte {
	var room [4]scan.Edit
	edits := room[:0]
	if model != "" && model != r.Model {
		edits = append(edits, scan.Edit{Start: r.model.start, End: r.model.end, Text: scan.AppendString(nil, model)})
	}
	edits = append(scan.Remove(edits, body, r.own[:r.owns]...), r.foreign...)
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}

func byStart(a, b scan.Edit) int { return a.Start - b.Start }
