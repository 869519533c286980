// Package request is what reading a request has in common in all protocols that
// clients speak: how a body is walked over, which of its members are refused and
// in what words, and what tells one conversation from another.
//
// A protocol's scanner embeds a [Reader] and keeps for itself what its fields
// are called and what they mean. It hands back an [Error], the one type for what
// is wrong with a request whatever its protocol; how the protocol writes the
// names of parameters is the only difference, and [Names] makes it.
//
// A few readings of single values serve answers as well (value.go, usage.go),
// and so does [Foreign], which the gateway writes into answers and finds again
// in the requests that follow.
//
// Nothing here knows the fields of any protocol, and there is no I/O. Read
// reader.go first.
package request
