package policies

// Format is what was uploaded.
type Format string

// The formats.
const (
	FormatRego   Format = "rego"   // text of one file
	FormatWasm   Format = "wasm"   // a module of the ABI, or one that OPA's compiler made
	FormatBundle Format = "bundle" // an OPA bundle, .tar.gz
)

// Kind is which of the two questions a policy answers.
type Kind string

// The kinds. A policy is one of them, never both.
const (
	Admission Kind = "admission" // who may serve
	Ranking   Kind = "ranking"   // who is tried first
)
