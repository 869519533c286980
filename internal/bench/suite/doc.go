// Package suite directs a run: it starts upstream, yardstick and gateways on
// their cores, lets the load run against one after the other, pass by pass, and
// ends every process that it started, whatever happens.
//
// What never lives here: how a request is sent, or what figures become.
//
// Read suite.go first (the order of a run), then works.go (what is measured),
// then target.go (how what is measured is started).
package suite
