package check

import (
	"bytes"
	"fmt"
	"strings"
)

// reserved begins the names that belong to the host.
const reserved = "gw_host_"

const (
	fixNames   = "shorten the name"
	fixReserve = "rename it; names that begin with " + reserved + " belong to the host"
)

func (c *checker) readImports(r *reader) {
	n := c.count(r, "imports", c.p.Limits.Imports, 4, "import only what the host offers")
	for ; n > 0 && !r.failed; n-- {
		start := r.at
		module := c.externName(r)
		name := c.externName(r)
		kind, typ := c.importType(r)
		if r.failed {
			return
		}
		e := Extern{string(module), string(name), kind, typ}
		c.info.Imports = append(c.info.Imports, e)
		c.allowImport(start, e)
	}
}

// externName reads the name of an import or export.
func (c *checker) externName(r *reader) []byte {
	start := r.at
	name := r.name()
	if len(name) > c.p.Limits.Name {
		c.rep.add(c.section, start, fixNames, "a name of %d bytes, the limit is %d", len(name), c.p.Limits.Name)
		r.stop()
		return nil
	}
	if bytes.HasPrefix(name, []byte(reserved)) {
		c.rep.add(c.section, start, fixReserve, "the name %q", name)
	}
	return name
}

// importType reads what is imported and enters it into its index space.
func (c *checker) importType(r *reader) (ExternKind, string) {
	start := r.at
	switch k := r.byte(); k {
	case 0:
		t := c.typeIndex(r)
		if r.failed {
			return ExternFunc, ""
		}
		c.funcs = append(c.funcs, t)
		c.imported++
		return ExternFunc, c.signature(t)
	case 1:
		return ExternTable, c.table(r)
	case 2:
		if c.memories > 0 {
			c.refuse(r, start, multiMemory)
		}
		return ExternMemory, c.memory(r, true)
	case 3:
		g := c.globalType(r)
		c.globals = append(c.globals, g)
		return ExternGlobal, g.String()
	case 4:
		c.refuse(r, start, exceptions)
	default:
		r.fail(start, fmt.Sprintf("%#x is not the kind of an import", k), fixBroken)
	}
	return ExternFunc, ""
}

func (c *checker) allowImport(at int, e Extern) {
	if strings.HasPrefix(e.Module, reserved) || strings.HasPrefix(e.Name, reserved) {
		return // reported with its name
	}
	want := find(c.p.Imports, []byte(e.Module), []byte(e.Name))
	if want == nil {
		c.rep.add(c.section, at, c.fixImport(e), "imports the %s %q of %q, which the host does not offer", e.Kind, e.Name, e.Module)
		return
	}
	c.compare(at, "import", want, e)
}

// fixImport is what to do about an import that is not offered.
func (c *checker) fixImport(e Extern) string {
	switch {
	case e.Kind != ExternFunc:
		return "define it in the module"
	case e.Module == "env" && e.Name == "abort":
		return "in AssemblyScript build with --use abort="
	case strings.HasPrefix(e.Module, "wasi_"):
		return "build without a system library (wasm32-unknown-unknown, freestanding); policies have no clock, randomness, files or network"
	case e.Module == "env":
		return "link or define the function; it is missing in the module"
	}
	var names []string
	for _, i := range c.p.Imports {
		names = append(names, i.Module+"."+i.Name)
	}
	return "import only " + strings.Join(names, ", ")
}

// compare checks that an import or export has the type that it must have.
func (c *checker) compare(at int, what string, want *Extern, got Extern) {
	sized := want.Kind == ExternMemory || want.Kind == ExternTable
	switch {
	case want.Kind != got.Kind:
		c.rep.add(c.section, at, "make it a "+want.Kind.String(), "the %s %q is a %s", what, got.Name, got.Kind)
	case !sized && want.Type != got.Type && (got.Kind != ExternFunc || !c.lost[secType]):
		c.rep.add(c.section, at, "declare it as "+want.Type, "the %s %q has the type %s", what, got.Name, got.Type)
	}
}

func (c *checker) readExports(r *reader) {
	n := c.count(r, "exports", c.p.Limits.Exports, 3, "export only what the host calls")
	seen := make(map[string]bool, n)
	for ; n > 0 && !r.failed; n-- {
		start := r.at
		name := c.externName(r)
		e, known := c.exportType(r, string(name))
		if r.failed {
			return
		}
		if seen[e.Name] {
			c.rep.add(c.section, start, "export it once", "the export %q stands twice", name)
			continue
		}
		seen[e.Name] = true
		c.info.Exports = append(c.info.Exports, e)
		if known {
			c.allowExport(start, e)
		}
	}
}

// exportType reads what is exported. Its type is known if the section that
// defines it could be read.
func (c *checker) exportType(r *reader, name string) (e Extern, known bool) {
	start := r.at
	e.Name = name
	known = !c.lost[secImport]
	switch k := r.byte(); k {
	case 0:
		i := c.funcIndex(r)
		known = known && !c.lost[secFunction]
		if known && !r.failed {
			e.Type = c.signature(c.funcs[i])
			if name == exportVersion {
				c.versionFunc = int(i)
			}
		}
	case 1:
		c.tableIndex(r)
		e.Kind, known = ExternTable, known && !c.lost[secTable]
	case 2:
		c.memoryIndex(r)
		e.Kind, known = ExternMemory, known && !c.lost[secMemory]
		if known && c.memories == 0 {
			r.fail(start, "memory 0 does not exist", fixBroken)
		}
		e.Type = spell(c.info.Memory.Min, c.info.Memory.Max, c.info.Memory.Bounded) + " pages"
	case 3:
		i := c.globalIndex(r)
		e.Kind, known = ExternGlobal, known && !c.lost[secGlobal]
		if known && !r.failed {
			e.Type = c.globals[i].String()
			c.opaVersion(name, c.globals[i])
		}
	case 4:
		c.refuse(r, start, exceptions)
	default:
		r.fail(start, fmt.Sprintf("%#x is not the kind of an export", k), fixBroken)
	}
	return e, known
}

func (c *checker) allowExport(at int, e Extern) {
	if strings.HasPrefix(e.Name, reserved) {
		return // reported with its name
	}
	want := c.p.export([]byte(e.Name))
	if want == nil {
		c.rep.add(c.section, at, "do not export it; the host calls only the functions of its contract", "exports the %s %q", e.Kind, e.Name)
		return
	}
	c.compare(at, "export", want, e)
}

// required reports exports that are missing.
func (c *checker) required() {
	for _, e := range c.p.Required {
		if !c.exports(e.Name) {
			c.rep.add("export", 0, "export the "+e.Kind.String()+" "+e.Name+" "+e.Type, "the export %q is missing", e.Name)
		}
	}
	if len(c.p.OneOf) == 0 {
		return
	}
	var there, names []string
	for _, e := range c.p.OneOf {
		names = append(names, e.Name)
		if c.exports(e.Name) {
			there = append(there, e.Name)
		}
	}
	choice := strings.Join(names, " and ")
	switch len(there) {
	case 0:
		c.rep.add("export", 0, "export one of them, of type "+c.p.OneOf[0].Type, "neither of %s is exported", choice)
	case 1:
	default:
		c.rep.add("export", 0, "make two modules: a policy admits or ranks, never both", "both %s are exported", choice)
	}
}

func (c *checker) exports(name string) bool {
	for i := range c.info.Exports {
		if c.info.Exports[i].Name == name {
			return true
		}
	}
	return false
}

func (c *checker) readStart(r *reader) {
	start := r.at
	i := c.funcIndex(r)
	c.info.Start = true
	if r.failed || c.lost[secType] || c.lost[secImport] || c.lost[secFunction] {
		return
	}
	if t := c.signature(c.funcs[i]); t != "()" {
		r.fail(start, "the start function has the type "+t, "declare it without parameters and results")
	}
}
