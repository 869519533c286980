package check

// The shape of an instruction says what follows its opcode, or why it is
// refused.
const (
	shapeNone byte = iota
	shapeBlock
	shapeLoop
	shapeBranch // a label
	shapeBranchTable
	shapeCall
	shapeCallIndirect
	shapeSelectTyped
	shapeLocal
	shapeGlobalAccess
	shapeTableRead
	shapeAccess // alignment and offset; the natural alignment is in alignments
	shapeMemoryIndex
	shapeNumber32
	shapeNumber64
	shapeBytes4
	shapeBytes8
	shapeHeap
	shapeFunctionRef
	shapePrefixed
	shapeOtherwise // else
	shapeEnd
	shapeConditional // if

	// From here on the instruction is refused.
	shapeUnknown
	shapeRefusedSIMD
	shapeRefusedThreads
	shapeRefusedTailCalls
	shapeRefusedExceptions
	shapeRefusedGC
	shapeRefusedSwitching
	shapeRefusedTable
	shapeRefusedSegment
)

// refusals are the features of the shapes from shapeRefusedSIMD on.
var refusals = [...]feature{
	simd, threads, tailCalls, exceptions, gc, switching, changeTable, dropSegment,
}

// shapes is the shape of each opcode.
var shapes = shapeTable()

func shapeTable() (t [256]byte) {
	set := func(s byte, first, last int) {
		for op := first; op <= last; op++ {
			t[op] = s
		}
	}
	set(shapeUnknown, 0x00, 0xff)
	set(shapeNone, 0x00, 0x01) // unreachable, nop
	t[0x02], t[0x03], t[0x04], t[0x05] = shapeBlock, shapeLoop, shapeConditional, shapeOtherwise
	set(shapeRefusedExceptions, 0x06, 0x0a) // try, catch, throw, rethrow, throw_ref
	t[0x0b] = shapeEnd
	set(shapeBranch, 0x0c, 0x0d)
	t[0x0e], t[0x0f], t[0x10], t[0x11] = shapeBranchTable, shapeNone, shapeCall, shapeCallIndirect
	set(shapeRefusedTailCalls, 0x12, 0x13)
	t[0x14], t[0x15] = shapeRefusedGC, shapeRefusedTailCalls // call_ref, return_call_ref
	set(shapeRefusedExceptions, 0x18, 0x19)
	set(shapeNone, 0x1a, 0x1b) // drop, select
	t[0x1c], t[0x1f] = shapeSelectTyped, shapeRefusedExceptions
	set(shapeLocal, 0x20, 0x22)
	set(shapeGlobalAccess, 0x23, 0x24)
	t[0x25], t[0x26] = shapeTableRead, shapeRefusedTable
	set(shapeAccess, 0x28, 0x3e)
	set(shapeMemoryIndex, 0x3f, 0x40)
	t[0x41], t[0x42], t[0x43], t[0x44] = shapeNumber32, shapeNumber64, shapeBytes4, shapeBytes8
	set(shapeNone, 0x45, 0xc4) // arithmetic, comparisons, conversions
	t[0xd0], t[0xd1], t[0xd2] = shapeHeap, shapeNone, shapeFunctionRef
	set(shapeRefusedGC, 0xd3, 0xd6)
	set(shapeRefusedSwitching, 0xe0, 0xe6)
	t[0xfb], t[0xfc], t[0xfd], t[0xfe] = shapeRefusedGC, shapePrefixed, shapeRefusedSIMD, shapeRefusedThreads
	return t
}

// alignments is the largest alignment, as a power of 2, that each instruction
// from 0x28 on may claim: loads, then stores.
var alignments = [...]uint32{
	2, 3, 2, 3, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2,
	2, 3, 2, 3, 0, 1, 0, 1, 2,
}

const firstAccess = 0x28
