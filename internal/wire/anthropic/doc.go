// Package anthropic is the text of Anthropic's Messages protocol, in both of
// its interface versions, as it is spoken by Anthropic and by the services that
// follow it: messages, their streams, and the counting of tokens.
//
// Bodies pass through. [ScanRequest] reads in one pass what routing needs and
// [Request.Rewrite] cuts and inserts a few bytes; [CheckAnswer] judges a whole
// answer; a [Stream] follows a streamed one event by event. Each of them says
// which bytes are the client's and leaves the others as they are, so that
// fields, blocks and events nobody here knows keep working.
//
// What proves a success is judged strictly: an answer or a stream without a
// message, without an end or with an error inside is none, whatever its status.
// What the makers' own libraries stop at, such as a message that begins twice,
// is not passed on.
//
// How a request's body is walked over and refused, which is the same in other
// protocols, is package request's.
//
// There is no I/O here, no clock and no knowledge of providers. Read request.go
// for the way in and stream.go for the way out.
package anthropic
