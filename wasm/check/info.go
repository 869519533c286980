package check

// Kind is what a module says it is by its exports.
type Kind string

// The kinds. A module that exports both gw_admit and gw_rank is of no kind.
const (
	KindUnknown   Kind = ""
	KindAdmission Kind = "admission" // exports gw_admit
	KindRanking   Kind = "ranking"   // exports gw_rank
	KindOPA       Kind = "opa"       // made by OPA's compiler; its entry points say what it decides
)

// ExternKind is the kind of an import or export.
type ExternKind byte

// The kinds of imports and exports that policies may have.
const (
	ExternFunc ExternKind = iota
	ExternTable
	ExternMemory
	ExternGlobal
)

func (k ExternKind) String() string {
	switch k {
	case ExternFunc:
		return "function"
	case ExternTable:
		return "table"
	case ExternMemory:
		return "memory"
	case ExternGlobal:
		return "global"
	}
	return "tag"
}

// Extern is an import or an export.
type Extern struct {
	Module string // of an import, "" for an export
	Name   string
	Kind   ExternKind

	// Type is "(i32, i32) -> i32" for a function, "i32" or "mut i32" for a global,
	// "2..64 pages" or "2.. pages" for a memory, "funcref 1..1" for a table.
	Type string
}

// Pages are the limits of a memory, in pages of 64 KiB.
type Pages struct {
	Min, Max uint32
	Bounded  bool // Max is declared
	Imported bool
}

// Info is what a module that was accepted is made of. Nothing in it was
// computed by running code.
type Info struct {
	Profile string
	Kind    Kind

	// ABI is the version that the module claims, as "1.0", when that can be read
	// without running it, and otherwise "". It is a hint: the host still asks.
	ABI string

	Imports []Extern
	Exports []Extern
	Memory  Pages
	Start   bool // there is a start function

	// Manifest is the content of the custom section gatewright.manifest, a view
	// into the module's bytes; nil when there is none. Nobody has parsed it.
	Manifest []byte

	Bytes       int // of the whole module
	CodeBytes   int
	DataBytes   int
	CustomBytes int

	Types          int
	Functions      int // without the imported ones
	Globals        int // without the imported ones
	MutableGlobals int
	TableEntries   int // of all tables at the start
	ElementEntries int // of all segments
	DataSegments   int

	LargestBody   int // in bytes
	MostLocals    int // of one function, with its parameters
	DeepestNest   int // blocks, loops and ifs inside each other
	LargestBranch int // labels of one br_table

	// What the engine's compiler may have to do; see Limits.
	CompileWalk  int64
	CompilePairs int64
}
