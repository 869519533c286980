// Command bench measures what the gateway costs: the CPU time of its processes
// per 1,000 requests, as a multiple of a bare Go reverse proxy's in the same
// run, so that the figure means the same on every machine. It is a module of
// its own, needs the standard library alone, imports no room of the gateway and
// drives the built binary.
//
//	go run -C internal/bench .
//
// The binary plays every part: called as "bench mock", "bench ref" or "bench
// load" it is the upstream, the reverse proxy or the load generator of a run
// that another one directs.
//
// Read suite/suite.go first (the order of a run), then suite/works.go (what is
// measured). What each part does:
//
//	suite   directs a run: starts the processes, interleaves passes
//	load    sends requests, verifies every answer, accounts the process tree
//	mock    the upstream; dialog is what it says, which load verifies
//	ref     the reverse proxy that figures are multiples of
//	http1   HTTP/1.1 on kept connections, as cheap as it can be; for mock and load
//	proc    processes: pinned start, end, CPU time and memory from /proc
//	report  medians, ratios, spread, the table
package main
