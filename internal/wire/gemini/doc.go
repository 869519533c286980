// Package gemini is the text of Google's generateContent protocol as an
// upstream speaks it: answers, streams and errors.
//
// No client of the gateway speaks it, so nothing passes through: a body is read
// into an [Answer] that a translation turns into the client's protocol.
// [CheckAnswer] judges a whole answer, a [Stream] follows a streamed one chunk
// by chunk, and [ParseError] reads an error answer with the wait that Google
// puts into its body.
//
// What proves a success is judged strictly. An answer without a candidate is
// none unless it says that the prompt was blocked, and a candidate that holds
// nothing must say why.
//
// There is no I/O here, no clock and no knowledge of providers. Read answer.go
// first, then stream.go.
package gemini
