package check

import "fmt"

// feature is a part of the format, or an instruction, that no policy may use.
type feature struct{ what, fix string }

var (
	simd         = feature{"SIMD", "build without it: -mno-simd128, or -C target-feature=-simd128"}
	threads      = feature{"threads and shared memory", "build without atomics and without -pthread"}
	tailCalls    = feature{"tail calls", "build without -mtail-call"}
	exceptions   = feature{"exceptions", "build without them: -fno-exceptions, or panic=abort"}
	gc           = feature{"garbage collection and typed references", "use a compiler that manages memory itself"}
	multiMemory  = feature{"more than one memory", "build with one memory"}
	memory64     = feature{"64-bit memory or tables", "build for wasm32"}
	switching    = feature{"stack switching", "build without it"}
	changeTable  = feature{"an instruction that changes a table", "what it leaves behind cannot be reset between requests; keep the state in the memory"}
	dropSegment  = feature{"an instruction that drops a segment", "what it leaves behind cannot be reset between requests; leave the segment"}
	extendConst  = feature{"a constant that is computed", "build without extended-const"}
	mutableTable = feature{"a global that refers to a function and can change", "it cannot be reset between requests; keep an index in the memory"}
)

// refuse reports a feature, once for a module, and ends the reading: what
// follows is written in a way that this package does not know.
func (c *checker) refuse(r *reader, at int, f feature) {
	if !r.failed {
		c.rep.once(f.what, c.section, at, f.fix, "uses "+f.what+", which policies may not")
		r.stop()
	}
}

// over reports a limit that a function goes beyond.
func (c *checker) over(at, function int, what string, n int64, limit int, fix string) {
	c.rep.add(c.section, at, fix, "function %d has %d %s, the limit is %d", function, n, what, limit)
}

// valueType reads the type of a value.
func (c *checker) valueType(r *reader) byte {
	start := r.at
	switch t := r.byte(); t {
	case 0x7f, 0x7e, 0x7d, 0x7c, typeFuncref, typeExternref:
		return t
	case 0x7b:
		c.refuse(r, start, simd)
	case 0x69, 0x74:
		c.refuse(r, start, exceptions)
	case 0x63, 0x64, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73:
		c.refuse(r, start, gc)
	default:
		r.fail(start, fmt.Sprintf("%#x is not the type of a value", t), fixBroken)
	}
	return 0
}

const (
	typeFuncref   = 0x70
	typeExternref = 0x6f
	typeI32       = 0x7f
)

func typeName(t byte) string {
	switch t {
	case typeI32:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case typeFuncref:
		return "funcref"
	}
	return "externref"
}
