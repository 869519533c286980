// Package tokens says how many tokens a text, or a whole request, has for a
// model: roughly from its length, and nearly or exactly with a tokenizer.
//
// [Size] is for every request: how many bytes a token stands for, at most, so
// that a length divided by it errs low. [Count] and [CountRequest] run a
// tokenizer over the text, at some megabytes a second, and are for where the
// number itself is asked for or decides something. [AtLeast] is CountRequest for
// such a decision: it errs low where CountRequest is only near.
//
// OpenAI's tokenizers are public and the counts of text for its models are
// exact. For other makers OpenAI's newest stands in, scaled by what is published
// of theirs; family.go names the sources.
//
// What lives here: families of models, tokenizers, and what in a body a model
// reads. What never does: I/O, the state of a request, and what is routed where.
// The fields of Messages, chat completions and Responses are few and do not
// clash, so one walk reads all three. Read family.go first, then request.go.
package tokens
