package abi

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// ErrTooMany is returned for an input of more than MaxRecords candidates.
var ErrTooMany = fmt.Errorf("more than %d candidates", MaxRecords)

// errUnsorted is an input whose tags are in no order; see Tags.
var errUnsorted = errors.New("tags are not sorted by key, or a key stands twice")

// Tag is a key with its value.
type Tag struct{ Key, Value string }

// Tags lists a map sorted by key, as an Input must have it.
func Tags(m map[string]string) []Tag {
	if len(m) == 0 {
		return nil
	}
	list := make([]Tag, 0, len(m))
	for k, v := range m {
		list = append(list, Tag{k, v})
	}
	slices.SortFunc(list, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// Input is what a policy is given. Who fills it clamps numbers of the client
// with Count; texts are cut and made valid on the way out. It is used by one
// goroutine at a time, and may be filled again.
type Input struct {
	ID       string // of the request; "" = not passed on
	Org      string
	Team     string
	Key      string
	Endpoint string
	Model    string
	Session  string

	Tags     []Tag // sorted by key, each key once; so are Headers and Metadata
	Headers  []Tag // names in lower case
	Metadata []Tag

	Text    string // of the prompt
	Granted bool   // the binding grants Text

	Flags           Flags // Stream to Audio
	InputTokens     uint32
	MaxOutputTokens uint32
	AttemptBudget   uint32

	NowUnixMS int64 // hour, weekday, month and day follow from it
	Seed      uint64

	BudgetLeft int64  // nano-USD; NoLimit
	RPMLeft    uint32 // NoLimitCount
	TPMLeft    uint32 // NoLimitCount

	Records []Candidate // at most MaxRecords

	roster *Roster  // that Records are of; nil = none
	clock  clock    // of the hour that was asked for last
	known  []int64  // scratch of the median
	values []string // scratch of the facets
	keys   []string // the same, of tags
	single [2]Tag   // scratch: the attributes id and text
}

// Candidate is one record. Its texts come from the configuration, so they must
// be valid UTF-8; they are not checked again for each request. Numbers that
// nobody knows are Unknown or UnknownCount.
type Candidate struct {
	ID            string
	Provider      string
	Model         string
	UpstreamModel string
	Region        string
	SupplyTier    string
	Tags          []Tag // sorted by key, each key once

	Flags   Flags
	Circuit Circuit

	Skipped      Skip  // 0 = in the pool
	SkippedUntil int64 // unix ms; Unknown = it lasts

	Tier         uint32
	Priority     uint32
	Weight       uint32
	ContextLimit uint32 // UnknownCount
	MaxOutput    uint32 // UnknownCount
	InFlight     uint32
	Samples      uint32

	// These may be Unknown; a ranking is given the pool's median then.
	PriceIn    int64 // nano-USD per million tokens
	PriceOut   int64
	Price      int64 // what deployments are compared by: Blended, before anything was rounded
	EstCost    int64 // nano-USD
	TTFT       int64 // ms
	LatencyP50 int64
	LatencyP95 int64
	Throughput int64 // milli-tokens per second
	Success    int64 // ppm
	QuotaLeft  int64 // ppm

	// These may be Unknown and stay so.
	QuotaReset  int64 // unix ms
	LastSuccess int64
}

// Count clamps a number to what a u32 of the contract holds: nothing below 0,
// nothing that would read as UnknownCount.
func Count(n int64) uint32 {
	return uint32(max(0, min(n, math.MaxUint32-1)))
}

// Blended is the price that stands for two: 3 × in + out, at most the largest
// number; Unknown if one of them is.
func Blended(in, out int64) int64 {
	if in == Unknown || out == Unknown {
		return Unknown
	}
	hi, lo := bits.Mul64(3, uint64(max(in, 0)))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(min(lo+uint64(max(out, 0)), math.MaxInt64))
}

// calendar are the parts of the request's time, in UTC.
type calendar struct{ hour, weekday, month, day byte }

// clock is the calendar of one hour.
type clock struct {
	hour  int64 // since 1970
	parts calendar
}

// calendar finds the parts. Those of the hour that was asked for last are kept.
func (in *Input) calendar() calendar {
	const hour = int64(time.Hour / time.Millisecond)
	n := in.NowUnixMS / hour
	if in.NowUnixMS%hour < 0 {
		n--
	}
	if c := &in.clock; n != c.hour || c.parts.month == 0 {
		t := time.UnixMilli(in.NowUnixMS).UTC()
		_, month, day := t.Date()
		c.hour = n
		c.parts = calendar{byte(t.Hour()), byte(t.Weekday()), byte(month), byte(day)} //nolint:gosec // small
	}
	return in.clock.parts
}

// The numbers that have a median, as indexes.
const (
	numPriceIn = iota
	numPriceOut
	numPrice
	numEstCost
	numTTFT
	numLatencyP50
	numLatencyP95
	numThroughput
	numSuccess
	numQuotaLeft
	numberCount
)

func (c *Candidate) number(n int) int64 {
	switch n {
	case numPriceIn:
		return c.PriceIn
	case numPriceOut:
		return c.PriceOut
	case numPrice:
		return c.Price
	case numEstCost:
		return c.EstCost
	case numTTFT:
		return c.TTFT
	case numLatencyP50:
		return c.LatencyP50
	case numLatencyP95:
		return c.LatencyP95
	case numThroughput:
		return c.Throughput
	case numSuccess:
		return c.Success
	}
	return c.QuotaLeft
}

// medians are what unknown numbers are filled with: for a ranking the median of
// the pool, found when it is first needed. An admission sees that a number is not
// known.
type medians struct {
	in    *Input
	found [numberCount]bool
	value [numberCount]int64
}

func (in *Input) medians(stage Stage) medians {
	m := medians{in: in}
	if stage == Admission {
		for n := range m.found {
			m.found[n], m.value[n] = true, Unknown
		}
	}
	return m
}

// fill is v, or what stands for the number n where it is not known.
func (m *medians) fill(n int, v int64) int64 {
	if v != Unknown {
		return v
	}
	if !m.found[n] {
		m.find(n)
	}
	return m.value[n]
}

//go:noinline
func (m *medians) find(n int) { m.found[n], m.value[n] = true, m.in.median(n) }

// median is that of the number n in the pool, of an even count the mean of the
// middle two; Unknown if nobody in the pool knows it.
func (in *Input) median(n int) int64 {
	in.known = in.known[:0]
	for i := range in.Records {
		c := &in.Records[i]
		if v := c.number(n); v != Unknown && c.Skipped == 0 {
			in.known = append(in.known, v)
		}
	}
	k := len(in.known)
	if k == 0 {
		return Unknown
	}
	slices.Sort(in.known)
	if k%2 == 1 {
		return in.known[k/2]
	}
	low, high := in.known[k/2-1], in.known[k/2]
	return low + (high-low)/2
}

// sorted reports whether the keys ascend.
func sorted(tags []Tag) bool {
	for i := 1; i < len(tags); i++ {
		if tags[i-1].Key >= tags[i].Key {
			return false
		}
	}
	return true
}
