// Package config reads the configuration file: YAML or JSON text in, one typed
// File or a list of every fault out.
//
// What lives here: the types of the file with their defaults and limits, the
// strict reader, the rules between sections (references, cycles, duplicates),
// the presets of known providers, the merge of all levels into what one
// deployment comes to (Resolve), the configuration made from the environment
// alone, and the watch on the file. The sub-package catalog knows prices and
// limits of public models.
//
// What never does: opening listeners or calling providers, building the routing
// snapshot (that is the business of whoever imports this package), and anything
// of the engine. Secrets leave this package only as Secret, which prints ***.
//
// The way of a file: Parse bounds and parses the text into nodes that carry line
// and column; a decoder walks them along the struct types, whose tags say what
// each value may be; then check.go applies the rules between sections. Nothing
// stops at the first fault.
//
// Read file.go first (what there is), then load.go (the way), decode.go and
// scalar.go (the reader), and check.go (the rules).
package config
