// Package prompt reads out of a request what rules may be granted to see: the
// text of the conversation, the metadata, a header. It knows chat completions,
// Messages and Responses by their shape, and reads only when it is asked.
//
// It does not know what a rule is, and nothing here is kept.
package prompt
