// Package sdk holds what people build WebAssembly policies with: one file a
// language, c/gatewright.h, rust/gatewright.rs and assemblyscript/gatewright.ts,
// and the folder go/gatewright, each with the same two worked examples. The
// package itself only hands them out as files; its tests hold the four to one rule
// in Go, on the gateway's own sandbox.
//
// The layout in the four files is made from package abi by go generate ./wasm/abi.
// Nothing here imports the gateway. The Go files are of GOOS=wasip1 alone, so they
// are no part of the gateway's build; they have no go.mod, since a folder that has
// one cannot be embedded.
//
// Read README.md first, then the example in the language that you know.
package sdk
