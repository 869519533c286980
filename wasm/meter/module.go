package meter

import "bytes"

// Sections by number.
const (
	secCustom   = 0
	secType     = 1
	secImport   = 2
	secFunction = 3
	secMemory   = 5
	secGlobal   = 6
	secExport   = 7
	secStart    = 8
	secElement  = 9
	secCode     = 10
	secTag      = 13
)

// Kinds of imports and exports by number.
const (
	externFunc   = 0
	externTable  = 1
	externMemory = 2
	externGlobal = 3
)

const (
	maxLocals = 1 << 20

	sectionName     = "name"
	sectionManifest = "gatewright.manifest"
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// funcType is how much a function takes and gives.
type funcType struct {
	params, results uint32
	result          byte // the type of the one result, blockVoid for none
}

// module is what must be known of a module before its first body is written.
type module struct {
	types           []funcType
	funcs           []uint32 // the type of each function defined here
	importedFuncs   uint32
	importsInTables bool   // an imported function can be reached by call_indirect
	globals         uint32 // how many there are: the index that the budget gets
	state           []uint32
	hasStart        bool
	start           uint32
}

// sections calls each with every section of the module.
func sections(b []byte, each func(id byte, r *reader)) *Error {
	if !bytes.HasPrefix(b, header) {
		return &Error{What: "not a Wasm module of version 1"}
	}
	r := &reader{b: b, at: len(header)}
	for r.more() {
		id := r.byte()
		s := r.part(r.u32())
		if r.ok() {
			each(id, s)
			r.fault = s.fault
		}
	}
	return r.fault
}

// survey reads everything but the bodies and the data.
func survey(b []byte) (*module, *Error) {
	m := &module{}
	fault := sections(b, func(id byte, r *reader) {
		switch id {
		case secType:
			m.readTypes(r)
		case secImport:
			m.readImports(r)
		case secFunction:
			for n := r.u32(); n > 0 && r.ok(); n-- {
				m.funcs = append(m.funcs, r.u32())
			}
		case secGlobal:
			m.readGlobals(r)
		case secExport:
			m.readExports(r)
		case secStart:
			m.hasStart, m.start = true, r.u32()
		case secElement:
			m.readElements(r)
		default:
			return
		}
		if r.more() { // what is added to a list must stand behind all of it
			r.fail("bytes behind the last entry of a section")
		}
	})
	return m, fault
}

func (m *module) readTypes(r *reader) {
	for n := r.u32(); n > 0 && r.ok(); n-- {
		if r.byte() != 0x60 {
			r.fail("a type that is not a function type")
		}
		t := funcType{result: blockVoid}
		t.params = r.u32()
		r.take(t.params)
		t.results = r.u32()
		if results := r.take(t.results); len(results) == 1 {
			t.result = results[0]
		}
		m.types = append(m.types, t)
	}
}

func (m *module) readImports(r *reader) {
	for n := r.u32(); n > 0 && r.ok(); n-- {
		r.take(r.u32())
		r.take(r.u32())
		switch r.byte() {
		case externFunc:
			r.skip(5)
			m.importedFuncs++
		case externTable:
			r.byte()
			r.limits()
		case externMemory:
			r.limits()
		case externGlobal:
			r.take(2)
			m.globals++
		default:
			r.fail("an import of an unknown kind")
		}
	}
}

// limits reads the limits of a table or memory.
func (r *reader) limits() {
	bounded := r.byte()&1 == 1
	r.skip(5)
	if bounded {
		r.skip(5)
	}
}

// readGlobals counts the globals and notes which of them a guest can change.
func (m *module) readGlobals(r *reader) {
	for n := r.u32(); n > 0 && r.ok(); n-- {
		number := r.byte() >= 0x7c // i32, i64, f32, f64
		if mutable := r.byte() == 1; mutable && number {
			m.state = append(m.state, m.globals)
		}
		m.readReference(r)
		m.globals++
	}
}

// constant reads a constant expression.
func (r *reader) constant() {
	for r.more() {
		if r.instruction().op == opEnd {
			return
		}
	}
}

func (m *module) readExports(r *reader) {
	for n := r.u32(); n > 0 && r.ok(); n-- {
		start := r.at
		name := r.take(r.u32())
		kind, index := r.byte(), r.u32()
		if bytes.HasPrefix(name, []byte(Reserved)) {
			r.failAt(start, "an export whose name begins with "+Reserved+", which only the host may use")
		}
		if kind == externFunc {
			m.reference(index)
		}
		if kind == externGlobal && index >= m.globals {
			r.failAt(start, "an export of a global that does not exist")
		}
	}
}

// readElements finds out whether a function of the host stands in a table.
func (m *module) readElements(r *reader) {
	for n := r.u32(); n > 0 && r.ok(); n-- {
		flags := r.u32()
		passive, explicit, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
		if !passive {
			if explicit {
				r.skip(5) // table
			}
			r.constant()
		}
		if passive || explicit {
			r.byte() // kind or type
		}
		for k := r.u32(); k > 0 && r.ok(); k-- {
			if expressions {
				m.readReference(r)
			} else {
				m.reference(r.u32())
			}
		}
	}
}

// readReference reads a constant expression that may name a function.
func (m *module) readReference(r *reader) {
	for r.more() {
		in := r.instruction()
		if in.op == opRefFunc {
			m.reference(in.index)
		}
		if in.op == opEnd {
			return
		}
	}
}

func (m *module) reference(function uint32) {
	m.importsInTables = m.importsInTables || function < m.importedFuncs
}

// checkIndex keeps a body away from what only the meter may touch: a module
// that was not validated could name the new global or local.
func (m *module) checkIndex(r *reader, at int, in instruction, locals uint32) {
	what := ""
	switch in.op {
	case opGlobalGet, opGlobalSet:
		if in.index >= m.globals {
			what = "a global that does not exist"
		}
	case opLocalGet, opLocalSet, opLocalTee:
		if in.index >= locals {
			what = "a local that does not exist"
		}
	}
	if what != "" {
		r.failAt(at, what)
	}
}
