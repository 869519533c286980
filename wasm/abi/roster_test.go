package abi_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"gatewright/wasm/abi"
)

// change gives what may change of a candidate other values.
func change(r *rand.Rand, c *abi.Candidate) {
	other := random(r, 1).Records[0]
	c.Flags, c.Circuit, c.Skipped, c.SkippedUntil = other.Flags, other.Circuit, other.Skipped, other.SkippedUntil
	c.Tier, c.InFlight, c.Samples = other.Tier, other.InFlight, other.Samples
	c.PriceIn, c.PriceOut, c.Price, c.EstCost = other.PriceIn, other.PriceOut, other.Price, other.EstCost
	c.TTFT, c.LatencyP50, c.LatencyP95, c.Throughput = other.TTFT, other.LatencyP50, other.LatencyP95, other.Throughput
	c.Success, c.QuotaLeft, c.QuotaReset, c.LastSuccess = other.Success, other.QuotaLeft, other.QuotaReset, other.LastSuccess
	if r.IntN(2) == 0 {
		c.Skipped = 0
	}
}

// With a roster both forms are what they are without, whatever the buffer held and
// which roster was in use before.
func TestRoster(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var used abi.Input
	dirty := make([]byte, 1<<20)
	for i := range dirty {
		dirty[i] = byte(r.Uint32())
	}
	for range 200 {
		plain := random(r, r.IntN(30))
		roster, err := abi.NewRoster(plain.Records)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // requests
			used.Use(roster)
			records := used.Records
			for i := range plain.Records {
				change(r, &plain.Records[i])
				records[i] = plain.Records[i]
			}
			used = *plain
			used.Records = nil // it would be written
			used.Use(roster)
			used.Records = records
			for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
				n, err := abi.Encode(dirty, &used, stage)
				if err != nil {
					t.Fatal(err)
				}
				want := encode(t, plain, stage)
				got := bytes.Clone(dirty[:n])
				guestArea := abi.HeaderSize + len(records)*abi.RecordSize
				copy(got[guestArea:guestArea+len(records)*abi.OrderSize+abi.ErrorSize], want[guestArea:]) // of the guest, not written
				if !bytes.Equal(got, want) {
					t.Fatalf("%s of %d candidates: the bytes are others", stage, len(records))
				}
				asked, err := abi.AppendJSON(nil, &used, stage, abi.All())
				if err != nil {
					t.Fatal(err)
				}
				if want, err := abi.AppendJSON(nil, plain, stage, abi.All()); err != nil || !bytes.Equal(asked, want) {
					t.Fatalf("%s of %d candidates: %v, or the document is another", stage, len(records), err)
				}
			}
		}
	}
}

func TestRosterInAShortBuffer(t *testing.T) {
	in := example()
	roster, err := abi.NewRoster(in.Records)
	if err != nil {
		t.Fatal(err)
	}
	in.Use(roster)
	full := encode(t, in, abi.Ranking)
	b := make([]byte, len(full))
	for n := range full {
		if _, err := abi.Encode(b[:n:n], in, abi.Ranking); !errors.Is(err, abi.ErrShort) {
			t.Fatalf("%d of %d bytes: %v", n, len(full), err)
		}
	}
}

// Records that are not those of the roster are written as they are.
func TestRosterOfOtherRecords(t *testing.T) {
	in := example()
	roster, err := abi.NewRoster(in.Records[:2])
	if err != nil {
		t.Fatal(err)
	}
	want := encode(t, in, abi.Ranking)
	records := in.Records
	in.Records = nil
	in.Use(roster)
	in.Records = records
	if !bytes.Equal(encode(t, in, abi.Ranking), want) {
		t.Error("the bytes are others")
	}
	in.Use(nil)
	if !bytes.Equal(encode(t, in, abi.Ranking), want) {
		t.Error("without a roster again the bytes are others")
	}
}

func TestRosterRefuses(t *testing.T) {
	if _, err := abi.NewRoster(make([]abi.Candidate, abi.MaxRecords+1)); !errors.Is(err, abi.ErrTooMany) {
		t.Errorf("too many candidates: %v", err)
	}
	if _, err := abi.NewRoster([]abi.Candidate{{Tags: []abi.Tag{{"b", ""}, {"a", ""}}}}); err == nil {
		t.Error("tags in no order are taken")
	}
}

// The calendar of an hour is kept, and is that of each instant.
func TestCalendarOfManyInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	reads, err := abi.ReadsOf([]string{"request.hour", "request.weekday", "request.month", "request.day"})
	if err != nil {
		t.Fatal(err)
	}
	var kept abi.Input
	const hour = 3_600_000
	for range 2000 {
		kept.NowUnixMS = (r.Int64N(4)-2)*hour + r.Int64N(3) - 1
		if r.IntN(2) == 0 {
			kept.NowUnixMS = r.Int64N(4e12) - 2e12
		}
		got, err := abi.AppendJSON(nil, &kept, abi.Admission, reads)
		if err != nil {
			t.Fatal(err)
		}
		want, err := abi.AppendJSON(nil, &abi.Input{NowUnixMS: kept.NowUnixMS}, abi.Admission, reads)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("at %d: %s, want %s", kept.NowUnixMS, got, want)
		}
	}
}
