// Package openai calls upstreams that speak OpenAI's protocol, Azure's paths
// and headers included. Its [Adapter] is made for one deployment.
//
// The client's body goes upstream as it came, with the model's name and a few
// fields spliced; the answer comes back the same way. What must be judged (is
// this an answer, does it refuse, what did it use) is found by scanning, in
// the package wire/openai. What an upstream of another mind sends is brought
// into form: an event stream where one JSON was asked for is folded, one JSON
// where a stream was asked for is unfolded, compressed bodies are decoded.
//
// The byte routes (images, audio, moderations, rerank) go through raw.go: of their
// answers JSON is held and looked into, events are passed on one by one, and
// everything else as it comes.
//
// Responses go through responses.go and events.go, what is asked of those that the
// upstream keeps through stored.go. What it issues that clients may name later is
// told to an [Issues] before the client sees it.
//
// What the upstream does not take as it is (Messages; Responses where it has only
// chat, and the reverse) goes through package translation.
//
// What never lives here: repeats, failover, limits of time, what a failure
// means for the request. Read adapter.go first.
package openai
