package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

// A record of a Table is
//
//	version  1 byte, 1
//	crc32c   4 bytes little endian, over the id and all that follows
//	expires  8 bytes little endian, unix milliseconds, 0 = never
//	value    the rest
//
// under the key "i" followed by the id, so that an empty id is a key, too. The
// id is part of the checksum: a value under another's key is found out.
const (
	recordVersion = 1
	recordHead    = 13
	idPrefix      = 'i'
)

// castagnoli is the polynomial that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recordKey is the key of an id in its bucket.
func recordKey(id string) []byte {
	return append([]byte{idPrefix}, id...)
}

// encodeRecord copies value into a new record.
func encodeRecord(id string, value []byte, expires time.Time) []byte {
	b := make([]byte, recordHead, recordHead+len(value))
	b[0] = recordVersion
	binary.LittleEndian.PutUint64(b[5:], uint64(millis(expires))) //nolint:gosec // two's complement, read back the same way
	b = append(b, value...)
	binary.LittleEndian.PutUint32(b[1:], recordSum(id, b))
	return b
}

// decodeRecord returns the id, the value, which is part of b, and the expiry.
func decodeRecord(key, b []byte) (id string, value []byte, expires time.Time, err error) {
	if len(key) == 0 || key[0] != idPrefix {
		return "", nil, time.Time{}, fmt.Errorf("key %q is no record's", key)
	}
	id = string(key[1:])
	switch {
	case len(b) < recordHead:
		return id, nil, time.Time{}, fmt.Errorf("record %q: %d bytes, want at least %d", id, len(b), recordHead)
	case b[0] != recordVersion:
		return id, nil, time.Time{}, fmt.Errorf("record %q: version %d, want %d", id, b[0], recordVersion)
	case binary.LittleEndian.Uint32(b[1:]) != recordSum(id, b):
		return id, nil, time.Time{}, fmt.Errorf("record %q: %w", id, errChecksum)
	}
	if ms := int64(binary.LittleEndian.Uint64(b[5:])); ms != 0 { //nolint:gosec // see encodeRecord
		expires = time.UnixMilli(ms)
	}
	return id, b[recordHead:], expires, nil
}

// errChecksum means that bytes changed after they were written.
var errChecksum = errors.New("wrong checksum")

// recordSum is the checksum of an encoded record.
func recordSum(id string, b []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(id), castagnoli), castagnoli, b[5:])
}

// millis is the stored form of an expiry. A time that would read as "never" is
// one millisecond later: it has passed either way.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if ms := t.UnixMilli(); ms != 0 {
		return ms
	}
	return 1
}

// expired says whether a record with that expiry is over at now.
func expired(expires, now time.Time) bool {
	return !expires.IsZero() && !now.Before(expires)
}

const (
	// nothing is later than every instant.
	nothing = math.MaxInt64
	// never is the expiry of an affinity record that does not expire.
	never = nothing - 1
)

// instant is t in unix nanoseconds; times outside the years 1678 to 2262 become
// the nearest instant inside.
func instant(t time.Time) int64 {
	const limit = math.MaxInt64/int64(time.Second) - 1
	switch s := t.Unix(); {
	case s < -limit:
		return -limit * int64(time.Second)
	case s > limit:
		return limit * int64(time.Second)
	default:
		return t.UnixNano()
	}
}

// deadline is the instant of an expiry, with never for the zero time.
func deadline(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return instant(t)
}

// moment is the time of an instant.
func moment(n int64) time.Time {
	if n >= never {
		return time.Time{}
	}
	return time.Unix(0, n)
}
