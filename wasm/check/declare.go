package check

import (
	"fmt"
	"strings"
)

const (
	fixTypes   = "use fewer different function signatures, or a profile with a higher limit"
	fixFuncs   = "build for size and leave out what is not called (-Os, --gc-sections), or use a profile with a higher limit"
	fixParams  = "pass a pointer to a structure instead"
	fixGlobals = "keep state in the memory"
	fixTables  = "use fewer functions through pointers, or a profile with a higher limit"
	fixMemory  = "declare less memory: -Wl,--initial-memory=, -Wl,--max-memory="
	fixData    = "merge the segments or embed less data"
)

func (c *checker) readTypes(r *reader) {
	n := c.count(r, "function types", c.p.Limits.Types, 2, fixTypes)
	for ; n > 0 && !r.failed; n-- {
		start := r.at
		switch form := r.byte(); form {
		case 0x60:
		case 0x4d, 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
			c.refuse(r, start, gc)
		default:
			r.fail(start, fmt.Sprintf("%#x is not the form of a type", form), fixBroken)
		}
		at := r.at
		for k := c.count(r, "parameters of a function type", c.p.Limits.Params, 1, fixParams); k > 0 && !r.failed; k-- {
			c.valueType(r)
		}
		for k := c.count(r, "results of a function type", c.p.Limits.Results, 1, fixParams); k > 0 && !r.failed; k-- {
			c.valueType(r)
		}
		if !r.failed { // what was not read to its end is never read again
			c.types = append(c.types, at)
		}
	}
	c.info.Types = len(c.types)
}

// typeIndex reads an index of a type.
func (c *checker) typeIndex(r *reader) uint32 {
	start := r.at
	i := r.u32()
	if !c.lost[secType] && int64(i) >= int64(len(c.types)) {
		r.fail(start, fmt.Sprintf("type %d does not exist", i), fixBroken)
	}
	return i
}

// signature writes a function type out.
func (c *checker) signature(index uint32) string {
	if int64(index) >= int64(len(c.types)) {
		return "?"
	}
	r := &reader{b: c.b, at: c.types[index]}
	s := "(" + valueTypes(r) + ")"
	several := r.left() > 0 && c.b[r.at] > 1
	if results := valueTypes(r); several {
		s += " -> (" + results + ")"
	} else if results != "" {
		s += " -> " + results
	}
	return s
}

// valueTypes writes out a list of types that was read before.
func valueTypes(r *reader) string {
	var s strings.Builder
	for i := range r.u32() {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(typeName(r.byte()))
	}
	return s.String()
}

func (c *checker) readFunctions(r *reader) {
	n := c.count(r, "functions", c.p.Limits.Functions, 1, fixFuncs)
	for ; n > 0 && !r.failed; n-- {
		c.funcs = append(c.funcs, c.typeIndex(r))
	}
	c.info.Functions = len(c.funcs) - c.imported
}

func (c *checker) readTables(r *reader) {
	n := c.count(r, "tables", c.p.Limits.Tables, 3, fixTables)
	for ; n > 0 && !r.failed; n-- {
		c.table(r)
	}
}

// table reads the type of a table.
func (c *checker) table(r *reader) string {
	start := r.at
	kind := r.byte()
	switch kind {
	case typeFuncref, typeExternref:
	case 0x40, 0x63, 0x64:
		c.refuse(r, start, gc)
	default:
		r.fail(start, fmt.Sprintf("%#x is not the type of a table", kind), fixBroken)
	}
	start = r.at
	lowest, highest, bounded := c.limits(r)
	if r.failed {
		return ""
	}
	if int64(lowest) > int64(c.p.Limits.TableEntries) {
		c.rep.add(c.section, start, fixTables, "a table of %d entries, the limit is %d", lowest, c.p.Limits.TableEntries)
	}
	c.tables++
	c.info.TableEntries += min(int(lowest), c.p.Limits.TableEntries)
	return typeName(kind) + " " + spell(lowest, highest, bounded)
}

// limits reads the limits of a table or memory.
func (c *checker) limits(r *reader) (lowest, highest uint32, bounded bool) {
	start := r.at
	switch flags := r.byte(); {
	case flags > 7:
		r.fail(start, fmt.Sprintf("limits have unknown flags %#x", flags), fixBroken)
	case flags&4 != 0:
		c.refuse(r, start, memory64)
	case flags&2 != 0:
		c.refuse(r, start, threads)
	default:
		bounded = flags&1 != 0
	}
	lowest = r.u32()
	if bounded {
		highest = r.u32()
		if highest < lowest {
			r.fail(start, fmt.Sprintf("the maximum %d is below the minimum %d", highest, lowest), fixBroken)
		}
	}
	return lowest, highest, bounded
}

func spell(lowest, highest uint32, bounded bool) string {
	if bounded {
		return fmt.Sprintf("%d..%d", lowest, highest)
	}
	return fmt.Sprintf("%d..", lowest)
}

func (c *checker) readMemories(r *reader) {
	start := r.at
	n := r.u32()
	if n > 1 {
		c.refuse(r, start, multiMemory)
	}
	for ; n > 0 && !r.failed; n-- {
		if start := r.at; c.memories > 0 {
			c.refuse(r, start, multiMemory)
			return
		}
		c.memory(r, false)
	}
}

// memory reads the type of a memory.
func (c *checker) memory(r *reader, imported bool) string {
	start := r.at
	lowest, highest, bounded := c.limits(r)
	if r.failed {
		return ""
	}
	limit := int64(c.p.Limits.MemoryPages)
	if int64(lowest) > limit {
		c.rep.add(c.section, start, fixMemory, "the memory begins with %d pages of 64 KiB, the limit is %d", lowest, limit)
	}
	switch {
	case bounded && int64(highest) > limit && !imported:
		c.rep.add(c.section, start, fixMemory, "the memory may grow to %d pages of 64 KiB, the limit is %d", highest, limit)
	case !bounded && !imported && c.p.Limits.MemoryMaximum:
		c.rep.add(c.section, start, fmt.Sprintf("declare one of at most %d pages: -Wl,--max-memory=%d", limit, limit<<16),
			"the memory has no maximum")
	}
	c.memories++
	c.info.Memory = Pages{lowest, highest, bounded, imported}
	return spell(lowest, highest, bounded) + " pages"
}

func (c *checker) readGlobals(r *reader) {
	n := c.count(r, "globals", c.p.Limits.Globals, 4, fixGlobals)
	for ; n > 0 && !r.failed; n-- {
		start := r.at
		g := c.globalType(r)
		if g.mutable && (g.value == typeFuncref || g.value == typeExternref) {
			c.refuse(r, start, mutableTable)
		}
		g.known, g.init = c.constant(r)
		if r.failed {
			return
		}
		c.globals = append(c.globals, g)
		c.info.Globals++
		if g.mutable {
			c.info.MutableGlobals++
		}
	}
}

func (c *checker) globalType(r *reader) (g global) {
	g.value = c.valueType(r)
	start := r.at
	switch mut := r.byte(); mut {
	case 0, 1:
		g.mutable = mut == 1
	default:
		r.fail(start, fmt.Sprintf("%#x does not say whether a global can change", mut), fixBroken)
	}
	return g
}

func (g global) String() string {
	if g.mutable {
		return "mut " + typeName(g.value)
	}
	return typeName(g.value)
}

// constant reads a constant expression: one instruction and end. The value is
// known when it is an i32.const.
func (c *checker) constant(r *reader) (known bool, value int64) {
	start := r.at
	switch op := r.byte(); op {
	case 0x41:
		known, value = true, r.signed(32)
	case 0x42:
		r.signed(64)
	case 0x43:
		r.take(4)
	case 0x44:
		r.take(8)
	case 0x23:
		c.globalIndex(r)
	case 0xd0:
		c.heapType(r)
	case 0xd2:
		c.funcIndex(r)
	case 0xfd:
		c.refuse(r, start, simd)
	case 0xfb:
		c.refuse(r, start, gc)
	default:
		r.fail(start, fmt.Sprintf("instruction %#x is not a constant", op), fixBroken)
	}
	start = r.at
	switch op := r.byte(); op {
	case 0x0b:
	case 0x41, 0x42, 0x23, 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e:
		c.refuse(r, start, extendConst)
	default:
		r.fail(start, "a constant does not end", fixBroken)
	}
	return known, value
}

// heapType reads the type of a null reference.
func (c *checker) heapType(r *reader) {
	start := r.at
	if t := r.byte(); t != typeFuncref && t != typeExternref {
		c.refuse(r, start, gc)
	}
}

func (c *checker) funcIndex(r *reader) uint32 {
	start := r.at
	i := r.u32()
	if !c.lost[secImport] && !c.lost[secFunction] && int64(i) >= int64(len(c.funcs)) {
		r.fail(start, fmt.Sprintf("function %d does not exist", i), fixBroken)
	}
	return i
}

func (c *checker) globalIndex(r *reader) uint32 {
	start := r.at
	i := r.u32()
	if !c.lost[secImport] && !c.lost[secGlobal] && int64(i) >= int64(len(c.globals)) {
		r.fail(start, fmt.Sprintf("global %d does not exist", i), fixBroken)
	}
	return i
}

func (c *checker) tableIndex(r *reader) {
	start := r.at
	i := r.u32()
	if !c.lost[secImport] && !c.lost[secTable] && int64(i) >= int64(c.tables) {
		r.fail(start, fmt.Sprintf("table %d does not exist", i), fixBroken)
	}
}

// memoryIndex reads the index of the one memory that there can be.
func (c *checker) memoryIndex(r *reader) {
	start := r.at
	if r.u32() != 0 {
		c.refuse(r, start, multiMemory)
	}
}
