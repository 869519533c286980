package check

import "fmt"

func (c *checker) readElements(r *reader) {
	n := c.count(r, "element segments", c.p.Limits.Elements, 2, fixTables)
	for ; n > 0 && !r.failed; n-- {
		c.element(r)
	}
}

// element reads one segment: entries of a table.
func (c *checker) element(r *reader) {
	start := r.at
	flags := r.u32()
	if flags > 7 {
		r.fail(start, fmt.Sprintf("an element segment has unknown flags %#x", flags), fixBroken)
		return
	}
	passive, explicit, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
	if !passive {
		if explicit {
			c.tableIndex(r)
		} else if !c.lost[secImport] && !c.lost[secTable] && c.tables == 0 {
			r.fail(start, "an element segment is for a table that does not exist", fixBroken)
		}
		c.constant(r)
	}
	if passive || explicit {
		start = r.at
		switch kind := r.byte(); {
		case !expressions && kind == 0:
		case expressions && (kind == typeFuncref || kind == typeExternref):
		case expressions && (kind == 0x63 || kind == 0x64):
			c.refuse(r, start, gc)
		default:
			r.fail(start, fmt.Sprintf("%#x is not the type of an element segment", kind), fixBroken)
		}
	}
	// No entry is shorter than a byte, no expression shorter than three.
	size := 1
	if expressions {
		size = 3
	}
	limit := c.p.Limits.ElementEntries - c.info.ElementEntries
	k := c.count(r, "further entries of element segments", limit, size, fixTables)
	c.info.ElementEntries += k
	for ; k > 0 && !r.failed; k-- {
		if expressions {
			c.constant(r)
		} else {
			c.funcIndex(r)
		}
	}
}

func (c *checker) readData(r *reader) {
	n := c.count(r, "data segments", c.p.Limits.Data, 2, fixData)
	c.info.DataSegments = n
	for ; n > 0 && !r.failed; n-- {
		c.data(r)
	}
}

// data reads one segment: bytes of the memory.
func (c *checker) data(r *reader) {
	start := r.at
	flags := r.u32()
	active, known, offset := flags != 1, false, int64(0)
	switch flags {
	case 0, 1:
	case 2:
		c.memoryIndex(r)
	default:
		r.fail(start, fmt.Sprintf("a data segment has unknown flags %#x", flags), fixBroken)
	}
	if active {
		if !c.lost[secImport] && !c.lost[secMemory] && c.memories == 0 {
			r.fail(start, "a data segment is for a memory that does not exist", fixBroken)
		}
		known, offset = c.constant(r)
	}
	size := len(r.take(r.u32()))
	c.info.DataBytes += size
	if r.failed || !active || !known || c.lost[secImport] || c.lost[secMemory] {
		return
	}
	offset &= 0xffffffff // addresses are unsigned
	if room := int64(c.info.Memory.Min) << 16; offset+int64(size) > room {
		c.rep.once("data beyond memory", c.section, start, "begin with more memory: -Wl,--initial-memory=",
			fmt.Sprintf("a data segment of %d bytes at %d does not fit into the %d bytes that the memory begins with", size, offset, room))
	}
}
