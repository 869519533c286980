// Package e2e drives the built binary from outside, as its users do: real
// SDKs, real sockets, kill and restart. It is a module of its own, so that
// what it needs stays out of the gateway's dependencies, and it imports no
// room of the gateway.
package e2e
