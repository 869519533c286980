// Package owner remembers which deployment issued what its clients may name
// later: the id of an answer that an upstream keeps, a conversation, an item, an
// encrypted content. Only that deployment can continue it, so the request goes
// there and nowhere else.
//
// Everything is remembered per caller (org, team and key): what one caller was
// given does not exist for another. Only hashes are kept, for 30 days, at most
// as many as Options.Max. Look-ups answer from memory; a table keeps what must
// outlive the process and is read once, at the start.
//
// What never lives here: what a protocol calls these things, and what is done
// with a request whose owner is not known. Read registry.go first, then
// persist.go.
package owner
