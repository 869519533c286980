// Package meter writes an instruction budget into a Wasm module.
//
// An engine's own deadline makes loops slow and does not stop everything: a
// tree of calls without a loop, or bulk instructions in a straight line, run on.
// A budget that is part of the module stops whatever runs, at the same
// instruction on every machine and in every engine, so it can also be part of a
// decision that is replayed.
//
// # The rule
//
// [Instrument] adds a global, exported as [Budget], and charges it at points in
// the code. A point subtracts what the code ahead of it costs, up to the next
// point, and traps if the budget is negative then. Points stand
//
//   - at the entry of each function;
//   - at the head of each loop, where it is passed in every turn;
//   - behind a place where a branch may go elsewhere: in the arms of an if,
//     behind br_if, and behind the end of a block that something inside it
//     leaves for further out. Such a point is dropped, and the one before it
//     charges for its code too, as long as no point charges for more than 256
//     units that a branch may skip.
//
// Between two points code can only run straight ahead or out of the block, so
// what is charged is never less than what runs, and it is more by 256 units a
// point at most. Code behind an unconditional branch costs nothing: it cannot
// run.
//
// An instruction costs one unit, also end and its like. Loads, conversions,
// divisions, calls through a table and calls of the host cost more, and so does
// entering a function, by its locals: cost.go has the table. memory.fill,
// memory.copy and memory.init are charged by their length before they start, one
// unit for 8 bytes, and memory.grow 1,024 units for a page.
//
// A unit is at most about a nanosecond of compiled code, and a tenth of that in
// code that computes: 2 million units end after 2 ms at the latest.
//
// # What else changes
//
// A start function becomes the export [Start]; the host calls it. The module's
// mutable globals get exports, see [State], so that the host can put them back.
// All that is added stands behind what there was, so no index changes. Custom
// sections go, but for the manifest and the names of functions.
//
// The package knows no engine and runs nothing. Read meter.go first, then
// points.go for where the points stand.
package meter
