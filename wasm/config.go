package wasm

import (
	"fmt"
	"log/slog"

	"gatewright/wasm/check"
)

// Config are the settings of a Runtime. The zero value works.
type Config struct {
	// CacheDir is the folder for compiled code, made if it is missing; "" = no
	// cache. Whoever can write there can run code as this process.
	CacheDir string
	// MaxMemory bounds the linear memory of all instances together, in bytes;
	// 0 = 1 GiB. What would go beyond it fails as if the machine had no more.
	MaxMemory int64
	// Queue is how many loads may wait; 0 = 16.
	Queue int
	// Log gets what modules log and what becomes of instances; nil = nobody.
	Log *slog.Logger
}

const (
	defaultMemory = 1 << 30
	defaultQueue  = 16
)

// Profile is which family a module belongs to: it says what the module may be
// made of and how much it may do.
type Profile string

// The profiles.
const (
	ProfileSmall Profile = "small" // C, Rust, AssemblyScript and the like
	ProfileOPA   Profile = "opa"   // made by OPA's compiler
	ProfileGo    Profile = "go"    // made by Go's compiler; larger in everything, so the operator opts in
)

// Budgets in units of package meter: a unit is at most about a nanosecond.
const (
	BudgetSmall int64 = 2_000_000
	BudgetOPA   int64 = 5_000_000
	BudgetGo    int64 = 20_000_000
	MaxBudget   int64 = 50_000_000
)

// rules are what the structure check holds a profile to, and its budget.
func (p Profile) rules() (check.Profile, int64, error) {
	switch p {
	case ProfileSmall:
		return check.Small(), BudgetSmall, nil
	case ProfileOPA:
		return check.OPA(), BudgetOPA, nil
	case ProfileGo:
		return check.Go(), BudgetGo, nil
	}
	return check.Profile{}, 0, fmt.Errorf("there is no profile %q; write %s, %s or %s", string(p), ProfileSmall, ProfileOPA, ProfileGo)
}

// maxPages is the largest memory that a profile allows, in pages of 64 KiB: also
// that of a module that names no maximum.
const maxPages = 512

// HostFunc is a built-in function of Rego that the host serves. It is given the
// arguments as a JSON array and returns a JSON value. The slices are its own
// only until it returns. An error ends the evaluation with a fault: one that made
// the call undefined could turn a refusal into a permission. It must be pure,
// bounded in time by the size of its arguments, and safe to call from several
// goroutines.
type HostFunc func(args []byte) ([]byte, error)

// Source is a module to load.
type Source struct {
	Name  string // for errors and logs
	Bytes []byte // not kept after Load

	// Profile is what the module is held to; "" = ProfileOPA for a module of OPA's,
	// else ProfileSmall.
	Profile Profile
	// Budget is how much one call may do, in units; 0 = that of the profile, at
	// most MaxBudget. An evaluation by a module of OPA's may do more by the size of
	// its input, at most MaxBudget too.
	Budget int64
	// Params are the binding's parameters as JSON, for gw_configure; nil = none.
	Params []byte
	// Stateful keeps memory and globals from one call to the next. Its decisions
	// cannot be replayed.
	Stateful bool
	// Unprobed leaves out the calls on made-up input by which Load sees whether the
	// module can answer: for who makes such calls himself.
	Unprobed bool
	// Instances is how many are made ahead; 0 = GOMAXPROCS.
	Instances int

	// The rest is for modules of OPA's compiler.

	// Entrypoint is the rule that Eval asks for, like "gatewright/ranking/score";
	// "" = the only one there is.
	Entrypoint string
	// Data is the document data, as JSON; nil = {}.
	Data []byte
	// Host serves built-ins that are not in the module, by their names in Rego.
	Host map[string]HostFunc
	// HostCost is what a call of a built-in costs, in units of the budget; it is
	// charged before the call. nil = 1,000 and 16 for each byte of the arguments.
	HostCost func(name string, args []byte) int64
	// Own says that this process's own Rego compiler made the module. Its code
	// keeps nothing on the heap from one evaluation to the next, so what lies there
	// need not be cleared.
	Own bool
	// Probes are inputs that every instance must be able to evaluate before the
	// module is accepted.
	Probes [][]byte
}
