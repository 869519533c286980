// Package mock is the upstream of a benchmark: it answers chat requests as an
// OpenAI-compatible provider does, at a small part of the cost of anything that
// stands before it. It has a healthy path, which answers at once, and limited
// ones, which refuse each request with status 429.
//
// What never lives here: faults of other kinds, which `gatewright simulate` plays.
//
// Read upstream.go first, then script.go (the bytes that are sent).
package mock
