//go:build wasip1

// Package gatewright is the SDK for Go: policies as WebAssembly modules, contract
// version 1. It needs nothing but the standard library. This file has what a policy
// reads and answers, params.go what a binding hands it.
//
// A policy is a package main that imports it and exports its functions. An
// admission:
//
//	package main
//
//	const region = 1 // 1 + the index into the manifest's reasons
//
//	//go:wasmexport gw_admit
//	func decide(at, size uint32) int32 { return gatewright.Admission(at, size, admit) }
//
//	func admit(r *gatewright.Request) error {
//		for c := range r.Candidates() {
//			if !strings.HasPrefix(c.Region.String(), "eu-") {
//				c.Remove(region)
//			}
//		}
//		return nil
//	}
//
//	func main() {}
//
// A ranking exports gw_rank in place of gw_admit, with Ranking in place of
// Admission, and calls SetScore or Order. The folders admission and ranking are
// whole examples, with their manifests in a comment. Build with Go 1.24 or later:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w" -o policy.wasm .
//
// Go brings its runtime along: such a module has 2 MB (with encoding/json 3 MB)
// and needs the profile go, which an operator must allow.
package gatewright

import (
	"iter"
	"slices"
	"strings"
	"unsafe"
)

// ---- made by go generate ./wasm/abi: do not edit below ----

// The version of the contract: major in the upper 16 bits, minor in the lower.
const (
	ABIVersion uint32 = 65536
	magic      uint32 = 827348807 // "GWP1"
	MaxRecords uint32 = 1024      // candidates of one request
)

// Numbers of 64 bits with a meaning of their own.
const (
	Unknown int64 = -1 << 63            // nobody knows
	NoLimit int64 = 9223372036854775807 // the caller has no budget
)

// The same in 32 bits.
const (
	UnknownCount uint32 = 0xffffffff
	NoLimitCount uint32 = 0xffffffff // the caller has no such rate
)

// What a policy returns.
const (
	OK         int32 = 0
	BadVersion int32 = -1   // the version of the buffer is not known
	BadInput   int32 = -2   // the input or the parameters make no sense
	Failed     int32 = -3   // the policy failed
	Own        int32 = -100 // this and below are the policy's own
)

// Flags: what a request needs, what a candidate supports. From affinity on, what a candidate is.
const (
	Stream     uint32 = 1
	Tools      uint32 = 2
	Vision     uint32 = 4
	JSONSchema uint32 = 8
	Reasoning  uint32 = 16
	Audio      uint32 = 32
	Affinity   uint32 = 256  // the session was served here
	Preferred  uint32 = 512  // the caller prefers its provider
	Locked     uint32 = 1024 // the caller named its provider
)

// States of a candidate's circuit breaker.
const (
	CircuitClosed   uint32 = 0
	CircuitHalfOpen uint32 = 1
	CircuitOpen     uint32 = 2
)

// Why a candidate is not in the pool; 0 = it is. Numbers are only added.
const (
	SkippedDisabled           uint32 = 1
	SkippedZeroWeight         uint32 = 2
	SkippedModelNotAllowed    uint32 = 3
	SkippedProviderNotAllowed uint32 = 4
	SkippedSupplyTier         uint32 = 5
	SkippedProtocol           uint32 = 6
	SkippedCapability         uint32 = 7
	SkippedContextWindow      uint32 = 8
	SkippedPolicy             uint32 = 9
	SkippedCooldown           uint32 = 10
	SkippedQuotaExhausted     uint32 = 11
	SkippedNoCredential       uint32 = 12
	SkippedLatencyCap         uint32 = 13
	SkippedCostCap            uint32 = 14
	SkippedAlreadyTried       uint32 = 15
)

// Request is what is asked: the header of the buffer.
type Request struct {
	magic              uint32 // "GWP1"
	abi                uint32 // the version of the contract, major in the upper 16 bits
	Count              uint32 // records, at most 1,024
	recordSize         uint32 // bytes from one record to the next
	recordsOff         uint32 // where the first record is
	stringsOff         uint32 // where the texts begin
	Seed               uint64 // the only randomness there is: the same for all turns of a session
	NowUnixMS          int64  // when the request came; the only clock there is
	InputTokens        uint32 // estimate that errs low; 0 = not known
	MaxOutputTokens    uint32 // output tokens that the caller allows; 0 = not named
	RequestFlags       uint32 // what the request needs, see the flags
	Hour               uint8  // 0 to 23, UTC
	Weekday            uint8  // 0 = Sunday to 6 = Saturday, UTC
	Month              uint8  // 1 to 12, UTC
	Day                uint8  // of the month, 1 to 31, UTC
	BudgetLeftNUSD     int64  // nano-USD left to the caller; the largest number = no limit
	Org                Text   // the caller's organisation
	Team               Text   // the caller's team
	Key                Text   // the name of the caller's key, never the key
	Model              Text   // the model as the caller named it
	Session            Text   // names the conversation, the same for all its turns; empty = none
	orderOff           uint32 // where a ranking writes its order: u32 indexes, the first is tried first
	orderCount         uint32 // entries written there
	errorOff           uint32 // where a message may be written, UTF-8
	errorCap           uint32 // room for it, in bytes
	errorLen           uint32 // bytes written there
	attrsOff           uint32 // where the attributes are; 0 = none
	refusalStatus      uint32 // admission: 400, 402, 403 or 429 refuses the whole request; 0 = no refusal
	refusalRetryAfterS uint32 // seconds after which to come back; 0 = not said
	refusalReason      uint32 // 1 + index into the manifest's reasons: the error code; 0 = policy
	AttemptBudget      uint32 // calls of upstreams that the request may make
	RPMLeft            uint32 // requests left in this minute; the largest number = no limit
	TPMLeft            uint32 // tokens left in this minute; the largest number = no limit
	Endpoint           Text   // what was called: chat, completions, embeddings, messages, …
}

var _ [160]byte = [unsafe.Sizeof(Request{})]byte{}

// Candidate is one deployment that could serve the request.
type Candidate struct {
	Index              uint32  // place of the record, from 0; what an order is made of
	Flags              uint32  // what the candidate supports and is, see the flags
	Skipped            uint32  // why it is not in the pool, by number; 0 = it is. No policy can bring it back
	Tier               uint32  // 0 = the highest priority in this pool, then 1, …
	Priority           uint32  // the larger, the earlier
	Weight             uint32  // its share among equals
	ContextLimit       uint32  // tokens of input and output; may be unknown
	MaxOutput          uint32  // tokens of output; may be unknown
	verdict            uint32  // admission: 1 + index into the manifest's reasons removes the candidate; 0 = keep
	Circuit            uint32  // 0 closed, 1 half_open, 2 open
	PriceIn            int64   // nano-USD per million tokens of input; may be unknown
	PriceOut           int64   // nano-USD per million tokens of output; may be unknown
	TTFTMS             int64   // median time to the first token, in milliseconds; may be unknown
	LatencyP50MS       int64   // median time to the whole answer, in milliseconds; may be unknown
	LatencyP95MS       int64   // the same that 95 of 100 answers keep to; may be unknown
	SuccessPPM         int64   // share of requests that succeeded, in millionths; may be unknown
	ThroughputTPSMilli int64   // output, in thousandths of a token per second; may be unknown
	QuotaLeftPPM       int64   // share of its quota that is left, in millionths; may be unknown
	QuotaResetUnixMS   int64   // when the quota is full again; may be unknown
	SkippedUntilUnixMS int64   // when it comes back by itself
	InFlight           uint32  // requests that it is serving now
	Samples            uint32  // requests that these figures rest on; 0 = nothing is measured
	LastSuccessUnixMS  int64   // when it last succeeded; may be unknown
	ID                 Text    // of the deployment
	Provider           Text    // who serves it
	Model              Text    // the public name of the model
	Region             Text    // of the provider; empty = not known
	SupplyTier         Text    // of the provider; empty = none
	tagsOff            uint32  // where its tags are, a list like the attributes; 0 = none
	reserved           uint32  // 0
	score              float64 // ranking: the lower, the earlier; NaN = none, goes behind those that have one
	untilUnixMs        int64   // admission: when the removal ends; the smallest number = it lasts
	EstCostNUSD        int64   // what the request is likely to cost, in nano-USD; may be unknown
	UpstreamModel      Text    // the provider's name of the model
	Price              int64   // 3 × price_in + price_out, as the gateway compares it: rounded once where a sale applies; may be unknown
}

var _ [224]byte = [unsafe.Sizeof(Candidate{})]byte{}

// ---- made by go generate ./wasm/abi: do not edit above ----

// Known reports whether anybody knows the number.
func Known(n int64) bool { return n != Unknown }

// KnownCount is the same for ContextLimit and MaxOutput.
func KnownCount(n uint32) bool { return n != UnknownCount }

// buffer is what the gateway writes into.
var buffer []byte

// Text is a text of the buffer.
type Text struct{ off, len uint32 }

// String returns the text, which is valid until the policy returns: who keeps it
// clones it.
func (t Text) String() string {
	if t.len == 0 {
		return ""
	}
	return unsafe.String(&buffer[t.off], t.len)
}

// Candidates are all candidates, also those that are skipped.
func (r *Request) Candidates() iter.Seq[*Candidate] {
	return func(yield func(*Candidate) bool) {
		for i := range r.Count {
			if !yield((*Candidate)(unsafe.Pointer(&buffer[r.recordsOff+i*r.recordSize]))) {
				return
			}
		}
	}
}

// Attr is an attribute: "tag.NAME", "header.name", "meta.NAME", "id", or "text"
// where the binding grants it.
func (r *Request) Attr(key string) (value string, ok bool) { return find(r.attrsOff, key) }

// Tag is the value of a tag.
func (c *Candidate) Tag(key string) (value string, ok bool) { return find(c.tagsOff, key) }

// find is the value of a key in a list of attributes or tags, which is sorted.
func find(list uint32, key string) (string, bool) {
	if list == 0 {
		return "", false
	}
	n := *(*uint32)(unsafe.Pointer(&buffer[list]))
	pairs := unsafe.Slice((*[2]Text)(unsafe.Pointer(&buffer[list+4])), n)
	i, ok := slices.BinarySearchFunc(pairs, key, func(p [2]Text, key string) int { return strings.Compare(p[0].String(), key) })
	if !ok {
		return "", false
	}
	return pairs[i][1].String(), true
}

// removed counts the candidates that have a verdict.
var removed int32

// Remove removes the candidate. reason is 1 + an index into the manifest's
// reasons. Of two removals the later one counts.
func (c *Candidate) Remove(reason uint32) { c.RemoveUntil(reason, Unknown) }

// RemoveUntil does so until an instant (1970 to 9999), which users are shown.
func (c *Candidate) RemoveUntil(reason uint32, unixMS int64) {
	if c.verdict == 0 && reason != 0 {
		removed++
	}
	c.verdict, c.untilUnixMs = reason, unixMS
}

// SetScore scores the candidate: the lower, the earlier. One without a score goes
// behind those that have one.
func (c *Candidate) SetScore(score float64) { c.score = score }

// Refuse refuses the whole request: status is 400, 402, 403 or 429; retryAfterS is
// when to come back, 0 = not said; message has at most 256 bytes.
func (r *Request) Refuse(status, reason, retryAfterS uint32, message string) {
	r.refusalStatus, r.refusalReason, r.refusalRetryAfterS = status, reason, retryAfterS
	r.say(message)
}

// Order puts a candidate behind those that were put before it. With an order
// scores do not count.
func (r *Request) Order(c *Candidate) {
	if r.orderCount < r.Count {
		*(*uint32)(unsafe.Pointer(&buffer[r.orderOff+4*r.orderCount])) = c.Index
		r.orderCount++
	}
}

func (r *Request) say(message string) {
	message = strings.ToValidUTF8(message[:min(len(message), int(r.errorCap))], "")
	r.errorLen = uint32(copy(buffer[r.errorOff:], message))
}

// Fail is why there is no answer: BadInput, Failed, or Own and below. Any other
// error is Failed, or BadInput of Configure.
type Fail struct {
	Code    int32
	Message string
}

func (f *Fail) Error() string { return f.Message }

// Levels of the log.
const (
	Debug int32 = iota
	Info
	Warn
	Error
)

// Log writes to the gateway's log: at most 16 lines of 1 KiB for each call.
//
//go:wasmimport gw log
func Log(level int32, message string)

// Admission is what gw_admit returns, when f decides.
func Admission(at, size uint32, f func(*Request) error) int32 {
	removed = 0
	return answer(at, size, f, func(*Request) int32 { return removed })
}

// Ranking is what gw_rank returns, when f decides.
func Ranking(at, size uint32, f func(*Request) error) int32 {
	return answer(at, size, f, func(r *Request) int32 { return int32(r.orderCount) })
}

func answer(at, size uint32, f func(*Request) error, count func(*Request) int32) int32 {
	if at != uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))) || size < uint32(unsafe.Sizeof(Request{})) || size > uint32(len(buffer)) {
		return BadInput
	}
	r := (*Request)(unsafe.Pointer(&buffer[0]))
	switch {
	case r.magic != magic:
		return BadInput
	case r.abi>>16 != ABIVersion>>16:
		return BadVersion
	case r.Count > MaxRecords || r.recordSize < uint32(unsafe.Sizeof(Candidate{})):
		return BadInput
	case r.recordsOff > size || (size-r.recordsOff)/r.recordSize < r.Count:
		return BadInput
	}
	if err := f(r); err != nil {
		r.say(err.Error())
		return code(err, Failed)
	}
	return count(r)
}

// code is what stands for an error.
func code(err error, other int32) int32 {
	if fail, ok := err.(*Fail); ok {
		return fail.Code
	}
	return other
}

//go:wasmexport gw_abi_version
func abiVersion() uint32 { return ABIVersion }

// alloc gives the gateway a buffer, and a larger one when it needs more.
//
//go:wasmexport gw_alloc
func alloc(size uint32) uint32 {
	const align, most = 16, 16 << 20
	if size > most {
		return 0
	}
	if buffer == nil || uint32(len(buffer)) < size {
		room := make([]byte, max(size, 16<<10)+align)
		at := uintptr(unsafe.Pointer(&room[0]))
		buffer = room[(align-at%align)%align:][:len(room)-align]
	}
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buffer))))
}
