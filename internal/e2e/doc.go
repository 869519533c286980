// Package e2e drives the built binary from outside, as its users do: real
// SDKs, real sockets, kill and restart. It is a module of its own, so that
// what it needs stays out of the gateway's dependencies, and it imports no
// room of the gateway: the one package that it shares, internal/wire/recorded, is for
// tests and knows no room either. It needs a Unix system; what needs Linux says so.
//
// Read binary_test.go first (a process and its log), then simulator_test.go (its
// upstreams), caller_test.go and talker_*_test.go (its clients). The tests that
// begin with protocols_ drive every client against an upstream of every protocol;
// those that begin with recorded_ give them what real services have answered; those
// with the build tag node need `npm ci` in the folder node.
//
// Tests that hold the gateway under load, faults and kills do a part of it each
// time and the whole with GATEWRIGHT_SOAK=1 (`make soak`); -v shows their
// figures, the load beside each. GATEWRIGHT_SOAK_TIME=5m bounds the longest,
// GATEWRIGHT_SEED plays random choices again, GATEWRIGHT_RACE=1 builds the
// gateway with the race detector.
//
// Deadlines in these tests are many times the goals that they print: a busy
// machine is no fault of the gateway.
package e2e
