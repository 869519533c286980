// Package openai is the text of the OpenAI protocol as it is spoken by OpenAI
// and by the many services that follow it: chat completions, the older
// completions, embeddings, and the byte routes.
//
// Bodies pass through. [ScanRequest] reads in one pass what routing needs and
// [Request.Rewrite] cuts and inserts a few bytes; [CheckAnswer] judges a whole
// answer; a [Stream] follows a streamed one chunk by chunk. Each of them says
// which bytes are the client's and leaves the others as they are, so that
// fields nobody here knows keep working. Where a service departs from the
// protocol in a way that clients stumble over, the departure is mended on the
// way (message.go, calls.go). What only some services want is done where the
// caller says so, and costs nothing elsewhere: a [Rewrite] can give requests
// other fields (rewrite.go), thoughts between tags are told apart from what an
// answer says (think.go), and embeddings change their encoding (embedding.go).
//
// Images, audio, moderations and rerank, the byte routes, are read even less:
// [ScanRaw] finds the model in JSON or in a form, [CheckRaw] looks for an error
// in a JSON answer, a [RawStream] follows a streamed one (raw*.go).
//
// What proves a success is judged strictly: an answer or a stream without a
// choice, without an end or with an error inside is none, whatever its status.
//
// How a request's body is walked over and refused, which is the same in other
// protocols, is package request's.
//
// There is no I/O here, no clock and no knowledge of providers. Read request.go
// for the way in and stream.go for the way out.
package openai
