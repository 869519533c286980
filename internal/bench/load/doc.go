// Package load sends requests to one endpoint, verifies every answer and every
// stream to its end, and accounts what the process tree behind the endpoint used
// meanwhile.
//
// A job is a closed loop (each connection sends its next request when it has its
// answer), an open loop (requests come at a fixed rate, whether or not answers
// do), or an exact number of requests.
//
// What never lives here: what is measured in which order, or what figures mean.
//
// Read job.go first, then run.go (the loops) and client.go (one connection).
package load
