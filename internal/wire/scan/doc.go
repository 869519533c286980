// Package scan reads JSON text in place, in one pass and without building
// anything, and edits it by cutting and inserting bytes.
//
// A gateway forwards most bodies as they are: it reads a few fields and
// replaces fewer. [Cursor] walks to those fields and skips the rest, [Object] does
// so with a callback, and [Splice] makes the new text; every byte that no edit
// names is copied unchanged.
//
// The whole text is checked while it is walked. What ends without an error is
// valid JSON by the rules of encoding/json, nested no deeper than the caller
// allows. Like encoding/json, the package accepts bytes that are not UTF-8
// inside strings as long as nobody asks for such a string's value.
//
// Nothing here knows the fields of any protocol. Read cursor.go first.
package scan
