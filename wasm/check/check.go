package check

import "slices"

// Sections by number.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "datacount", "tag",
}

// rank is the place of a section in the order that they must have.
func rank(id byte) int {
	switch id {
	case secTag:
		return secMemory*2 + 1
	case secDataCount:
		return secElement*2 + 1
	}
	return int(id) * 2
}

const fixSize = "build for size and without debug information (-Os, strip), or use a profile with a higher limit"

// checker is one run of Check.
type checker struct {
	b    []byte
	p    *Profile
	rep  report
	info *Info

	section string // the name of the section that is being read
	customs int
	named   bool // there was a section of names

	// The index spaces, imports first. What could not be read is lost: indexes
	// into it are not judged.
	types     []int    // where each type stands, behind its form byte
	funcs     []uint32 // the type of each
	globals   []global
	tables    int
	memories  int
	imported  int // functions
	dataCount int // what the section says; -1 without it
	bodies    int
	lost      [secTag + 1]bool

	versionFunc int // the function exported as gw_abi_version; -1 without it
	nest        []byte
	effort      effort
}

// global is what later sections need of a global.
type global struct {
	value   byte // type
	mutable bool
	known   bool // init is its value
	init    int64
}

// Check reads module, which may be any bytes, and decides whether it keeps to
// profile p, so that an engine may see it. It returns what the module is made
// of, or an *Error with every problem that could be found without trusting
// what is broken, 20 at most.
//
// It takes time that grows with the module's size and memory that is bounded
// by the profile, whatever the module claims. It does not type-check the code:
// the engine does that. Info holds views into module. Calls may run in parallel.
func Check(module []byte, p Profile) (*Info, error) {
	c := &checker{b: module, p: &p, info: &Info{Profile: p.Name, Bytes: len(module)}, dataCount: -1, versionFunc: -1}
	switch {
	case !c.preamble():
	case len(module) > p.Limits.Bytes:
		c.rep.add("module", 0, fixSize, "%d bytes, the limit is %d", len(module), p.Limits.Bytes)
	case !c.belongs():
	case c.sections():
		c.whole()
	}
	if err := c.rep.err(p.Name); err != nil {
		return nil, err
	}
	return c.info, nil
}

// belongs refuses a module of a kind that the profile is not for: checked
// against a foreign list of names everything in it would look wrong.
func (c *checker) belongs() bool {
	kind := Recognize(c.b)
	if kind == KindUnknown {
		return true // the exports will be reported
	}
	if slices.Contains(c.p.Kinds, kind) {
		c.info.Kind = kind
		return true
	}
	fix := "use a profile for modules that export gw_admit or gw_rank"
	if kind == KindOPA {
		fix = "use the profile for OPA modules"
	}
	c.rep.add("module", 0, fix, "the module is of kind %q, which this profile is not for", kind)
	return false
}

// sections reads all sections and reports whether it could find the end of
// each.
func (c *checker) sections() bool {
	r := &reader{b: c.b, at: len(magic) + len(version)}
	last := 0
	for r.left() > 0 {
		start := r.at
		id := r.byte()
		size := r.u32()
		if r.failed || int64(size) > int64(r.left()) {
			c.rep.add("module", start, "upload the whole file; the transfer may have broken off",
				"the file ends within the section that begins here")
			return false
		}
		s := r.part(size)
		if int(id) >= len(sectionNames) {
			c.rep.add("module", start, fixBroken, "section number %d does not exist", id)
			continue
		}
		c.section = sectionNames[id]
		if id != secCustom {
			if at := rank(id); at <= last {
				c.rep.add(c.section, start, fixBroken, "the section stands twice or behind one that it must precede")
				c.lost[id] = true
				continue
			}
			last = rank(id)
		}
		c.read(id, &s)
		if !s.failed && s.left() > 0 {
			s.fail(s.at, "the section goes on behind its last entry", fixBroken)
		}
		if s.failed {
			c.lost[id] = true
			if s.what != "" {
				c.rep.add(c.section, s.where, s.fix, s.what)
			}
		}
	}
	return true
}

// read reads one section.
func (c *checker) read(id byte, r *reader) {
	switch id {
	case secCustom:
		c.readCustom(r)
	case secType:
		c.readTypes(r)
	case secImport:
		c.readImports(r)
	case secFunction:
		c.readFunctions(r)
	case secTable:
		c.readTables(r)
	case secMemory:
		c.readMemories(r)
	case secGlobal:
		c.readGlobals(r)
	case secExport:
		c.readExports(r)
	case secStart:
		c.readStart(r)
	case secElement:
		c.readElements(r)
	case secCode:
		c.readCode(r)
	case secData:
		c.readData(r)
	case secDataCount:
		c.dataCount = int(r.u32())
	case secTag:
		c.refuse(r, r.at, exceptions)
	}
}

// whole checks what can only be said when every section was read.
func (c *checker) whole() {
	defined := len(c.funcs) - c.imported
	if !c.lost[secImport] && !c.lost[secFunction] && !c.lost[secCode] && c.bodies != defined {
		c.rep.add("module", 0, fixBroken, "%d functions are declared and %d have a body", defined, c.bodies)
	}
	if !c.lost[secData] && !c.lost[secDataCount] && c.dataCount >= 0 && c.dataCount != c.info.DataSegments {
		c.rep.add("module", 0, fixBroken, "%d data segments are announced and %d are there", c.dataCount, c.info.DataSegments)
	}
	if !c.lost[secExport] {
		c.required()
	}
}

// count reads how many entries follow, each at least so many bytes long. When
// there are too many to accept or to be true it ends the section and gives 0.
func (c *checker) count(r *reader, what string, limit, size int, fix string) int {
	start := r.at
	n := r.u32()
	switch {
	case r.failed:
		return 0
	case int64(n) > int64(limit):
		c.rep.add(c.section, start, fix, "%d %s, the limit is %d", n, what, limit)
		r.stop()
		return 0
	case int64(n)*int64(size) > int64(r.left()):
		c.rep.add(c.section, start, fixBroken, "%d %s are announced and there is no room for them", n, what)
		r.stop()
		return 0
	}
	return int(n)
}
