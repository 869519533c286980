package anthropic

import (
	"cmp"
	"slices"

	"gatewright/internal/wire/scan"
)

// MaxOutput bounds max_tokens; whether a model can give as much is the
// upstream's to judge.
const MaxOutput = 1_000_000_000

// Request is what one scan found in a request body. It refers to the body,
// which must not change while the Request is in use.
type Request struct {
	// Model is the model as the client named it, never empty.
	Model string
	// Stream is true if the client asks for a stream; absent means false.
	Stream bool
	// MaxOutput is max_tokens; 0 for the counting of tokens, which has none.
	MaxOutput int64
	// TextBytes is the length in bytes, as UTF-8, of what the model will read as
	// text: the system text, the blocks of the messages with calls and their
	// results, and the tools. Images and files do not count.
	TextBytes int64

	// What the request needs of a model.
	Tools      bool // tools are offered
	Vision     bool // an image block
	Files      bool // a document block that is more than text
	JSONSchema bool // output_config.format json_schema
	Reasoning  bool // thinking other than disabled

	// Native names the first thing for which the request needs an upstream of
	// this protocol; empty if a translation will do.
	Native string

	// DisableFallbacks is the gateway's own field disable_fallbacks.
	DisableFallbacks bool

	// Session keys, as the client wrote them: of any length, not trusted.
	SessionID        string // session_id
	LitellmSessionID string // litellm_session_id
	// MetadataSession is metadata.session_id, else metadata.langfuse_session_id,
	// else the session part of metadata.user_id.
	MetadataSession string
	// User is metadata.user_id as it stands, with the session if it holds one.
	User string

	body    []byte
	opening opening
	model   span
	own     [2]scan.Member
	owns    int
	foreign []scan.Edit // that take out what another maker's model thought
	budget  span        // thinking, if it has a budget and the messages, without that, want none
}

// native notes that the request needs an upstream of this protocol.
func (r *Request) native(what string) {
	if r.Native == "" {
		r.Native = what
	}
}

// span is a place in a body; an empty one is none.
type span struct{ start, end int }

func (s span) there() bool { return s.end > s.start }

// Rewrite is what a request needs to go to one upstream.
type Rewrite struct {
	// Model replaces the model; empty leaves it.
	Model string
}

// Rewrite appends body, which must be the text that was scanned or a copy of
// it, to dst with the changes of w made and returns the longer slice. The
// fields that are meant for a gateway (disable_fallbacks, litellm_session_id)
// and thinking blocks with a [Foreign] signature are taken out, for the service
// refuses what it does not know; so is a budget for thinking when the turn that the
// model is to go on from lost its thought that way. Every other byte is the client's. It may be
// called many times and from several goroutines.
func (r *Request) Rewrite(dst, body []byte, w Rewrite) []byte {
	var room [4]scan.Edit
	edits := room[:0]
	if w.Model != "" && w.Model != r.Model {
		edits = append(edits, scan.Edit{Start: r.model.start, End: r.model.end, Text: scan.AppendString(nil, w.Model)})
	}
	edits = scan.Remove(edits, body, r.own[:r.owns]...)
	edits = append(edits, r.foreign...)
	if r.budget.there() {
		edits = append(edits, scan.Edit{Start: r.budget.start, End: r.budget.end, Text: noThinking})
	}
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}

// byStart orders edits; an insertion goes before a removal at the same place.
func byStart(a, b scan.Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) }
