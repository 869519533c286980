// Package exchange is what the adapters share of an HTTP exchange with an
// upstream, whatever protocol they speak.
//
//	Service: how one deployment is reached: address, headers, credentials, limits
//	Exchange: one call: Send, then Read: the answer's status, encoding and kind
//	  └─▶ Reader: the adapter's own: the answer Whole, Folded, Streamed, Unfolded
//	Events: the events of a stream, without comments, with an end that is told
//
// What lives here: decoding of compressed bodies, finding out what an answer is
// that does not say so, error answers and the time they may take, keeping the
// provider's secrets out of everything that came from upstream, headers both
// ways.
//
// What never does: a protocol's text, the paths below an address, repeats and
// failover.
//
// Read exchange.go first, then service.go.
package exchange
