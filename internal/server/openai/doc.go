// Package openai serves OpenAI's protocol: chat completions, completions,
// embeddings, the byte routes (images, audio, moderations, rerank), the list of
// models, and Responses, which are a room of their own: what upstreams keep of
// them has owners, and their streams end in other words.
//
// What lives here: reading a body of the protocol into the engine's request,
// the list of models that a key may use, and errors in the protocol's shape.
// What never does: choosing or calling a deployment, and anything that another
// protocol needs too; that is package server's.
//
// Read room.go first, then generate.go (the way of a request), raw.go (that of a
// byte route), and responses.go with owner.go.
package openai
