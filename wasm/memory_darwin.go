package wasm

const noReserve = 0

// smallPages has nothing to ask for here.
func smallPages([]byte) {}
