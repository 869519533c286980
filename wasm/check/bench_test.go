package check_test

import (
	"testing"

	"gatewright/wasm/check"
)

func BenchmarkCheck(b *testing.B) {
	module := read(b, "guests", "opa-rank.wasm")
	p := check.OPA()
	b.SetBytes(int64(len(module)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := check.Check(module, p); err != nil {
			b.Fatal(err)
		}
	}
}
