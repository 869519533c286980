package check

import "fmt"

const (
	fixBody   = "split the function, or build without inlining (-Os, -fno-inline)"
	fixLocals = "split the function"
	fixNest   = "split the function; compilers take time that grows with the square of this"
	fixBranch = "split the switch"
	fixSlow   = "split functions that have many branches, build for size, or use a profile with a higher limit"
)

func (c *checker) readCode(r *reader) {
	c.info.CodeBytes = r.left()
	c.bodies = c.count(r, "function bodies", c.p.Limits.Functions, 3, fixFuncs)
	for i := range c.bodies {
		start := r.at
		size := r.u32()
		body := r.part(size)
		if r.failed {
			return
		}
		c.info.LargestBody = max(c.info.LargestBody, int(size))
		index := c.imported + i
		if int64(size) > int64(c.p.Limits.Body) {
			c.over(start, index, "bytes of code", int64(size), c.p.Limits.Body, fixBody)
			continue
		}
		if index == c.versionFunc {
			c.claimedVersion(body)
		}
		c.body(&body, index)
		if body.failed && body.what != "" {
			c.rep.add(c.section, body.where, body.fix, "function %d: %s", index, body.what)
		}
		c.slow(start, index)
	}
	c.info.CompileWalk, c.info.CompilePairs = c.effort.walk, c.effort.pairs
}

// slow reports the function with which the module becomes too much for the
// engine's compiler.
func (c *checker) slow(at, index int) {
	e := &c.effort
	if e.off {
		return
	}
	over := func(n, limit int64, what string) {
		if n > limit {
			e.off = true
			c.rep.add(c.section, at, fixSlow, "with function %d compiling the module may take %d %s, the limit is %d", index, n, what, limit)
		}
	}
	over(e.walk, c.p.Limits.CompileWalk, "steps from uses of locals to their values")
	over(e.pairs, c.p.Limits.CompilePairs, "comparisons of basic blocks")
}

// function is the function whose body is being read.
type function struct {
	index  int
	locals int64 // with the parameters
}

// body reads one function body. A fault ends it and leaves the others alone.
func (c *checker) body(r *reader, index int) {
	f := function{index: index, locals: c.params(index)}
	start := r.at
	for groups := r.u32(); groups > 0 && !r.failed; groups-- {
		f.locals += int64(r.u32())
		c.valueType(r)
	}
	if f.locals > int64(c.p.Limits.Locals) {
		c.over(start, index, "locals", f.locals, c.p.Limits.Locals, fixLocals)
		return
	}
	c.info.MostLocals = max(c.info.MostLocals, int(f.locals))
	c.nest = append(c.nest[:0], 0) // the function itself
	c.effort.begin(f.locals)
	for len(c.nest) > 0 && !r.failed {
		start := r.at
		op := r.byte()
		if r.failed {
			return
		}
		c.instruction(r, f, start, op)
	}
	c.effort.end()
	if r.left() > 0 {
		r.fail(r.at, "the body goes on behind its end", fixBroken)
	}
}

// params is how many parameters a function takes.
func (c *checker) params(index int) int64 {
	if index >= len(c.funcs) || int64(c.funcs[index]) >= int64(len(c.types)) {
		return 0
	}
	r := &reader{b: c.b, at: c.types[c.funcs[index]]}
	return int64(r.u32())
}

// instruction reads what follows an opcode.
func (c *checker) instruction(r *reader, f function, start int, op byte) {
	switch s := shapes[op]; s {
	case shapeNone:
	case shapeBlock, shapeLoop, shapeConditional, shapeOtherwise, shapeEnd:
		c.structure(r, f, start, op, s)
	case shapeBranch:
		c.effort.step(2)
		c.label(r)
	case shapeBranchTable:
		c.branchTable(r, f)
	case shapeCall, shapeFunctionRef:
		c.funcIndex(r)
	case shapeCallIndirect:
		c.typeIndex(r)
		c.tableIndex(r)
	case shapeSelectTyped:
		if r.u32() != 1 {
			r.fail(start, "select gives more or less than one value", fixBroken)
		}
		c.valueType(r)
	case shapeLocal:
		c.local(r, f, start, op)
	case shapeGlobalAccess:
		c.globalIndex(r)
	case shapeTableRead:
		c.tableIndex(r)
	case shapeAccess:
		c.access(r, op)
	case shapeMemoryIndex:
		if op == opMemoryGrow {
			c.effort.charge()
		}
		c.memoryIndex(r)
	case shapeHeap:
		c.heapType(r)
	case shapePrefixed:
		c.prefixed(r, start)
	default:
		c.number(r, start, op, s)
	}
}

// number reads a constant, or refuses an instruction of no other shape.
func (c *checker) number(r *reader, start int, op, s byte) {
	switch s {
	case shapeNumber32:
		r.signed(32)
	case shapeNumber64:
		r.signed(64)
	case shapeBytes4:
		r.take(4)
	case shapeBytes8:
		r.take(8)
	case shapeUnknown:
		r.fail(start, fmt.Sprintf("instruction %#x does not exist", op), fixBroken)
	default:
		c.refuse(r, start, refusals[s-shapeRefusedSIMD])
	}
}

// structure begins or ends a block, loop or if.
func (c *checker) structure(r *reader, f function, start int, op, s byte) {
	top := len(c.nest) - 1
	switch {
	case s == shapeEnd:
		if top > 0 {
			c.effort.leave()
		}
		c.nest = c.nest[:top]
	case s == shapeOtherwise && c.nest[top] == opIf:
		c.nest[top] = op
		c.effort.leave()
		c.effort.enter(false)
	case s == shapeOtherwise:
		r.fail(start, "else without if", fixBroken)
	default:
		c.effort.enter(s == shapeLoop)
		c.blockType(r)
		c.enter(r, f, start, op)
	}
}

const (
	opIf         = 0x04
	opLocalGet   = 0x20
	opMemoryGrow = 0x40
)

// local reads an access to a local.
func (c *checker) local(r *reader, f function, start int, op byte) {
	i := int64(r.u32())
	switch {
	case r.failed:
	case i < f.locals && op == opLocalGet:
		c.effort.use(i)
	case i < f.locals:
		c.effort.set(i)
	case !c.lost[secType] && !c.lost[secImport] && !c.lost[secFunction]:
		r.fail(start, fmt.Sprintf("local %d does not exist", i), fixBroken)
	}
}

// blockType reads the type of a block, loop or if.
func (c *checker) blockType(r *reader) {
	if r.left() > 0 {
		switch t := r.b[r.at]; {
		case t == 0x40:
			r.at++
			return
		case t&0xc0 == 0x40: // a type of a value is a negative number of one byte
			c.valueType(r)
			return
		}
	}
	start := r.at
	if i := r.signed(33); !c.lost[secType] && (i < 0 || i >= int64(len(c.types))) {
		r.fail(start, fmt.Sprintf("type %d does not exist", i), fixBroken)
	}
}

// enter begins a block, loop or if.
func (c *checker) enter(r *reader, f function, start int, op byte) {
	depth := len(c.nest)
	if depth > c.p.Limits.Nest {
		c.rep.add(c.section, start, fixNest, "function %d nests blocks deeper than %d", f.index, c.p.Limits.Nest)
		r.stop()
		return
	}
	c.nest = append(c.nest, op)
	c.info.DeepestNest = max(c.info.DeepestNest, depth)
}

func (c *checker) label(r *reader) {
	start := r.at
	if i := r.u32(); int64(i) >= int64(len(c.nest)) {
		r.fail(start, fmt.Sprintf("label %d does not exist", i), fixBroken)
	}
}

func (c *checker) branchTable(r *reader, f function) {
	start := r.at
	n := r.u32()
	if int64(n) > int64(c.p.Limits.Branch) {
		c.over(start, f.index, "labels in one br_table", int64(n), c.p.Limits.Branch, fixBranch)
		r.stop()
		return
	}
	c.info.LargestBranch = max(c.info.LargestBranch, int(n))
	for range n {
		if r.failed {
			return
		}
		c.label(r)
		c.effort.step(1)
	}
	c.label(r)
}

// access reads the alignment and offset of a load or store.
func (c *checker) access(r *reader, op byte) {
	start := r.at
	align := r.u32()
	switch {
	case align >= 0x40 && align < 0x80:
		c.refuse(r, start, multiMemory)
	case align > alignments[op-firstAccess]:
		r.fail(start, fmt.Sprintf("an access claims the alignment 2^%d", align), fixBroken)
	}
	r.u32()
}

// prefixed reads an instruction behind 0xfc.
func (c *checker) prefixed(r *reader, start int) {
	switch sub := r.u32(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
	case 8: // memory.init
		at := r.at
		if i := r.u32(); c.dataCount < 0 || int64(i) >= int64(c.dataCount) {
			if !c.lost[secDataCount] {
				r.fail(at, fmt.Sprintf("data segment %d is not announced", i), fixBroken)
			}
		}
		c.memoryIndex(r)
		c.effort.bulk()
	case 10: // memory.copy
		c.effort.bulk()
		c.memoryIndex(r)
		c.memoryIndex(r)
	case 11: // memory.fill
		c.effort.bulk()
		c.memoryIndex(r)
	case 16: // table.size
		c.tableIndex(r)
	case 12, 14, 15, 17: // table.init, table.copy, table.grow, table.fill
		c.refuse(r, start, changeTable)
	case 9, 13: // data.drop, elem.drop
		c.refuse(r, start, dropSegment)
	default:
		r.fail(start, fmt.Sprintf("instruction 0xfc %d does not exist", sub), fixBroken)
	}
}
