package meter

// Opcodes that the meter looks at or writes.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opLoadFirst    = 0x28
	opLoadLast     = 0x35
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI64LtS       = 0x53
	opI32DivS      = 0x6d
	opI32RemU      = 0x70
	opI64Sub       = 0x7d
	opI64DivS      = 0x7f
	opI64RemU      = 0x82
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opF32Sqrt      = 0x91
	opF32Div       = 0x95
	opF64Sqrt      = 0x9f
	opF64Div       = 0xa3
	opI32TruncF32S = 0xa8
	opI32TruncF64U = 0xab
	opExtendU      = 0xad // i64.extend_i32_u
	opI64TruncF32S = 0xae
	opI64TruncF64U = 0xb1
	opRefFunc      = 0xd2
	opPrefix       = 0xfc

	blockVoid = 0x40
	typeI32   = 0x7f
	typeI64   = 0x7e
)

// Opcodes behind the prefix 0xfc. Below subMemoryInit are the conversions that
// saturate.
const (
	subMemoryInit = 8
	subMemoryCopy = 10
	subMemoryFill = 11
	subTableInit  = 12
	subTableCopy  = 14
	subTableGrow  = 15
	subTableFill  = 17
)

// instruction is what the meter needs of an instruction.
type instruction struct {
	op    byte
	sub   uint32 // behind the prefix 0xfc
	index uint32 // of a function, local or global; the outermost label of a branch
}

// instruction reads one instruction and its immediates.
func (r *reader) instruction() (in instruction) {
	start := r.at
	in.op = r.byte()
	switch op := in.op; {
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= opGlobalSet, op == opRefFunc:
		in.index = r.u32()
	case op == opBrTable: // as many labels as it says, and the default
		for n := uint64(r.u32()) + 1; n > 0 && r.ok(); n-- {
			in.index = max(in.index, r.u32())
		}
	case op >= opBlock && op <= opIf: // block type
		r.skip(5)
	case op == opCallIndirect, op >= 0x28 && op <= 0x3e: // type and table; alignment and offset
		r.skip(5)
		r.skip(5)
	case op == 0x1c: // select with types
		r.take(r.u32())
	case op == 0x25, op == 0x26, op == 0x3f, op == opMemoryGrow, op == 0xd0, op == opI32Const: // table, memory, type, number
		r.skip(5)
	case op == opI64Const:
		r.skip(10)
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op == opPrefix:
		in.sub = r.u32()
		r.prefixed(in.sub, start)
	default:
		r.failAt(start, "an instruction that the budget does not cover")
	}
	return in
}

// prefixed reads the immediates of an instruction behind 0xfc.
func (r *reader) prefixed(sub uint32, start int) {
	switch {
	case sub < subMemoryInit:
	case sub == subMemoryInit, sub == subMemoryCopy, sub == subTableInit, sub == subTableCopy:
		r.skip(5)
		r.skip(5)
	case sub <= subTableFill:
		r.skip(5)
	default:
		r.failAt(start, "an instruction that the budget does not cover")
	}
}
