// Package translate turns requests, answers and streams of one protocol into
// those of another: chat completions, Messages, Gemini, Responses.
//
// Everything goes through one neutral form, so that a protocol needs one
// [Codec] and not one for each pair. On the way in the client's protocol
// decodes the request and the upstream's encodes it; on the way out the
// upstream's protocol decodes the answer, whole or event by event, and the
// client's encodes it. Same to same never comes here: those bodies are spliced
// by the package of the protocol.
//
// Nothing is bent in silence. What a protocol has and the other has not is
// either dropped by a documented rule and listed as a [Loss], or refused: with
// an *[UnsupportedError] if only the translation is at fault, with an
// *[InvalidError] if the request is wrong in its own protocol. The table of
// docs/protocols.md is checked against this package.
//
// There is no I/O here, no clock and no knowledge of providers. Read neutral.go
// for the form, codec.go for what a protocol must give, and a codec, such as
// messages_request.go, for how.
package translate
