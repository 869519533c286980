// Package sse reads and writes server-sent events.
//
// [Reader] splits a byte stream into events whatever its framing: lines that
// end in LF, CRLF or CR, a byte order mark, fields with or without the space
// after the colon, several data lines, comments, and reads that end anywhere.
// [Append] and [AppendComment] write events in one canonical form.
//
// The package knows nothing of what an event's data means, keeps no clock and
// does no I/O but the reads of the io.Reader it was given. Read reader.go
// first.
package sse
