package health

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHoldRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := hold{
			begin:  rapid.Int64Range(-maxInstant, maxInstant).Draw(t, "begin"),
			length: time.Duration(rapid.Int64Range(1, int64(maxHold)).Draw(t, "length")),
		}
		got, err := decodeHold(encodeHold(want))
		if err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

func TestBadHoldRecords(t *testing.T) {
	good := encodeHold(hold{begin: start.UnixNano(), length: time.Minute})
	cases := []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, errRecord},
		{"another version", []byte{0, 2, 2}, errVersion},
		{"cut", good[:len(good)-1], errRecord},
		{"bytes behind", append(append([]byte{}, good...), 0), errRecord},
		{"no length", encodeHold(hold{begin: 1}), errRecord},
		{"negative length", encodeHold(hold{begin: 1, length: -1}), errRecord},
		{"endless", encodeHold(hold{begin: 1, length: math.MaxInt64}), errRecord},
		{"beyond all clocks", encodeHold(hold{begin: math.MaxInt64, length: 1}), errRecord},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if h, err := decodeHold(c.b); !errors.Is(err, c.want) {
				t.Errorf("got %+v, %v; want %v", h, err, c.want)
			}
		})
	}
}

// drawTally returns a tally as a slot could have it.
func drawTally(t *rapid.T, number int64) *tally {
	tl := &tally{
		succeeded: rapid.Uint32().Draw(t, "succeeded"),
		failed:    rapid.Uint32().Draw(t, "failed"),
	}
	if rapid.Bool().Draw(t, "was well") {
		tl.lastSuccess = slotStart(number) + rapid.Int64Range(0, int64(slotLength/time.Millisecond)-1).Draw(t, "last")*int64(time.Millisecond)
	}
	for k := range tl.kinds {
		for range rapid.IntRange(0, 5).Draw(t, "cells") {
			tl.kinds[k][rapid.IntRange(0, cells-1).Draw(t, "cell")] = rapid.Uint32().Draw(t, "count")
		}
	}
	return tl
}

func TestSlotRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(1, 5_000_000).Draw(t, "number")
		want := drawTally(t, number)
		begin := slotStart(number) / int64(time.Second)
		off := rapid.Int64Range(-400, 400).Draw(t, "off") // seconds that the clock moved
		got := &tally{failed: 99}
		gotNumber, err := decodeSlot(encodeSlot(begin+off, appendTally(nil, number, want)), got)
		if err != nil || gotNumber != number {
			t.Fatalf("slot %d, %v; want %d", gotNumber, err, number)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{})); diff != "" {
			t.Fatalf("tally (-want +got):\n%s", diff)
		}
	})
}

// slotOfVersion1 is a record as gateways before version 2 wrote it.
func slotOfVersion1(begin int64, payload []byte) []byte {
	b := encodeSlot(begin, payload)
	b[0] = slotVersion1
	return b
}

// A record of version 1 is one without latencies.
func TestSlotRecordOfVersion1(t *testing.T) {
	number := slotOf(start.UnixNano())
	begin := slotStart(number) / int64(time.Second)
	payload := []byte{3, 1, 1, 2, 40, 5, 0, 6, 1, 60, 2, 0}
	want := &tally{succeeded: 3, failed: 1, lastSuccess: slotStart(number)}
	want.kinds[firstToken][40], want.kinds[firstToken][41], want.kinds[wholeAnswer][60] = 5, 6, 2
	var got tally
	gotNumber, err := decodeSlot(slotOfVersion1(begin, payload), &got)
	if err != nil || gotNumber != number {
		t.Fatalf("slot %d, %v; want %d", gotNumber, err, number)
	}
	if diff := cmp.Diff(want, &got, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	for name, b := range map[string][]byte{
		"with the payload of version 2": slotOfVersion1(begin, append(payload, 0)),
		"the payload in version 2":      encodeSlot(begin, payload),
		"cut":                           slotOfVersion1(begin, payload[:len(payload)-1]),
	} {
		if _, err := decodeSlot(b, &got); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v, want %v", name, err, errRecord)
		}
	}
	if _, err := decodeSlot([]byte{slotVersion + 1, 0}, &got); !errors.Is(err, errVersion) {
		t.Errorf("a newer version: %v, want %v", err, errVersion)
	}
}

// FuzzHold reads any bytes: an error or a hold that reads the same again.
func FuzzHold(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{holdVersion})
	f.Add([]byte{holdVersion + 1, 2, 2})
	f.Add(encodeHold(hold{begin: start.UnixNano(), length: time.Minute}))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHold(b)
		if err != nil {
			return
		}
		if h.length <= 0 || h.end() <= h.begin {
			t.Fatalf("a hold that ends before it begins: %+v", h)
		}
		if again, err := decodeHold(encodeHold(h)); err != nil || again != h {
			t.Fatalf("read again: %+v, %v; want %+v", again, err, h)
		}
	})
}

// FuzzSlot reads any bytes: an error, or a slot that a window takes in and
// gives out again as if it had counted it.
func FuzzSlot(f *testing.F) {
	number := slotOf(start.UnixNano())
	begin := slotStart(number) / int64(time.Second)
	var tl tally
	tl.succeeded, tl.failed, tl.lastSuccess = 30, 2, start.UnixNano()
	tl.kinds[firstToken][40], tl.kinds[throughput][0], tl.kinds[wholeAnswer][cells-1] = 30, 1, math.MaxUint32
	tl.kinds[latency][41] = 31
	f.Add([]byte(nil))
	f.Add([]byte{slotVersion, 0})
	f.Add([]byte{slotVersion + 1, 0})
	f.Add(encodeSlot(begin, nil))
	f.Add(encodeSlot(begin, appendTally(nil, number, &tl)))
	f.Add(encodeSlot(begin, []byte{1, 1, 1, 2, 184, 1, 1, 1, 0, 0, 0}))
	f.Add(encodeSlot(begin, []byte{0, 0, 0, 1, 185, 1, 1, 0, 0, 0})) // one cell too far
	f.Add(slotOfVersion1(begin, []byte{3, 1, 1, 1, 40, 2, 0, 1, 60, 2}))
	f.Add(slotOfVersion1(begin, []byte{3, 1, 1, 1, 40, 2, 0, 1, 60, 2, 0})) // one kind too many
	f.Fuzz(func(t *testing.T, b []byte) {
		got, tl := new(tally), new(tally)
		number, err := decodeSlot(b, got)
		if err != nil {
			return
		}
		want := *got
		again, err := decodeSlot(encodeSlot(slotStart(number)/int64(time.Second), appendTally(nil, number, got)), tl)
		if err != nil || again != number || *tl != want {
			t.Fatalf("slot %d read again: slot %d, %v, equal %v", number, again, err, *tl == want)
		}
		if _, ok := newWindow(slotStart(number+slotCount)).restore(number, got); ok {
			t.Fatalf("slot %d counts a day later", number)
		}
		for _, at := range []int64{slotStart(number), slotStart(number + 1)} {
			w := newWindow(at)
			copied := want
			if _, ok := w.restore(number, &copied); !ok {
				t.Fatalf("slot %d is too old for slot %d", number, w.number)
			}
			if w.succeeded != uint64(want.succeeded) || w.failed != uint64(want.failed) {
				t.Fatalf("the window holds %d and %d, want %d and %d", w.succeeded, w.failed, want.succeeded, want.failed)
			}
			w.advance(at + slotCount*int64(slotLength))
			if w.succeeded != 0 || w.failed != 0 || w.kinds != [kindCount]histogram{} {
				t.Fatal("something of the slot is left after a day")
			}
		}
	})
}
