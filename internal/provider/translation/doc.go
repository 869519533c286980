// Package translation serves the requests of clients of one protocol on an
// upstream of another. It is what the adapters share of it; between like
// protocols bodies are spliced by the adapter itself.
//
//	Translator.Do: the client's request ─▶ neutral (once a request) ─▶ the upstream's
//	  └─▶ answer, an exchange.Reader: whole, folded, streamed, unfolded, in the
//	      client's protocol and under the public model name
//	Translator.Count: the tokens of a request, counted by the upstream or here
//
// What a translation leaves out goes into the call's note, and so into the
// decision. What it cannot carry makes the deployment unfit for the request.
//
// What lives here: which payload is of which protocol, the way of a call through
// two codecs, what failures of a foreign upstream keep. What never does: the text
// of a protocol (wire/translate and the packages of the protocols), addresses
// and headers (the adapters).
//
// Read translator.go first, then answer.go and stream.go.
package translation
