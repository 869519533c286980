// Package check decides on the raw bytes of a Wasm module whether an engine may
// see it.
//
// Engines trust what they load: they allocate for the counts that a module
// claims, they take time that grows with the square of what some functions
// hold, and on malformed bytes they panic. So an uploaded module is read here
// first, against a [Profile]: the sections and their order, every count before
// anything is allocated for it, imports and exports against lists of names and
// exact signatures, the features of the format, the nesting and the cost of
// each function. [Check] reports all that is wrong, with section, offset and
// what to do, or gives an [Info] of what the module is made of.
//
// Types are not checked: that the code is valid is for the engine to say. No
// code is run, nothing is written, and no engine is imported here. What the
// names of the contract mean is not known here either, only their types.
//
// Read check.go first, then profiles.go for what is allowed.
package check
