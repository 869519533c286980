// Package abi is the contract between the gateway and a policy, version 1: what
// a policy is given, in which bytes or which JSON, and what it may answer.
//
// The tables [Header] and [Record] are its only source. Everything else is made
// from them: the offsets in offsets.go, docs/wasm-abi.md, the JSON Schemas of
// both inputs. A field is only ever added, behind the last one; what a field
// means never changes within a major version.
//
// [Encode] writes an [Input] straight into a guest's memory, [AppendJSON] writes
// the same as JSON. What of a list of candidates stays the same from one request to
// the next is written once, as a [Roster]. [Result] reads what the guest left there and believes none of
// it. Nothing here runs a policy, knows an engine or learns what a deployment
// is; nothing allocates once its buffers have grown.
//
// Read layout.go first, then encode.go and result.go.
package abi

//go:generate go run ./gen ../..
