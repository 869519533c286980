package openai

import (
	"cmp"
	"slices"

	"gatewright/internal/wire/scan"
)

// Rewrite is what a request needs to go to one upstream. The zero value takes
// out the gateway's own fields and nothing else.
type Rewrite struct {
	// Model replaces the model; empty leaves it.
	Model string
	// AddStreamUsage sets stream_options.include_usage, beside whatever else
	// stream_options holds.
	AddStreamUsage bool
	// DropStreamOptions takes stream_options out, for upstreams that refuse it.
	DropStreamOptions bool

	// NoSystemRole puts the texts of system and developer messages at the head
	// of the first user message, for models that refuse such messages.
	NoSystemRole bool
	// MaxTokensField is max_tokens or max_completion_tokens: the only name that
	// the upstream knows for the output limit of a chat. Empty leaves the
	// client's.
	MaxTokensField string
	// DropFields are members of messages and of their tool calls that the
	// upstream refuses: of reasoning_content, reasoning, reasoning_details,
	// thinking_blocks and extra_content. The list is only read.
	DropFields []string
	// EmbeddingFormat is float or base64: the only encoding_format that the
	// upstream has. The answer is turned into what the client wants by
	// [Answer.AppendEmbeddings]. Empty leaves the client's.
	EmbeddingFormat string
}

// Names of the output limit of a chat.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// Rewrite appends body, which must be the text that was scanned or a copy of
// it, to dst with the changes of w made and returns the longer slice. The
// fields that are meant for a gateway (disable_fallbacks, litellm_session_id)
// are taken out; every other byte is the client's. It may be called many times
// and from several goroutines.
func (r *Request) Rewrite(dst, body []byte, w Rewrite) []byte {
	var room [8]scan.Edit
	edits := room[:0]
	if w.Model != "" && w.Model != r.Model {
		edits = append(edits, scan.Edit{Start: r.model.start, End: r.model.end, Text: scan.AppendString(nil, w.Model)})
	}
	if w.AddStreamUsage && !r.IncludeUsage {
		edits = append(edits, r.addUsage())
	}
	var gone [len(r.own) + 3]scan.Member // of the body, to be taken out
	members := append(gone[:0], r.own[:r.owns]...)
	if w.DropStreamOptions && r.optionsMember.End > 0 {
		members = append(members, r.optionsMember)
	}
	if w.MaxTokensField != "" {
		edits, members = r.limitNamed(edits, members, body, w.MaxTokensField)
	}
	if w.EmbeddingFormat != "" {
		edits, members = r.encodedAs(edits, members, w.EmbeddingFormat)
	}
	if w.NoSystemRole && r.instructed || len(w.DropFields) > 0 && r.echoes {
		edits = append(edits, r.rewriteMessages(body, w)...)
	}
	slices.SortFunc(members, func(a, b scan.Member) int { return a.Index - b.Index })
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

// limitNamed gives the output limit the only name that the upstream knows. Of
// two limits the one that counts stays: max_completion_tokens.
func (r *Request) limitNamed(edits []scan.Edit, members []scan.Member, body []byte, name string) ([]scan.Edit, []scan.Member) {
	kept, gone, keptName := r.maxTokens, r.maxNewTokens, MaxTokens
	if gone.End > 0 && (kept.End == 0 || !isNull(body, gone)) {
		kept, gone, keptName = gone, kept, MaxCompletionTokens
	}
	if gone.End > 0 {
		members = append(members, gone)
	}
	switch {
	case kept.End == 0, keptName == name:
	case isNull(body, kept):
		members = append(members, kept)
	default:
		edits = append(edits, scan.Edit{Start: kept.KeyStart, End: keyEnd(body, kept.KeyStart), Text: scan.AppendString(nil, name)})
	}
	return edits, members
}

func isNull(body []byte, m scan.Member) bool { return body[m.Start] == 'n' }

// keyEnd returns the offset behind the quote that ends the key at start.
func keyEnd(body []byte, start int) int {
	i := start + 1
	for ; body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Values of encoding_format.
const (
	formatFloat  = "float"
	formatBase64 = "base64"
)

// encodedAs asks for the only format of embeddings that the upstream has.
// Numbers are what every upstream gives unasked; a format that nobody here can
// make is the upstream's to judge.
func (r *Request) encodedAs(edits []scan.Edit, members []scan.Member, format string) ([]scan.Edit, []scan.Member) {
	m, asked := r.encoding, cmp.Or(r.EncodingFormat, formatFloat)
	switch {
	case asked == format || asked != formatFloat && asked != formatBase64:
	case format == formatFloat:
		members = append(members, m)
	case m.End > 0:
		edits = append(edits, scan.Edit{Start: m.Start, End: m.End, Text: scan.AppendString(nil, format)})
	default:
		text := append(scan.AppendString([]byte(`"encoding_format":`), format), ',')
		edits = append(edits, scan.Edit{Start: r.open, End: r.open, Text: text})
	}
	return edits, members
}
