// Package wasm is the room of the sandbox in which users' policies will run:
// bytes in, bytes out, bounded in memory and instructions. It never learns what
// a request or a candidate is.
//
// Nothing lives here yet; see package policies.
package wasm
