package meter

import (
	"fmt"
	"strconv"
)

// Names of exports that Instrument adds. Everything that begins with Reserved
// belongs to the host: a module that brings such an export is refused.
const (
	Reserved = "gw_host_"

	// Budget is the mutable i64 global that holds the units left. The host sets
	// it before each call. Negative after a call that trapped means that the
	// call ran out of budget; every other trap leaves it at zero or above.
	Budget = Reserved + "budget"

	// Start is the function, without parameters and results, that the module had
	// as its start function. An engine would run it where the host can neither
	// set a budget nor read what is left, so it is an export instead: whoever
	// makes an instance calls it once, before anything else.
	Start = Reserved + "start"
)

// State is the name of the export of the module's i-th mutable global, counted
// from 0: with the memory they are all that a module without table.set and its
// like can keep from one call to the next. Only globals that hold numbers have
// one.
func State(i int) string { return Reserved + "state_" + strconv.Itoa(i) }

// Options are what a caller may choose.
type Options struct {
	// Initial is the budget in units that an instance is born with. It matters to
	// hosts that let the engine call exports when it makes an instance. With 0 a
	// module does nothing before the host has set a budget.
	Initial int64
}

// Error is why a module cannot carry a budget.
type Error struct {
	Offset int // in bytes from the module's start
	What   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("instrument module: offset %#x: %s", e.Offset, e.What)
}

// Instrument returns module with a budget in it; see the package's doc for the
// rule. The engine must have validated module before: what is not valid is
// refused with an *Error where it matters here, and otherwise left to be
// refused again. Instrument keeps nothing and does not change its argument.
//
// The result is an eighth longer for usual modules, and eight times as long at
// most, for one that is made of empty loops.
func Instrument(module []byte, o Options) ([]byte, error) {
	m, fault := survey(module)
	if fault != nil {
		return nil, fault
	}
	w := &moduleWriter{m: m, initial: o.Initial, out: append(make([]byte, 0, len(module)+len(module)/4+128), header...)}
	if fault := w.write(module); fault != nil {
		return nil, fault
	}
	return w.out, nil
}
