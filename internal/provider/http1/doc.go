// Package http1 makes HTTP/1.1 calls over plain TCP. It does what net/http's
// transport does for an upstream of that kind, and spares what that one needs to
// be general: no goroutine stands behind a connection, a request goes out in one
// write, and the goroutine that asks is the one that reads.
//
//	Do ─▶ Origin: a kept connection, the last one first, or a new one
//	        └─▶ conn: look whether it is still open, write, wait for the answer
//	              └─▶ exchange: the head, then the body as the caller reads it
//	                    └─▶ Origin: kept again, once the body has ended well
//
// What lives here: the text of requests, the reading of answers and all of their
// framing, and the life of connections.
//
// What never does: TLS, proxies, HTTP/2, redirects, cookies, decoding, and the
// decision to send a request again. A caller that needs one of these takes
// net/http.
//
// # What is refused
//
// Wherever two readers could differ about where an answer ends, it is malformed,
// because the bytes behind it would be taken for the answer to somebody else:
// a length beside the chunked coding, lengths that differ, another coding, any
// coding in HTTP/1.0, folded lines, blanks in or behind a name, control
// characters, sizes of chunks that are no plain hexadecimal, line feeds alone
// within the chunked coding. net/http lets some of these pass. Heads, trailers
// and the overhead of chunks are bounded.
//
// # Bytes nobody asked for
//
// Before a kept connection is used it is looked at without waiting. If it has
// been closed, or holds even one byte, it is dropped and the next is taken: the
// request has not been sent, so that nothing is repeated. What arrives after that
// look is the answer.
//
// Read origin.go first, then exchange.go and conn.go.
package http1
