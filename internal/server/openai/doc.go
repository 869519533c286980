// Package openai serves OpenAI's protocol: chat completions, completions,
// embeddings and the list of models.
//
// What lives here: reading a body of the protocol into the engine's request,
// the list of models that a key may use, and errors in the protocol's shape.
// What never does: choosing or calling a deployment, and anything that another
// protocol needs too; that is package server's.
//
// Read room.go first, then generate.go (the way of a request).
package openai
