// Package http1 reads HTTP/1.1 messages from kept connections, for the load and
// the upstream of a benchmark: both share a core, and what they spare lets more
// of what is measured show. It knows what the benchmark meets and refuses the
// rest: no upgrade, no obsolete folding, bounded heads and bodies.
//
// What never lives here: a connection's life, or what a body means.
package http1
