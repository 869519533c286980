package health

import (
	"encoding/binary"
	"strings"
	"time"

	"gatewright/engine"
)

// The stored records of quotas, with the ids that they have. Each begins with a
// version byte of its own; integers are varints.
//
//	window/provider/name    version, unit, begin (Unix nanoseconds), length
//	                        (nanoseconds), used
//	account/provider        version, then for each sighting: name (length and
//	model/provider/name     bytes), period (nanoseconds), left (ppm; -1 = not
//	                        known), reset (Unix nanoseconds; 0 = not known), taken
//	                        (Unix nanoseconds)
//
// A provider's id holds no slash.
const (
	counterVersion = 1
	boardVersion   = 1
)

const (
	windowRecord  = "window"
	accountRecord = "account"
	modelRecord   = "model"
)

func windowKey(provider, name string) string { return windowRecord + "/" + provider + "/" + name }
func accountKey(provider string) string      { return accountRecord + "/" + provider }
func modelKey(provider, model string) string { return modelRecord + "/" + provider + "/" + model }

// quotaKey splits an id.
func quotaKey(id string) (kind, provider, name string) {
	kind, rest, _ := strings.Cut(id, "/")
	provider, name, _ = strings.Cut(rest, "/")
	return kind, provider, name
}

// storedCounter is what is stored of a counter.
type storedCounter struct {
	unit QuotaUnit
	time hold
	used int64
}

func encodeCounter(c storedCounter) []byte {
	dst := []byte{counterVersion, byte(c.unit)}
	dst = binary.AppendVarint(dst, c.time.begin)
	dst = binary.AppendVarint(dst, int64(c.time.length))
	return binary.AppendVarint(dst, c.used)
}

// decodeCounter reads what encodeCounter wrote.
func decodeCounter(b []byte) (storedCounter, error) {
	r, err := newReader(b, counterVersion)
	if err != nil {
		return storedCounter{}, err
	}
	unit := r.uvarint()
	c := storedCounter{time: hold{begin: r.varint(), length: time.Duration(r.varint())}, used: r.varint()}
	if r.bad || len(r.rest) > 0 || unit >= uint64(quotaUnits) || c.used < 0 || !sane(c.time.begin) ||
		c.time.length <= 0 || c.time.length > maxReset {
		return storedCounter{}, errRecord
	}
	c.unit = QuotaUnit(unit)
	return c, nil
}

// sane reports whether a stored instant is one.
func sane(at int64) bool { return at >= -maxInstant && at <= maxInstant }

func encodeBoard(list []sighting) []byte {
	dst := []byte{boardVersion}
	for i := range list {
		s := &list[i]
		dst = binary.AppendUvarint(dst, uint64(len(s.name)))
		dst = append(dst, s.name...)
		dst = binary.AppendVarint(dst, int64(s.period))
		dst = binary.AppendVarint(dst, max(s.left, -1)) // Unknown is the least number
		dst = binary.AppendVarint(dst, s.resets)
		dst = binary.AppendVarint(dst, s.taken)
	}
	return dst
}

// maxWindowName is the longest name of a window that a record may have.
const maxWindowName = 64

// decodeBoard reads what encodeBoard wrote.
func decodeBoard(b []byte) ([]sighting, error) {
	r, err := newReader(b, boardVersion)
	if err != nil {
		return nil, err
	}
	var list []sighting
	for len(r.rest) > 0 {
		s := sighting{
			name: r.text(maxWindowName), period: time.Duration(r.varint()),
			left: r.varint(), resets: r.varint(), taken: r.varint(),
		}
		if r.bad || len(list) == maxReported || s.name == "" || s.period < 0 || s.period > maxReset ||
			s.left < -1 || s.left > ppm || !sane(s.resets) || !sane(s.taken) {
			return nil, errRecord
		}
		if s.left == -1 {
			s.left = engine.Unknown
		}
		list = append(list, s)
	}
	return list, nil
}

// text reads bytes behind their length.
func (r *reader) text(most uint64) string {
	n := r.uvarint()
	if n > most || n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}
