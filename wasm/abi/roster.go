package abi

import (
	"encoding/binary"
	"math"
	"slices"
)

// Roster is what of a list of candidates stays the same from one request to the
// next, encoded once: texts, tags, and the numbers of their configuration (Priority,
// Weight, ContextLimit, MaxOutput). It is read only; many inputs may use it at once.
type Roster struct {
	records []Candidate
	image   []byte                  // a buffer as Encode fills it, from its start to the end of their texts
	facets  [len(FacetNames)][]byte // but the tier: its values in the JSON form
}

// NewRoster encodes what stays the same of a list. The error is ErrTooMany or that of
// tags in no order.
func NewRoster(list []Candidate) (*Roster, error) {
	if len(list) > MaxRecords {
		return nil, ErrTooMany
	}
	in := &Input{Records: slices.Clone(list)}
	e := encoder{dst: make([]byte, Size(in)), at: textsOf(len(list))}
	e.fixed(in.Records)
	if e.unsorted {
		return nil, errUnsorted
	}
	r := &Roster{records: slices.Clone(list), image: slices.Clone(e.dst[:e.at])}
	for i := range in.Records {
		in.Records[i].Skipped = 0 // facets are used when nobody is
	}
	for i, name := range FacetNames {
		if name != facetTier {
			var w writer
			w.facet(in, name)
			r.facets[i] = w.b
		}
	}
	return r, nil
}

// Use makes the records those of a roster, with all that the list had that it was
// made of; they stand in the room that Records have. As long as it is in use only
// what changes may be written in them: what stays the same is taken from the roster.
// The same again leaves the records as they are, and so does nil, which is none.
func (in *Input) Use(r *Roster) {
	if r != nil && in.roster != r {
		in.Records = append(in.Records[:0], r.records...)
	}
	in.roster = r
}

// rosterInUse returns the roster that the records are of; nil = of none.
func (in *Input) rosterInUse() *Roster {
	if r := in.roster; r != nil && len(r.records) == len(in.Records) {
		return r
	}
	return nil
}

// textsOf is where the texts of a buffer begin.
func textsOf(records int) int { return HeaderSize + records*(RecordSize+OrderSize) + ErrorSize }

// copy writes what stays the same of the records, as fixed does.
func (e *encoder) copy(r *Roster) {
	if len(r.image) > len(e.dst) {
		e.short = true
		return
	}
	records, texts := HeaderSize+len(r.records)*RecordSize, textsOf(len(r.records))
	copy(e.dst[HeaderSize:records], r.image[HeaderSize:])
	copy(e.dst[texts:], r.image[texts:])
	e.at = len(r.image)
}

// fixed writes what stays the same of the records from request to request, with
// their texts, and resets what the guest writes.
func (e *encoder) fixed(records []Candidate) {
	last, lastBytes := &noCandidate, &noBytes
	for i := range records {
		c := &records[i]
		b := (*[RecordSize]byte)(e.dst[HeaderSize+i*RecordSize:])
		put32(b[RecordIndex:], uint32(i))
		put32(b[RecordPriority:], c.Priority)
		put32(b[RecordWeight:], c.Weight)
		put32(b[RecordContextLimit:], c.ContextLimit)
		put32(b[RecordMaxOutput:], c.MaxOutput)
		put32(b[RecordVerdict:], 0)
		put32(b[RecordReserved:], 0)
		binary.LittleEndian.PutUint64(b[RecordScore:], math.Float64bits(math.NaN()))
		put64(b[RecordUntilUnixMs:], Unknown)

		e.text(b[RecordId:], c.ID)
		e.again(b, lastBytes, RecordProvider, c.Provider, last.Provider)
		e.again(b, lastBytes, RecordModel, c.Model, last.Model)
		e.again(b, lastBytes, RecordUpstreamModel, c.UpstreamModel, last.UpstreamModel)
		e.again(b, lastBytes, RecordRegion, c.Region, last.Region)
		e.again(b, lastBytes, RecordSupplyTier, c.SupplyTier, last.SupplyTier)
		switch {
		case len(c.Tags) == 0:
			put32(b[RecordTagsOff:], 0)
		case len(c.Tags) == len(last.Tags) && &c.Tags[0] == &last.Tags[0]:
			copy(b[RecordTagsOff:RecordTagsOff+4], lastBytes[RecordTagsOff:])
		default:
			groups := [1]group{{tags: c.Tags}}
			put32(b[RecordTagsOff:], e.list(groups[:]))
		}
		last, lastBytes = c, b
	}
}

// What stands before the first record; never written.
var (
	noCandidate Candidate
	noBytes     [RecordSize]byte
)

// again writes a text that is often the same as that of the record before,
// which is shared then.
func (e *encoder) again(b, before *[RecordSize]byte, offset int, s, last string) {
	if s == last {
		*(*[TextSize]byte)(b[offset:]) = *(*[TextSize]byte)(before[offset:])
		return
	}
	e.text(b[offset:], s)
}

// changing writes what may change of the records from request to request.
func (e *encoder) changing(in *Input, stage Stage) {
	fill := in.medians(stage)
	for i := range in.Records {
		c := &in.Records[i]
		b := (*[RecordSize]byte)(e.dst[HeaderSize+i*RecordSize:])
		put32(b[RecordFlags:], uint32(c.Flags))
		put32(b[RecordSkipped:], uint32(c.Skipped))
		put32(b[RecordTier:], c.Tier)
		put32(b[RecordCircuit:], uint32(c.Circuit))
		put64(b[RecordPriceIn:], fill.fill(numPriceIn, c.PriceIn))
		put64(b[RecordPriceOut:], fill.fill(numPriceOut, c.PriceOut))
		put64(b[RecordTtftMs:], fill.fill(numTTFT, c.TTFT))
		put64(b[RecordLatencyP50Ms:], fill.fill(numLatencyP50, c.LatencyP50))
		put64(b[RecordLatencyP95Ms:], fill.fill(numLatencyP95, c.LatencyP95))
		put64(b[RecordSuccessPpm:], fill.fill(numSuccess, c.Success))
		put64(b[RecordThroughputTpsMilli:], fill.fill(numThroughput, c.Throughput))
		put64(b[RecordQuotaLeftPpm:], fill.fill(numQuotaLeft, c.QuotaLeft))
		put64(b[RecordQuotaResetUnixMs:], c.QuotaReset)
		put64(b[RecordSkippedUntilUnixMs:], c.SkippedUntil)
		put32(b[RecordInFlight:], c.InFlight)
		put32(b[RecordSamples:], c.Samples)
		put64(b[RecordLastSuccessUnixMs:], c.LastSuccess)
		put64(b[RecordEstCostNusd:], fill.fill(numEstCost, c.EstCost))
		put64(b[RecordPrice:], fill.fill(numPrice, c.Price))
	}
}
