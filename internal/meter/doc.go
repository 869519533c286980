// Package meter keeps account of finished requests. It takes each decision off
// the request path and writes one log line of it.
//
// What lives here: the recorder that the engine hands decisions to, and the
// form of the log line. What never does: anything that a request waits for,
// and any text of a prompt, an answer or a secret: a line holds names, numbers
// and reasons only, and has at most 10,000 bytes.
//
// Read recorder.go first (queue, goroutine, what is dropped), then line.go (the
// fields), list.go (how lists are cut) and encode.go (the bytes; attrs.go where
// another handler makes them).
package meter
