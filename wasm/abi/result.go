package abi

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// lastInstant is the last instant that a removal may end at, the end of the
// year 9999 in Unix milliseconds.
const lastInstant = 253402300799999

// Verdict is what an admission says of one candidate.
type Verdict struct {
	Reason uint32 // 0 = keep, else 1 + index into the reasons
	Until  int64  // unix ms; Unknown = it lasts
}

// Refusal is an admission's refusal of the whole request; a Status of 0 is none.
type Refusal struct {
	Status     uint32
	RetryAfter uint32 // s; 0 = not said
	Reason     uint32 // 1 + index into the reasons; 0 = not said
}

// Result is what a guest answered, verified. Its slices are reused by the next
// read; nothing of it refers to the guest's memory.
type Result struct {
	Verdicts []Verdict // admission: one a candidate
	Removed  int       // admission: verdicts that remove
	Refusal  Refusal   // admission

	Ordered bool      // ranking: Order holds, else Scores
	Order   []uint32  // ranking: distinct indexes, the first is tried first; some may be missing
	Scores  []float64 // ranking: one a candidate, finite or NaN

	Message []byte // what the guest wrote into the error area, of a refusal or a failure
}

func (r *Result) reset() {
	r.Verdicts, r.Order, r.Scores, r.Message = r.Verdicts[:0], r.Order[:0], r.Scores[:0], r.Message[:0]
	r.Removed, r.Refusal, r.Ordered = 0, Refusal{}, false
}

// ReturnedError is a guest that gave no answer and said so.
type ReturnedError struct {
	Code    int32 // CodeVersion, CodeInput, CodeInternal, CodeOwn and below
	Message string
}

func (e *ReturnedError) Error() string {
	what := "its own error"
	switch e.Code {
	case CodeVersion:
		what = "that it does not know this version of the contract"
	case CodeInput:
		what = "that the input makes no sense"
	case CodeInternal:
		what = "that it failed"
	}
	if e.Message == "" {
		return fmt.Sprintf("returned %d: %s", e.Code, what)
	}
	return fmt.Sprintf("returned %d: %s: %s", e.Code, what, e.Message)
}

// AnswerError is an answer that breaks the contract. All of it is void.
type AnswerError struct {
	Clause Clause // that it breaks; "" = the host's own mistake
	What   string
}

func (e *AnswerError) Error() string { return e.What }

func wrong(c Clause, format string, args ...any) error {
	return &AnswerError{c, fmt.Sprintf(format, args...)}
}

// Read reads and verifies what a guest left in buf, which Encode filled for
// count candidates and the guest then answered with code. The module has so many
// reasons. Whatever buf holds, the error is nil, a *ReturnedError or an
// *AnswerError, and with an error nothing in r counts but Message. It allocates
// nothing unless it fails, once r's slices have grown.
//
// Nothing that buf says of itself is used: offsets are those that Encode has
// written, as it wrote them.
func (r *Result) Read(buf []byte, count int, stage Stage, code int32, reasons int) error {
	r.reset()
	if count < 0 || count > MaxRecords || len(buf) < HeaderSize+count*(RecordSize+OrderSize)+ErrorSize {
		return wrong("", "a buffer of %d bytes for %d candidates", len(buf), count)
	}
	if err := r.message(buf, count); err != nil {
		return err
	}
	if code < 0 {
		if code > CodeOwn && code < CodeInternal {
			return wrong(ClauseReturn, "returned %d, which means nothing; a policy's own codes begin with %d", code, CodeOwn)
		}
		return &ReturnedError{Code: code, Message: string(r.Message)}
	}
	if stage == Admission {
		return r.admission(buf, count, code, reasons)
	}
	return r.ranking(buf, count, code)
}

func get32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func (r *Result) message(buf []byte, count int) error {
	n := get32(buf[HeaderErrorLen:])
	if n == 0 {
		return nil
	}
	if n > ErrorSize {
		return wrong(ClauseMessage, "a message of %d bytes, there is room for %d", n, ErrorSize)
	}
	area := buf[HeaderSize+count*(RecordSize+OrderSize):]
	if !utf8.Valid(area[:n]) {
		return wrong(ClauseMessage, "a message that is not UTF-8")
	}
	r.Message = append(r.Message, area[:n]...)
	return nil
}

func (r *Result) admission(buf []byte, count int, code int32, reasons int) error {
	for i := range count {
		b := (*[RecordSize]byte)(buf[HeaderSize+i*RecordSize:])
		v := Verdict{Reason: get32(b[RecordVerdict:]), Until: Unknown}
		if v.Reason != 0 {
			if int64(v.Reason) > int64(reasons) {
				return wrong(ClauseVerdict, "the verdict %d on candidate %d, there are %d reasons", v.Reason, i, reasons)
			}
			v.Until = int64(binary.LittleEndian.Uint64(b[RecordUntilUnixMs:])) //nolint:gosec // the same bits
			if v.Until != Unknown && (v.Until < 0 || v.Until > lastInstant) {
				return wrong(ClauseUntil, "candidate %d is removed until %d, which is no instant", i, v.Until)
			}
			r.Removed++
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	if int(code) != r.Removed {
		return wrong(ClauseRemoved, "returned %d, and %d candidates have a verdict", code, r.Removed)
	}
	f := Refusal{
		Status:     get32(buf[HeaderRefusalStatus:]),
		RetryAfter: get32(buf[HeaderRefusalRetryAfterS:]),
		Reason:     get32(buf[HeaderRefusalReason:]),
	}
	switch {
	case f.Status == 0 && (f.RetryAfter != 0 || f.Reason != 0):
		return wrong(ClauseRefusal, "a refusal without a status")
	case f.Status != 0 && !slices.Contains(Statuses[:], f.Status):
		return wrong(ClauseRefusal, "a refusal with the status %d, not one of %v", f.Status, Statuses)
	case f.RetryAfter > MaxRetryAfter:
		return wrong(ClauseRefusal, "a refusal for %d seconds, the limit is %d", f.RetryAfter, MaxRetryAfter)
	case int64(f.Reason) > int64(reasons):
		return wrong(ClauseRefusal, "the refusal's reason %d, there are %d reasons", f.Reason, reasons)
	}
	r.Refusal = f
	return nil
}

func (r *Result) ranking(buf []byte, count int, code int32) error {
	n := get32(buf[HeaderOrderCount:])
	if int64(n) != int64(code) {
		return wrong(ClauseOrderCount, "returned %d, and order_count is %d", code, n)
	}
	if int64(n) > int64(count) {
		return wrong(ClauseOrder, "an order of %d entries for %d candidates", n, count)
	}
	if n > 0 {
		r.Ordered = true
		return r.order(buf[HeaderSize+count*RecordSize:], int(n), count)
	}
	for i := range count {
		s := math.Float64frombits(binary.LittleEndian.Uint64(buf[HeaderSize+i*RecordSize+RecordScore:]))
		if math.IsInf(s, 0) {
			return wrong(ClauseScore, "candidate %d has the score %v, which is not finite", i, s)
		}
		r.Scores = append(r.Scores, s)
	}
	return nil
}

func (r *Result) order(area []byte, n, count int) error {
	var seen [MaxRecords / 64]uint64
	for k := range n {
		i := get32(area[k*OrderSize:])
		if int64(i) >= int64(count) {
			return wrong(ClauseOrder, "the order names candidate %d, there are %d", i, count)
		}
		bit := uint64(1) << (i % 64)
		if seen[i/64]&bit != 0 {
			return wrong(ClauseOrder, "the order names candidate %d twice", i)
		}
		seen[i/64] |= bit
		r.Order = append(r.Order, i)
	}
	return nil
}
