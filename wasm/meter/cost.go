package meter

// Costs in units. A unit is one plain instruction, which takes the engine's
// compiled code a nanosecond at the very most and a tenth of that as a rule.
// What can take much longer costs more, so that a budget bounds time and not
// only a count; and a frame costs more than its instructions, so that it bounds
// the stack. The numbers are part of what makes a decision replayable.
const (
	costPlain    = 1
	costLoad     = 4   // reading the memory, which may be far from the processor
	costConvert  = 2   // floats to integers: the range is checked
	costDivide   = 8   // division, remainder and square root
	costIndirect = 8   // a call through a table: bounds, null and signature are checked
	costFrame    = 32  // entering a function; besides, 1 for each parameter and local and
	costResult   = 2   // this for each result
	costHostCall = 128 // calling a function of the host
	costLeave    = 256 // ref.func, table.grow: the engine leaves the compiled code
	costBulk     = 16  // a bulk instruction, besides its length
	costGrow     = 512 // memory.grow, besides the pages
)

// What an instruction does to a length costs more with the length, which
// stands on top of the stack when the instruction starts.
const (
	bulkShift = 3  // memory.fill, memory.copy, memory.init: 1 unit for 8 bytes
	growShift = 10 // memory.grow: 1,024 units for a page of 64 KiB
)

// fixedCost is what an instruction costs whatever its operands are.
func (m *module) fixedCost(in instruction) int64 {
	switch op := in.op; {
	case op >= opI32DivS && op <= opI32RemU, op >= opI64DivS && op <= opI64RemU,
		op == opF32Sqrt, op == opF32Div, op == opF64Sqrt, op == opF64Div:
		return costDivide
	case op >= opLoadFirst && op <= opLoadLast:
		return costLoad
	case op >= opI32TruncF32S && op <= opI32TruncF64U, op >= opI64TruncF32S && op <= opI64TruncF64U,
		op == opPrefix && in.sub < subMemoryInit:
		return costConvert
	case op == opCall && in.index < m.importedFuncs, op == opCallIndirect && m.importsInTables:
		return costHostCall
	case op == opCallIndirect:
		return costIndirect
	case op == opRefFunc, op == opPrefix && in.sub == subTableGrow:
		return costLeave
	case op == opMemoryGrow:
		return costGrow
	case in.lengthy():
		return costBulk
	}
	return costPlain
}

// lengthy reports whether the instruction takes longer the larger the number
// on top of the stack is.
func (in instruction) lengthy() bool {
	switch in.op {
	case opMemoryGrow:
		return true
	case opPrefix:
		switch in.sub {
		case subMemoryInit, subMemoryCopy, subMemoryFill, subTableInit, subTableCopy, subTableGrow, subTableFill:
			return true
		}
	}
	return false
}

// lengthCost says how the number on top of the stack turns into units: which
// shift, by how many bits. Entries of a table cost 1 each.
func (in instruction) lengthCost() (shift byte, bits int64) {
	switch {
	case in.op == opMemoryGrow:
		return opI64Shl, growShift
	case in.sub == subMemoryInit || in.sub == subMemoryCopy || in.sub == subMemoryFill:
		return opI64ShrU, bulkShift
	}
	return opI64ShrU, 0
}
