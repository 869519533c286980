// Package responses is the text of OpenAI's Responses protocol as it is spoken
// by OpenAI and by the services that follow it.
//
// Bodies pass through. [ScanRequest] reads in one pass what routing needs and
// [Request.Rewrite] cuts and inserts a few bytes; [CheckAnswer] judges a whole
// answer; a [Stream] follows a streamed one event by event. Each of them says
// which bytes are the client's and leaves the others as they are, so that
// fields, items and events nobody here knows keep working.
//
// The protocol keeps state at the upstream: answers, conversations, items and
// encrypted reasoning mean something only to the one that issued them. Requests
// and answers therefore say what they name of it (owned.go), so that a request
// can be sent to the deployment that its names come from.
//
// What proves a success is judged strictly: an answer that failed and a stream
// without its final event are none, whatever the status.
//
// How a request's body is walked over and refused, which is the same in other
// protocols, is package request's.
//
// There is no I/O here, no clock and no knowledge of providers. Read request.go
// for the way in and stream.go for the way out.
package responses
