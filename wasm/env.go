package wasm

import (
	"gatewright/wasm/check"
)

// Modules of OPA's compiler import their memory, and the engine's host modules
// can export functions alone. So each instance gets a small module between: it
// owns the memory, and exports the host's functions again.

const (
	envModule  = "env" // what OPA's modules import from
	hostModule = "opa" // where the module between has the functions from
)

// envBytes is that module, with a memory of so many pages.
func envBytes(minimum, maximum uint32) []byte {
	var types, imports, exports [][]byte
	for _, e := range check.OPA().Imports {
		if e.Kind != check.ExternFunc {
			continue
		}
		n := byte(len(imports)) //nolint:gosec // a handful
		params, results := signature(e.Type)
		types = append(types, concat([]byte{0x60}, vector(params), vector(results)))
		imports = append(imports, concat(vector([]byte(hostModule)), vector([]byte(e.Name)), []byte{0, n}))
		exports = append(exports, concat(vector([]byte(e.Name)), []byte{0, n}))
	}
	exports = append(exports, concat(vector([]byte("memory")), []byte{2, 0}))
	memory := concat([]byte{1, 1}, unsigned(minimum), unsigned(maximum))
	return concat(
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, list(types)), section(2, list(imports)), section(5, memory), section(7, list(exports)),
	)
}

func section(id byte, body []byte) []byte { return append([]byte{id}, vector(body)...) }

// list is a vector of encoded entries.
func list(entries [][]byte) []byte {
	return append(unsigned(uint32(len(entries))), concat(entries...)...) //nolint:gosec // a handful
}

// vector is bytes with their number in front.
func vector(b []byte) []byte { return append(unsigned(uint32(len(b))), b...) } //nolint:gosec // short

func unsigned(n uint32) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func concat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
