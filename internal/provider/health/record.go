package health

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// The stored records. Each begins with a version byte of its own; integers are
// varints.
//
//	hold    version, begin (Unix nanoseconds), length (nanoseconds)
//	slot    version, begin (Unix seconds), tally; version 1 has no latencies
//	tally   successes, failures, last success (1 + milliseconds since begin; 0 =
//	        none), then for each kind the number of cells that are not empty and
//	        for each of those: cells skipped since the one before, count
const (
	holdVersion = 1
	slotVersion = 2

	slotVersion1 = 1 // read, no longer written
	kinds1       = 3 // that it has: those before latency
)

// maxInstant keeps sums of a stored instant and a hold within int64.
const maxInstant = 1 << 62

var (
	errVersion = errors.New("unknown version")
	errRecord  = errors.New("not a record")
)

// encodeHold returns the record of a circuit or a cooldown.
func encodeHold(h hold) []byte {
	dst := []byte{holdVersion}
	dst = binary.AppendVarint(dst, h.begin)
	return binary.AppendVarint(dst, int64(h.length))
}

// decodeHold reads what encodeHold wrote.
func decodeHold(b []byte) (hold, error) {
	r, err := newReader(b, holdVersion)
	if err != nil {
		return hold{}, err
	}
	h := hold{begin: r.varint(), length: time.Duration(r.varint())}
	if r.bad || len(r.rest) > 0 || h.length <= 0 || h.length > maxHold || h.begin < -maxInstant || h.begin > maxInstant {
		return hold{}, errRecord
	}
	return h, nil
}

// encodeSlot returns the record of a slot that began at a Unix second.
func encodeSlot(begin int64, payload []byte) []byte {
	dst := []byte{slotVersion}
	dst = binary.AppendVarint(dst, begin)
	return append(dst, payload...)
}

// decodeSlot reads what encodeSlot wrote: it returns the number of the slot
// that is nearest to its begin, and sets t to what fell into it.
func decodeSlot(b []byte, t *tally) (number int64, err error) {
	*t = tally{}
	kinds, version := kindCount, byte(slotVersion)
	if len(b) > 0 && b[0] == slotVersion1 {
		kinds, version = kinds1, slotVersion1
	}
	r, err := newReader(b, version)
	if err != nil {
		return 0, err
	}
	begin := r.varint()
	const most = maxInstant / int64(time.Second)
	if r.bad || begin < -most || begin > most {
		return 0, errRecord
	}
	number = slotOf(begin*int64(time.Second) + int64(slotLength)/2)
	return number, decodeKinds(r.rest, number, t, kinds)
}

// appendTally appends what fell into a slot; nothing for an empty one.
func appendTally(dst []byte, number int64, t *tally) []byte {
	if *t == (tally{}) {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(t.succeeded))
	dst = binary.AppendUvarint(dst, uint64(t.failed))
	var last uint64
	if t.lastSuccess != 0 {
		since := min(max(t.lastSuccess-slotStart(number), 0), int64(slotLength))
		last = 1 + uint64(since/int64(time.Millisecond))
	}
	dst = binary.AppendUvarint(dst, last)
	for k := range t.kinds {
		dst = appendCounts(dst, &t.kinds[k])
	}
	return dst
}

func appendCounts(dst []byte, c *counts) []byte {
	var used uint64
	for _, n := range c {
		if n > 0 {
			used++
		}
	}
	dst = binary.AppendUvarint(dst, used)
	next := 0
	for i, n := range c {
		if n > 0 {
			dst = binary.AppendUvarint(dst, uint64(i-next))
			dst = binary.AppendUvarint(dst, uint64(n))
			next = i + 1
		}
	}
	return dst
}

// decodeTally reads what appendTally wrote into an empty tally.
func decodeTally(b []byte, number int64, t *tally) error {
	return decodeKinds(b, number, t, kindCount)
}

// decodeKinds is decodeTally of a tally that has only the first of the kinds.
func decodeKinds(b []byte, number int64, t *tally, kinds kind) error {
	if len(b) == 0 {
		return nil
	}
	r := reader{rest: b}
	t.succeeded, t.failed = r.count(), r.count()
	last := r.uvarint()
	if last > 1+uint64(slotLength/time.Millisecond) {
		return errRecord
	}
	if last > 0 {
		t.lastSuccess = slotStart(number) + int64(last-1)*int64(time.Millisecond)
	}
	for k := range kinds {
		r.counts(&t.kinds[k])
	}
	if r.bad || len(r.rest) > 0 {
		return errRecord
	}
	return nil
}

// reader reads integers off bytes that may be anything. After the first fault
// bad is set and every integer is 0.
type reader struct {
	rest []byte
	bad  bool
}

func newReader(b []byte, version byte) (*reader, error) {
	if len(b) == 0 {
		return nil, errRecord
	}
	if b[0] != version {
		return nil, fmt.Errorf("%w %d", errVersion, b[0])
	}
	return &reader{rest: b[1:]}, nil
}

func (r *reader) take(n int) {
	if n <= 0 {
		r.bad, r.rest = true, nil
		return
	}
	r.rest = r.rest[n:]
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	r.take(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.take(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) count() uint32 {
	v := r.uvarint()
	if v > math.MaxUint32 {
		r.bad, v = true, 0
	}
	return uint32(v)
}

func (r *reader) counts(c *counts) {
	used := r.uvarint()
	if used > cells {
		r.bad = true
		return
	}
	next := uint64(0)
	for range used {
		skip := r.uvarint()
		n := r.count()
		if r.bad || skip >= cells-next {
			r.bad = true
			return
		}
		c[next+skip] = n
		next += skip + 1
	}
}

// slotKey is the id of a slot's record. The number leads, so that what is
// written together lies together.
func slotKey(number int64, deployment string) string {
	return fmt.Sprintf("%010d/%s", number, deployment)
}

// keyDeployment returns the deployment of a slot's record.
func keyDeployment(key string) (string, bool) {
	_, id, ok := strings.Cut(key, "/")
	return id, ok
}
