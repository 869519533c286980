// Package fault reads the error answers of all makers of model services and
// says which kind of failure each one is.
//
// The shapes differ (an error object, a text, an array, JSON inside a message,
// an HTML page of a proxy in between) and so do the words; a status says little
// by itself: 429 may mean "too fast" or "no money", 400 may mean that the
// prompt is too long, that the account is empty or that the key is wrong.
// [Parse] brings them to one [Fault] with a [Kind] that decides what the
// gateway does next.
//
// A body is foreign text: Parse looks at a bounded part of it, never fails, and
// lets no markup, control byte or credential through in the message.
//
// What a kind leads to (retries, failover, the caller's status) is not decided
// here. Read fault.go first, then classify.go, which holds the order of the
// rules.
package fault
