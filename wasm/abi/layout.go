package abi

import "math"

// Version is the version of this contract, major in the upper 16 bits. A host
// runs a module of the same major version and of its own or an earlier minor.
const Version = 1 << 16

// Magic is the first word of a buffer, "GWP1" in memory.
const Magic = 0x31505747

// Sizes in bytes. A guest steps by the record size that the header names, so a
// minor version may make records longer.
const (
	HeaderSize = 160
	RecordSize = 224
	OrderSize  = 4   // of one entry of the order area
	ErrorSize  = 256 // of the error area
	TextSize   = 8   // of a text: offset and length
	PairSize   = 2 * TextSize
)

// Limits of what one evaluation is given.
const (
	// MaxRecords is how many candidates one request may have.
	MaxRecords = 1024
	// MaxText is how many bytes of one text are passed on. What is longer is cut
	// before the character that would not fit.
	MaxText = 1024
	// MaxPairs is how many tags, headers or entries of metadata are passed on,
	// the first by key. One whose key is longer than MaxText or not UTF-8 is
	// left out.
	MaxPairs = 64
	// MaxGranted is MaxText for the text of the prompt, also as JSON, where a
	// character may take more.
	MaxGranted = 16 << 10
	// MaxRetryAfter is the longest wait, in seconds, that a refusal may name.
	MaxRetryAfter = 31 * 24 * 60 * 60
)

// Values that stand for a number that nobody knows.
const (
	Unknown      int64  = math.MinInt64
	UnknownCount uint32 = math.MaxUint32
)

// No limit: a caller without a budget or a rate has the largest number there is,
// so that comparing with it needs no special care.
const (
	NoLimit      int64  = math.MaxInt64
	NoLimitCount uint32 = math.MaxUint32
)

// Return codes of gw_admit and gw_rank that say why there is no answer.
const (
	CodeVersion  = -1   // the buffer's version is not one that the guest knows
	CodeInput    = -2   // the buffer makes no sense to the guest
	CodeInternal = -3   // the guest failed
	CodeOwn      = -100 // this and below are the policy's own
)

// Flags of a request (what it needs) and of a record (what it supports).
type Flags uint32

// The flags. Those from Affinity on are of records alone.
const (
	Stream     Flags = 1 << 0
	Tools      Flags = 1 << 1
	Vision     Flags = 1 << 2
	JSONSchema Flags = 1 << 3
	Reasoning  Flags = 1 << 4
	Audio      Flags = 1 << 5
	Affinity   Flags = 1 << 8
	Preferred  Flags = 1 << 9
	Locked     Flags = 1 << 10
)

// Circuit is the state of a candidate's circuit breaker.
type Circuit uint32

// The states of a circuit.
const (
	CircuitClosed Circuit = iota
	CircuitHalfOpen
	CircuitOpen
)

// CircuitNames are the states as the JSON form writes them.
var CircuitNames = [...]string{"closed", "half_open", "open"}

// Skip is why a candidate is not in the pool. 0 means that it is.
type Skip uint32

// SkipNames are the reasons by number. Numbers are only added.
var SkipNames = [...]string{
	"", "disabled", "zero_weight", "model_not_allowed", "provider_not_allowed",
	"supply_tier", "protocol", "capability", "context_window", "policy",
	"cooldown", "quota_exhausted", "no_credential", "latency_cap", "cost_cap",
	"already_tried",
}

// SkipPolicy is the reason of every candidate that another policy removed.
const SkipPolicy Skip = 9

// SkipOf is the number of a reason by its name. A name that has none counts as
// removed by a policy.
func SkipOf(name string) Skip {
	for i, n := range SkipNames {
		if n == name {
			return Skip(i)
		}
	}
	return SkipPolicy
}

// Stage is which of the two questions a policy answers.
type Stage uint8

// The stages. Their names are the kinds of policies.
const (
	Admission Stage = iota
	Ranking
)

func (s Stage) String() string {
	if s == Ranking {
		return "ranking"
	}
	return "admission"
}

// Statuses are the HTTP statuses that a refusal may have.
var Statuses = [...]uint32{400, 402, 403, 429}

// Type is the type of a field in the binary form.
type Type uint8

// The types. None is a field that the JSON form alone has.
const (
	None Type = iota
	U8
	U32
	U64
	I64
	F64
	Text // u32 offset from the buffer's start, u32 length; UTF-8
)

// Size is the length of a field of the type, in bytes.
func (t Type) Size() int {
	switch t {
	case U8:
		return 1
	case U32:
		return 4
	case U64, I64, F64, Text:
		return 8
	case None:
	}
	return 0
}

func (t Type) String() string {
	return [...]string{"", "u8", "u32", "u64", "i64", "f64", "str"}[t]
}

// JSON is the type of a field in the JSON form.
type JSON uint8

// The types. Hidden is a field that the binary form alone has.
const (
	Hidden    JSON = iota
	Integer        // a whole number
	Bool           // true or false
	String         // text
	Map            // an object of texts
	Enum           // one of CircuitNames
	SkipState      // null, or an object of reason and until_unix_ms
)

// Object is the part of the JSON form that a field is in.
type Object uint8

// The objects of the JSON form.
const (
	NoObject Object = iota
	RequestObject
	CallerObject
	CandidateObject
)

func (o Object) String() string {
	return [...]string{"", "request", "caller", "candidates[]"}[o]
}

// Field is one field of the contract, in one or both forms, which call it the
// same.
type Field struct {
	Name   string
	Offset int  // in bytes from the header's or the record's start
	Type   Type // None when the binary form has it elsewhere or not at all
	Guest  bool // written by the guest; the host resets it before each call

	JSON   JSON
	In     Object
	Absent bool // not there while the number is not known; never null
	Median bool // what a ranking is given instead of an unknown number: the pool's median

	Doc string // what it is, with its unit
}
