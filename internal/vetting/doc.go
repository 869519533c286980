// Package vetting has uploaded policies judged by another process: the same binary,
// on one processor, and at first only while nothing else wants that. It is kept for a
// while for the next upload.
//
// Compiling takes some ten milliseconds of a processor without a pause. Within the
// gateway that holds requests up, however little the scheduler of the system gives it:
// Go's own has two things to run on as few processors as a small machine has. It also
// keeps what a compiler may do with hostile bytes, as filling the memory, away from
// the requests.
package vetting
