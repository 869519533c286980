package policies

import (
	"slices"
	"strings"
	"time"
	"unsafe"

	"gatewright/engine"
	"gatewright/wasm/abi"
)

// labels are the tags of providers as an abi.Input wants them, sorted once a
// snapshot.
type labels map[*engine.Provider][]abi.Tag

func newLabels(list []*engine.Provider) labels {
	l := make(labels, len(list))
	for _, p := range list {
		if tags := abi.Tags(p.Tags); tags != nil {
			l[p] = tags
		}
	}
	return l
}

// input is an abi.Input with the memory that its texts stand in. It is used
// again and again; what it points to belongs to the request.
type input struct {
	abi.Input
	lineup  *lineup // of the pool; nil = none
	session [32]byte
	places  map[string]int             // of candidates by id, if there are many
	index   func(candidate string) int // looks them up
}

// fewCandidates are found one by one.
const fewCandidates = 32

// find returns what looks up the place of a candidate by its id, below 0 if there
// is none. It is good until the input is filled again.
func (in *input) find() func(id string) int {
	if in.index == nil {
		in.index = in.place
	}
	return in.index
}

func (in *input) place(id string) int {
	if len(in.Records) <= fewCandidates {
		for i := range in.Records {
			if in.Records[i].ID == id {
				return i
			}
		}
		return -1
	}
	if len(in.places) == 0 {
		if in.places == nil {
			in.places = make(map[string]int, len(in.Records))
		}
		for i := range in.Records {
			in.places[in.Records[i].ID] = i
		}
	}
	if i, ok := in.places[id]; ok {
		return i
	}
	return -1
}

// needs are the parts of an input that cost something to find, or that a
// binding must grant.
type needs struct {
	id       bool
	metadata bool
	headers  []string // lower case
	text     TextGrant
}

// fill puts into in what every policy is to know of one request; client adds
// the rest.
func (in *input) fill(r *engine.Request, pool []engine.Candidate, d *desk) {
	in.request(r)
	clear(in.places)
	if in.lineup == nil || !in.lineup.is(pool) {
		in.lineup = d.lineup(pool)
	}
	if in.lineup != nil {
		in.Use(in.lineup.roster)
	} else {
		in.Use(nil)
		in.Records = slices.Grow(in.Records[:0], len(pool))[:len(pool)]
		for i := range pool {
			fillFixed(&in.Records[i], pool[i].Deployment, d.labels)
		}
	}
	for i := range pool {
		fillChanging(&in.Records[i], r, &pool[i])
	}
}

// refresh notes who was removed from the pool since in was filled for it.
func (in *input) refresh(pool []engine.Candidate) {
	for i := range pool {
		if out, s := &in.Records[i], pool[i].Skipped; s != nil || out.Skipped != 0 {
			fillSkipped(out, s)
		}
	}
}

func (in *input) request(r *engine.Request) {
	c := r.Caller
	in.Org, in.Team, in.Key = c.Org, c.Team, c.Key
	in.Endpoint, in.Model, in.Session = r.Endpoint.String(), r.Model, in.sessionName(r)
	in.Tags = nil // keys have none in this version
	in.Flags = flags(r.Needs)
	if r.Stream {
		in.Flags |= abi.Stream
	}
	in.InputTokens, in.MaxOutputTokens = abi.Count(r.InputTokens), abi.Count(r.MaxOutput)
	in.AttemptBudget = engine.MaxAttempts
	in.NowUnixMS, in.Seed = r.Now.UnixMilli(), r.Seed
	in.BudgetLeft, in.RPMLeft, in.TPMLeft = abi.NoLimit, abi.NoLimitCount, abi.NoLimitCount
}

// sessionName names the session as text. Its key is a hash that is scoped to
// the caller already, so nothing of what the client sent is in it.
func (in *input) sessionName(r *engine.Request) string {
	if !r.Session.Present() {
		return ""
	}
	const digits = "0123456789abcdef"
	for i, b := range r.Session.Key {
		in.session[2*i], in.session[2*i+1] = digits[b>>4], digits[b&15]
	}
	return unsafe.String(&in.session[0], len(in.session)) //nolint:gosec // of in, which lives as long and is not written before the next request
}

// skip marks what a policy has removed, for those that are asked after it.
func (in *input) skip(v *verdict) {
	for i := range v.removals {
		m := &v.removals[i]
		if c := &in.Records[m.index]; c.Skipped == 0 {
			c.Skipped, c.SkippedUntil = abi.SkipPolicy, instant(m.until)
		}
	}
}

// client adds what one policy needs of what the client sent.
func (in *input) client(r *engine.Request, n *needs) {
	in.ID, in.Text, in.Granted = "", "", n.text != TextNone
	in.Headers, in.Metadata = in.Headers[:0], in.Metadata[:0]
	if n.id {
		in.ID = r.ID
	}
	if r.Client == nil {
		return
	}
	for _, name := range n.headers {
		if v := r.Client.Header(name); v != "" {
			in.Headers = append(in.Headers, abi.Tag{Key: name, Value: v})
		}
	}
	if n.metadata {
		r.Client.Metadata(func(key, value string) {
			if len(in.Metadata) < maxMembers {
				in.Metadata = append(in.Metadata, abi.Tag{Key: key, Value: value})
			}
		})
		sortTags(&in.Metadata)
		in.Metadata = in.Metadata[:fitting(in.Metadata)]
	}
	if n.text != TextNone {
		in.Text = r.Client.Text(n.text == TextLastUser)
	}
}

// Bounds of a request's metadata, which keep a client from making a policy too
// expensive to be asked: entries are left out from the end, by key. They leave room
// for sixteen entries of the longest keys and values that the protocol allows.
const (
	maxMembers  = 1000     // that are looked at, in the order sent
	maxMetadata = 16 << 10 // bytes as JSON
)

// fitting is how many entries of metadata are within the bounds.
func fitting(tags []abi.Tag) int {
	room := maxMetadata
	for i := range tags {
		const around = len(`"":"",`)
		t := &tags[i]
		if room -= around + abi.JSONSize(t.Key) + abi.JSONSize(t.Value); room < 0 {
			return i
		}
	}
	return len(tags)
}

// sortTags sorts by key; of a key that stands several times the last counts, as
// JSON readers have it.
func sortTags(tags *[]abi.Tag) {
	slices.Reverse(*tags)
	slices.SortStableFunc(*tags, func(a, b abi.Tag) int { return strings.Compare(a.Key, b.Key) })
	*tags = slices.CompactFunc(*tags, func(a, b abi.Tag) bool { return a.Key == b.Key })
}

// flags are the abilities that the contract has a flag for.
func flags(c engine.Capabilities) abi.Flags {
	var f abi.Flags
	for _, x := range abilities {
		if c&x.has != 0 {
			f |= x.flag
		}
	}
	return f
}

var abilities = [...]struct {
	has  engine.Capabilities
	flag abi.Flags
}{
	{engine.CapTools, abi.Tools},
	{engine.CapVision, abi.Vision},
	{engine.CapAudio, abi.Audio},
	{engine.CapJSONSchema, abi.JSONSchema},
	{engine.CapReasoning, abi.Reasoning},
}

// fillFixed fills in what stays the same of a candidate from one request to the
// next: prices too, unless there is a sale.
func fillFixed(out *abi.Candidate, d *engine.Deployment, l labels) {
	p := d.Provider
	var now time.Time
	*out = abi.Candidate{
		ID: d.ID, Provider: p.ID, Model: d.Model, UpstreamModel: d.UpstreamModel,
		Region: p.Region, SupplyTier: p.SupplyTier, Tags: l[p],
		Flags:    flags(d.Caps) | abi.Stream,
		Priority: abi.Count(int64(d.Priority)), Weight: abi.Count(int64(d.Weight)),
		ContextLimit: limit(d.Context), MaxOutput: limit(d.MaxOutput),
		PriceIn: d.InputPrice(now), PriceOut: d.OutputPrice(now), Price: d.BlendedPrice(now),
	}
}

// fillChanging fills in the rest of a candidate.
func fillChanging(out *abi.Candidate, r *engine.Request, c *engine.Candidate) {
	out.Flags = out.Flags&^(abi.Affinity|abi.Preferred|abi.Locked) | candidateFlags(c)
	out.Circuit = abi.Circuit(c.Circuit)
	fillSkipped(out, c.Skipped)
	out.Tier, out.InFlight, out.Samples = abi.Count(int64(c.Tier)), abi.Count(c.InFlight), abi.Count(c.Samples)
	d := c.Deployment
	if d.Sale.Multiplier != 0 {
		out.PriceIn, out.PriceOut, out.Price = d.InputPrice(r.Now), d.OutputPrice(r.Now), d.BlendedPrice(r.Now)
	}
	out.EstCost = d.EstimatedCost(r)
	out.TTFT, out.LatencyP50, out.LatencyP95 = milliseconds(c.TTFT), milliseconds(c.LatencyP50), milliseconds(c.LatencyP95)
	out.Throughput, out.Success = c.Throughput, c.SuccessPPM
	out.QuotaLeft, out.QuotaReset = abi.Unknown, abi.Unknown
	if c.Quota != nil {
		out.QuotaLeft, out.QuotaReset = c.QuotaLeft(r.Now), instant(c.QuotaReset(r.Now))
	}
	out.LastSuccess = instant(c.LastSuccess)
}

func fillSkipped(out *abi.Candidate, s *engine.Skipped) {
	out.Skipped, out.SkippedUntil = 0, abi.Unknown
	if s != nil {
		out.Skipped, out.SkippedUntil = abi.SkipOf(string(s.Reason)), instant(s.Until)
	}
}

// candidateFlags are what the request makes of a candidate.
func candidateFlags(c *engine.Candidate) abi.Flags {
	var f abi.Flags
	if c.Affinity {
		f |= abi.Affinity
	}
	if c.Preferred {
		f |= abi.Preferred
	}
	if c.Locked {
		f |= abi.Locked
	}
	return f
}

// instant is t in Unix milliseconds; Unknown for the zero time.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return abi.Unknown
	}
	return t.UnixMilli()
}

func milliseconds(d time.Duration) int64 {
	if d == engine.UnknownDuration {
		return abi.Unknown
	}
	return d.Milliseconds()
}

// limit is a limit of a deployment; 0 means that nobody knows it.
func limit(n int64) uint32 {
	if n <= 0 {
		return abi.UnknownCount
	}
	return abi.Count(n)
}
