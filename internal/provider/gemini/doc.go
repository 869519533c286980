// Package gemini calls upstreams that speak Google's generateContent protocol. Its
// [Adapter] is made for one deployment. No client speaks that protocol, so every
// request is translated.
//
// What never lives here: the text of the protocol (wire/gemini, wire/translate),
// repeats, failover, limits of time. Read adapter.go.
package gemini
