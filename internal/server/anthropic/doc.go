// Package anthropic serves Anthropic's protocol: messages, the counting of their
// tokens, and the list of models, in both of its interface versions.
//
// What lives here: reading a body of the protocol into the engine's request,
// what of a client's headers goes upstream, and errors in the protocol's shape.
// What never does: choosing or calling a deployment, the translation for one
// that speaks another protocol, and anything that another protocol needs too;
// that is package server's.
//
// Read room.go first, then messages.go (the way of a request).
package anthropic
