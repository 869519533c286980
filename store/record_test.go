package store

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRecordRoundTrip(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	for _, c := range []struct {
		name    string
		id      string
		value   string
		expires time.Time
		want    time.Time
	}{
		{"plain", "dep-1", "open", now, now},
		{"never", "dep-1", "open", time.Time{}, time.Time{}},
		{"empty id and value", "", "", now, now},
		{"bytes of any kind", "\x00\xff\n", "\x00\x01\xfe", now, now},
		{"longest id", strings.Repeat("x", MaxID), "v", now, now},
		{"the epoch is not never", "a", "v", time.UnixMilli(0), time.UnixMilli(1)},
		{"before the epoch", "a", "v", time.UnixMilli(-5), time.UnixMilli(-5)},
		{"below a millisecond", "a", "v", now.Add(999 * time.Microsecond), now},
	} {
		t.Run(c.name, func(t *testing.T) {
			record := encodeRecord(c.id, []byte(c.value), c.expires)
			id, value, expires, err := decodeRecord(recordKey(c.id), record)
			if err != nil {
				t.Fatal(err)
			}
			if id != c.id || string(value) != c.value || !expires.Equal(c.want) {
				t.Errorf("got %q %q %v, want %q %q %v", id, value, expires, c.id, c.value, c.want)
			}
		})
	}
}

func TestRecordDamage(t *testing.T) {
	record := encodeRecord("dep-1", []byte("value"), time.UnixMilli(1))
	change := func(i int, b byte) []byte {
		r := bytes.Clone(record)
		r[i] = b
		return r
	}
	for _, c := range []struct {
		name   string
		key    []byte
		record []byte
		want   string
	}{
		{"empty", recordKey("dep-1"), nil, "0 bytes"},
		{"short", recordKey("dep-1"), record[:recordHead-1], "12 bytes"},
		{"newer version", recordKey("dep-1"), change(0, 2), "version 2, want 1"},
		{"changed value", recordKey("dep-1"), change(recordHead, 'V'), "wrong checksum"},
		{"changed expiry", recordKey("dep-1"), change(6, 9), "wrong checksum"},
		{"cut value", recordKey("dep-1"), record[:len(record)-1], "wrong checksum"},
		{"under another id", recordKey("dep-2"), record, "wrong checksum"},
		{"strange key", []byte("dep-1"), record, "no record's"},
		{"no key", nil, record, "no record's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, _, err := decodeRecord(c.key, c.record)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte("idep-1"), encodeRecord("dep-1", []byte("value"), time.UnixMilli(1_790_000_000_000)))
	f.Add([]byte("i"), encodeRecord("", nil, time.Time{}))
	f.Add([]byte("x"), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, key, record []byte) {
		id, value, expires, err := decodeRecord(key, record)
		if err != nil {
			return
		}
		if again := encodeRecord(id, value, expires); !bytes.Equal(again, record) {
			t.Errorf("encoded again: %x, want %x", again, record)
		}
	})
}

func TestInstant(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.UTC)
	for _, c := range []struct {
		name string
		t    time.Time
		want int64
	}{
		{"now", at, at.UnixNano()},
		{"long ago", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), -9_223_372_035_000_000_000},
		{"far away", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 9_223_372_035_000_000_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := instant(c.t); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
	if got := moment(deadline(time.Time{})); !got.IsZero() {
		t.Errorf("never became %v", got)
	}
}

func TestSegmentRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 40, 80), 1, 5).Draw(t, "texts")
		record := rapid.Custom(func(t *rapid.T) affinityRecord {
			r := affinityRecord{key: Key(rapid.SliceOfN(rapid.Byte(), keySize, keySize).Draw(t, "key"))}
			if rapid.IntRange(0, 4).Draw(t, "gone") == 0 {
				r.gone = true
				return r
			}
			r.value = rapid.SampledFrom(texts).Draw(t, "value")
			r.at, r.expires = rapid.Int64().Draw(t, "at"), rapid.Int64().Draw(t, "expires")
			return r
		})
		want := rapid.SliceOfN(record, 0, 50).Draw(t, "records")
		number := rapid.Uint64().Draw(t, "number")

		var w segmentWriter
		w.reset()
		for i := range want {
			w.add(&want[i])
		}
		b := w.segment(number)
		if len(b) > w.bytes() {
			t.Fatalf("%d bytes, announced at most %d", len(b), w.bytes())
		}
		var got []affinityRecord
		n, err := decodeSegment(number, b, func(r *affinityRecord) { got = append(got, *r) })
		if err != nil || n != len(want) || len(got) != len(want) {
			t.Fatalf("got %d records, %d calls, error %v; want %d", n, len(got), err, len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("record %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
		if _, err := decodeSegment(number+1, b, func(*affinityRecord) {}); !errors.Is(err, errChecksum) {
			t.Fatalf("under another number: got %v, want %v", err, errChecksum)
		}
	})
}

const sampleNumber = 7

// sampleSegment is one of three records, one of them a removal.
func sampleSegment() []byte {
	var w segmentWriter
	w.reset()
	w.add(&affinityRecord{key: Key{1}, value: "a", at: 1000, expires: 2000})
	w.add(&affinityRecord{key: Key{2}, value: "b", at: 900, expires: never})
	w.add(&affinityRecord{key: Key{3}, gone: true})
	return w.segment(sampleNumber)
}

// seal corrects the checksum of a segment that was changed.
func seal(number uint64, b []byte) []byte {
	sum := segmentSum(number, b)
	b[1], b[2], b[3], b[4] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	return b
}

func TestSegmentDamage(t *testing.T) {
	const number = sampleNumber
	head := sampleSegment()[:segmentHead]
	for _, c := range []struct {
		name    string
		segment []byte
		want    string
	}{
		{"empty", nil, "ends early"},
		{"short", sampleSegment()[:segmentHead-1], "ends early"},
		{"newer version", append([]byte{2}, sampleSegment()[1:]...), "version 2, want 1"},
		{"changed byte", func() []byte { b := sampleSegment(); b[20] ^= 1; return b }(), "wrong checksum"},
		{"nothing behind the head", seal(number, bytes.Clone(head)), "ends early"},
		{"more texts than bytes", seal(number, append(bytes.Clone(head), 200, 1)), "ends early"},
		{"text longer than the rest", seal(number, append(bytes.Clone(head), 1, 9, 'x')), "ends early"},
		{"more records than bytes", seal(number, append(bytes.Clone(head), 0, 5, 1, 2, 3)), "5 records in 3 bytes"},
		{"count beyond all bounds", seal(number, append(bytes.Clone(head), 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)), "records in 0 bytes"},
		{"unknown text", seal(number, append(append(bytes.Clone(head), 0, 1), append(make([]byte, keySize), 3, 0, 0)...)), "text 3 of 0"},
		{"bytes behind the end", seal(number, append(sampleSegment(), 0)), "1 bytes too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeSegment(number, c.segment, func(*affinityRecord) {})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzDecodeSegment(f *testing.F) {
	f.Add(uint64(sampleNumber), sampleSegment(), false)
	f.Add(uint64(sampleNumber), sampleSegment()[:20], true)
	f.Add(uint64(0), []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 3}, true)
	f.Fuzz(func(t *testing.T, number uint64, b []byte, sealed bool) {
		if sealed && len(b) >= segmentHead {
			b = seal(number, bytes.Clone(b))
		}
		var w segmentWriter
		w.reset()
		n, err := decodeSegment(number, b, func(r *affinityRecord) { w.add(r) })
		if err != nil {
			return
		}
		again, err := decodeSegment(number, w.segment(number), func(*affinityRecord) {})
		if err != nil || again != n {
			t.Errorf("encoded again: %d records, error %v; want %d", again, err, n)
		}
	})
}
