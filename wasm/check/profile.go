package check

// Limits bound what a module may be made of. Every count is checked before
// anything is read because of it.
type Limits struct {
	Bytes  int // of the whole module
	Custom int // custom sections
	Name   int // bytes of one import or export name

	Types   int
	Params  int // of one function type
	Results int // of one function type

	Imports   int
	Functions int // without imports
	Globals   int // without imports
	Exports   int

	Tables         int
	TableEntries   int // of one table at the start
	Elements       int // element segments
	ElementEntries int // of all of them
	Data           int // data segments

	Body   int // bytes of one function body
	Locals int // of one function, with its parameters
	Nest   int // blocks, loops and ifs inside each other
	Branch int // labels of one br_table

	// What the engine's compiler may have to do: it takes up to 2 µs for each step
	// back from the use of a local to where its value is known, and up to 6 ns
	// for each pair of basic blocks of a function.
	CompileWalk  int64
	CompilePairs int64

	MemoryPages   int  // of 64 KiB, for the minimum and the maximum
	MemoryMaximum bool // a maximum must be declared
}

// Profile is what one family of modules must keep to. It is data: a caller may
// change a copy.
type Profile struct {
	Name   string
	Kinds  []Kind // that this profile is for
	Limits Limits

	Imports []Extern // all that may be imported

	// Exports: those that must be there, of which exactly one must be there (if
	// there are any), and those that may be there. All others are refused. A
	// memory or table matches whatever its limits are.
	Required []Extern
	OneOf    []Extern
	Optional []Extern
}

// find looks an import or export up by its names.
func find(list []Extern, module, name []byte) *Extern {
	for i := range list {
		if string(module) == list[i].Module && string(name) == list[i].Name {
			return &list[i]
		}
	}
	return nil
}

// export looks an export up in all three lists.
func (p *Profile) export(name []byte) *Extern {
	for _, list := range [][]Extern{p.Required, p.OneOf, p.Optional} {
		if e := find(list, nil, name); e != nil {
			return e
		}
	}
	return nil
}
