package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A segment is one value of the affinity log: all sessions that changed between
// two flushes, or a part of all that live, written by compaction. Its key is its
// number, 8 bytes big endian; numbers grow. It stands alone:
//
//	version  1 byte, 1
//	crc32c   4 bytes little endian, over the number and all that follows
//	base     8 bytes little endian, unix nanoseconds
//	texts    uvarint count, then for each: uvarint length, bytes
//	records  uvarint count, then for each:
//	  key      16 bytes
//	  text     uvarint; 0 = the session was forgotten and the record ends here,
//	           else the number of its text, from 1
//	  at       varint, nanoseconds from base
//	  expires  varint, nanoseconds from at
//
// Differences wrap around, so that every pair of instants can be kept.
const (
	segmentVersion = 1
	segmentHead    = 13
	keySize        = 16
	maxRecordSize  = keySize + 3*binary.MaxVarintLen64
)

// affinityRecord is one change of a session's target.
type affinityRecord struct {
	key     Key
	value   string
	at      int64 // unix nanoseconds
	expires int64 // unix nanoseconds, or never
	gone    bool  // forgotten; only key counts
}

// segmentWriter packs records into one segment. Reset makes it fresh; its memory
// is used again.
type segmentWriter struct {
	texts   []string
	numbers map[string]uint64 // text -> number, from 1
	size    int               // of texts
	base    int64
	count   uint64
	records []byte
}

// reset drops all records.
func (w *segmentWriter) reset() {
	if w.numbers == nil {
		w.numbers = make(map[string]uint64)
	}
	clear(w.numbers)
	clear(w.texts)
	w.texts, w.records, w.size, w.count = w.texts[:0], w.records[:0], 0, 0
}

// bytes is about how long the segment would be now, never less than it will be.
func (w *segmentWriter) bytes() int {
	return segmentHead + 2*binary.MaxVarintLen64 + w.size + len(w.records)
}

// add packs one record.
func (w *segmentWriter) add(r *affinityRecord) {
	if w.count == 0 {
		w.base = r.at
	}
	w.count++
	w.records = append(w.records, r.key[:]...)
	if r.gone {
		w.records = append(w.records, 0)
		return
	}
	number, ok := w.numbers[r.value]
	if !ok {
		w.texts = append(w.texts, r.value)
		number = uint64(len(w.texts))
		w.numbers[r.value] = number
		w.size += binary.MaxVarintLen64 + len(r.value)
	}
	w.records = binary.AppendUvarint(w.records, number)
	w.records = binary.AppendVarint(w.records, r.at-w.base)
	w.records = binary.AppendVarint(w.records, r.expires-r.at)
}

// segment returns a fresh encoding of the records under that number.
func (w *segmentWriter) segment(number uint64) []byte {
	b := make([]byte, segmentHead, w.bytes())
	b[0] = segmentVersion
	binary.LittleEndian.PutUint64(b[5:], uint64(w.base)) //nolint:gosec // two's complement, read back the same way
	b = binary.AppendUvarint(b, uint64(len(w.texts)))
	for _, text := range w.texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	b = binary.AppendUvarint(b, w.count)
	b = append(b, w.records...)
	binary.LittleEndian.PutUint32(b[1:], segmentSum(number, b))
	return b
}

// segmentKey is the key of a segment in its bucket.
func segmentKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, number)
}

// segmentNumber is the inverse of segmentKey.
func segmentNumber(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("key %x is no segment's", key)
	}
	return binary.BigEndian.Uint64(key), nil
}

// segmentSum is the checksum of an encoded segment.
func segmentSum(number uint64, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(segmentKey(number), castagnoli), castagnoli, b[5:])
}

var errShort = errors.New("ends early")

// decodeSegment calls each for the records of a segment in order and returns how
// many there were. Texts are copied once a segment; the record is the callee's
// only until each returns. A segment that is not exactly what segment makes is
// an error, and no record of one with a wrong checksum is shown.
func decodeSegment(number uint64, b []byte, each func(*affinityRecord)) (int, error) {
	switch {
	case len(b) < segmentHead:
		return 0, errShort
	case b[0] != segmentVersion:
		return 0, fmt.Errorf("version %d, want %d", b[0], segmentVersion)
	case binary.LittleEndian.Uint32(b[1:]) != segmentSum(number, b):
		return 0, errChecksum
	}
	base := int64(binary.LittleEndian.Uint64(b[5:])) //nolint:gosec // see segment
	d := segmentReader{rest: b[segmentHead:]}
	texts := d.texts()
	count := d.uvarint()
	if d.err == nil && count > uint64(len(d.rest))/(keySize+1) {
		return 0, fmt.Errorf("%d records in %d bytes", count, len(d.rest))
	}
	var r affinityRecord
	for range count {
		d.record(&r, base, texts)
		if d.err != nil {
			return 0, d.err
		}
		each(&r)
	}
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes too many", len(d.rest))
	}
	return int(count), d.err //nolint:gosec // bounded by the length of b
}

// segmentReader reads forward; after an error it returns zeroes.
type segmentReader struct {
	rest []byte
	err  error
}

// uvarint reads one unsigned number.
func (d *segmentReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// varint reads one signed number.
func (d *segmentReader) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// fail keeps the first error and ends the input.
func (d *segmentReader) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = nil
}

// texts reads the table of texts.
func (d *segmentReader) texts() []string {
	count := d.uvarint()
	if count > uint64(len(d.rest)) { // each takes a byte at least
		d.fail(errShort)
		return nil
	}
	texts := make([]string, 0, count)
	for range count {
		n := d.uvarint()
		if n > uint64(len(d.rest)) {
			d.fail(errShort)
			return nil
		}
		texts = append(texts, string(d.rest[:n]))
		d.rest = d.rest[n:]
	}
	return texts
}

// record reads one record into r.
func (d *segmentReader) record(r *affinityRecord, base int64, texts []string) {
	if len(d.rest) < keySize {
		d.fail(errShort)
		return
	}
	*r = affinityRecord{key: Key(d.rest)}
	d.rest = d.rest[keySize:]
	number := d.uvarint()
	if number == 0 {
		r.gone = true
		return
	}
	if number > uint64(len(texts)) {
		d.fail(fmt.Errorf("text %d of %d", number, len(texts)))
		return
	}
	r.value = texts[number-1]
	r.at = base + d.varint()
	r.expires = r.at + d.varint()
}
