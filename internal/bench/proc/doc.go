// Package proc starts processes on a core of their own, ends them, and reads
// from /proc what they used. Linux only: elsewhere it compiles, and says so when
// it is called.
//
// What never lives here: what a process is started for.
//
// Read process.go first, then usage.go (CPU time and memory of a process tree),
// cores.go (which core for whom) and pin_linux.go.
package proc
