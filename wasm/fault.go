package wasm

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/sys"

	"gatewright/wasm/abi"
)

// FaultKind is in which way a policy failed. The set is closed.
type FaultKind uint8

// The kinds of faults.
const (
	FaultTrap     FaultKind = iota + 1 // it did what the machine forbids, or gave up
	FaultBudget                        // it used up its instructions
	FaultStack                         // it called too deep
	FaultMemory                        // there is no room for the input
	FaultContract                      // its answer breaks the contract, so all of it is void
	FaultReturned                      // it said itself that it has no answer
	FaultHost                          // a function of the host that it called refused
	FaultBusy                          // no instance was free in time
	FaultClosed                        // it was closed
)

var kindNames = [...]string{
	FaultTrap: "trap", FaultBudget: "budget", FaultStack: "stack", FaultMemory: "memory", FaultContract: "contract",
	FaultReturned: "returned", FaultHost: "host", FaultBusy: "busy", FaultClosed: "closed",
}

// String is the name that decisions, logs and metrics show.
func (k FaultKind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "FaultKind(" + strconv.Itoa(int(k)) + ")"
}

// Fault is a policy that gave no answer. Its whole answer is void.
type Fault struct { //nolint:errname // the word of decisions, logs and metrics
	Module string // by its source's name
	Kind   FaultKind
	Detail string // one line, at most 512 bytes; may quote the guest
	Err    error  // what is behind it, or nil: *abi.ReturnedError, *abi.AnswerError, …
}

func (f *Fault) Error() string {
	return "policy " + strconv.Quote(f.Module) + ": " + f.Kind.String() + ": " + f.Detail
}

func (f *Fault) Unwrap() error { return f.Err }

// ErrUndefined is what Eval returns when the entry point has no value. It is no
// fault of the sandbox: whether a policy may be undefined is for others to say.
var ErrUndefined = errors.New("the entry point is undefined")

// ErrQueueFull is what Load returns when too many loads wait already.
var ErrQueueFull = errors.New("too many policies are waiting to be compiled")

// ErrClosed is what a runtime returns that was closed.
var ErrClosed = errors.New("the sandbox is closed")

// Step is a step of loading.
type Step string

// The steps of loading, in their order.
const (
	StepSource     Step = "source"     // the settings that came with the bytes
	StepCheck      Step = "check"      // the structure of the bytes
	StepManifest   Step = "manifest"   // what the module says of itself
	StepValidate   Step = "validate"   // the types of the code
	StepInstrument Step = "instrument" // writing the budget into it
	StepCompile    Step = "compile"
	StepInstance   Step = "instance" // making the first instances
	StepProbe      Step = "probe"    // a call on made-up input
)

// LoadError is why a module was not accepted.
type LoadError struct {
	Module string
	Step   Step
	Err    error // *check.Error for StepCheck
}

func (e *LoadError) Error() string {
	return "load policy " + strconv.Quote(e.Module) + ": " + string(e.Step) + ": " + e.Err.Error()
}

func (e *LoadError) Unwrap() error { return e.Err }

// hostError is what a function of the host throws through the guest. The engine
// hands it back.
type hostError struct {
	kind FaultKind
	what string
}

func (e *hostError) Error() string { return e.what }

// engineFault says what an error of the engine means for a guest that has so
// much of its budget left.
func engineFault(err error, left int64) *Fault {
	f := &Fault{Kind: FaultTrap, Err: err}
	thrown, isThrown := errors.AsType[*hostError](err)
	exit, isExit := errors.AsType[*sys.ExitError](err)
	switch {
	case left < 0:
		f.Kind, f.Detail, f.Err = FaultBudget, "its instructions are used up", nil
	case isThrown:
		f.Kind, f.Detail = thrown.kind, oneLine(thrown.what)
	case isExit:
		f.Detail = "exited with code " + strconv.FormatUint(uint64(exit.ExitCode()), 10)
	case strings.Contains(err.Error(), "stack overflow"):
		f.Kind, f.Detail, f.Err = FaultStack, "it called too deep", nil
	default:
		f.Detail = oneLine(strings.TrimPrefix(err.Error(), "wasm error: "))
	}
	return f
}

// answerFault says what an answer that was refused means.
func answerFault(err error) *Fault {
	f := &Fault{Kind: FaultContract, Detail: oneLine(err.Error()), Err: err}
	if _, ok := errors.AsType[*abi.ReturnedError](err); ok {
		f.Kind = FaultReturned
	}
	return f
}

const maxDetail = 512

// oneLine makes text of the guest or the engine fit to be shown: one line of
// bounded length, without control characters.
func oneLine(s string) string {
	if len(s) > 4*maxDetail {
		s = s[:4*maxDetail]
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }), "; ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	for len(s) > maxDetail {
		s = s[:maxDetail]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}
