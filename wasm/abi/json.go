package abi

import (
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the JSON form of in to dst: the fields that r names, as a
// policy of the stage is given them. It says the same as Encode, cut and repaired
// in the same way, and what Encode refuses it refuses. It allocates nothing once
// dst has grown.
func AppendJSON(dst []byte, in *Input, stage Stage, r *Reads) ([]byte, error) {
	if len(in.Records) > MaxRecords {
		return dst, ErrTooMany
	}
	w := writer{b: append(dst, `{"v":1`...)}
	if r.request != 0 {
		w.request(in, r.request)
	}
	if r.caller != 0 {
		w.open("caller", '{')
		w.integer(r.caller, callerBudgetLeft, "budget_left_nusd", in.BudgetLeft)
		w.count(r.caller, callerRPMLeft, "rpm_left", in.RPMLeft)
		w.count(r.caller, callerTPMLeft, "tpm_left", in.TPMLeft)
		w.b = append(w.b, '}')
	}
	if r.candidate != 0 {
		w.candidates(in, stage, r.candidate)
	}
	if r.Facets() {
		w.facets(in, r)
	}
	if w.unsorted {
		return dst, errUnsorted
	}
	return append(w.b, '}'), nil
}

// Places of the fields in their objects. They are those of the tables, which a
// test holds.
const (
	requestID = iota
	requestOrg
	requestTeam
	requestKey
	requestTags
	requestEndpoint
	requestModel
	requestStream
	requestTools
	requestVision
	requestAudio
	requestJSONSchema
	requestReasoning
	requestInputTokens
	requestMaxOutputTokens
	requestSession
	requestAttemptBudget
	requestHeaders
	requestMetadata
	requestText
	requestHour
	requestWeekday
	requestMonth
	requestDay
	requestNow
	requestSeed
)

const (
	callerBudgetLeft = iota
	callerRPMLeft
	callerTPMLeft
)

const (
	candidateID = iota
	candidateProvider
	candidateModel
	candidateUpstreamModel
	candidateSupplyTier
	candidateTier
	candidateTags
	candidateRegion
	candidatePriority
	candidateWeight
	candidateContextLimit
	candidateMaxOutput
	candidatePriceIn
	candidatePriceOut
	candidatePrice
	candidateEstCost
	candidateTTFT
	candidateLatencyP50
	candidateLatencyP95
	candidateThroughput
	candidateSuccess
	candidateSamples
	candidateInFlight
	candidateQuotaLeft
	candidateQuotaReset
	candidateCircuit
	candidateAffinity
	candidatePreferred
	candidateLocked
	candidateLastSuccess
	candidateSkipped
)

// writer appends one document.
type writer struct {
	b        []byte
	unsorted bool
}

func (w *writer) request(in *Input, set uint64) {
	w.open("request", '{')
	w.foreign(set, requestID, "id", in.ID)
	w.foreign(set, requestOrg, "org", in.Org)
	w.foreign(set, requestTeam, "team", in.Team)
	w.foreign(set, requestKey, "key", in.Key)
	w.pairs(set, requestTags, "tags", in.Tags)
	w.foreign(set, requestEndpoint, "endpoint", in.Endpoint)
	w.foreign(set, requestModel, "model", in.Model)
	w.flag(set, requestStream, "stream", in.Flags&Stream)
	w.flag(set, requestTools, "tools", in.Flags&Tools)
	w.flag(set, requestVision, "vision", in.Flags&Vision)
	w.flag(set, requestAudio, "audio", in.Flags&Audio)
	w.flag(set, requestJSONSchema, "json_schema", in.Flags&JSONSchema)
	w.flag(set, requestReasoning, "reasoning", in.Flags&Reasoning)
	w.count(set, requestInputTokens, "input_tokens", in.InputTokens)
	w.count(set, requestMaxOutputTokens, "max_output_tokens", in.MaxOutputTokens)
	w.foreign(set, requestSession, "session", in.Session)
	w.count(set, requestAttemptBudget, "attempt_budget", in.AttemptBudget)
	w.pairs(set, requestHeaders, "headers", in.Headers)
	w.pairs(set, requestMetadata, "metadata", in.Metadata)
	if in.Granted && w.key(set, requestText, "text") {
		w.b = appendString(w.b, granted(in.Text))
	}
	const clock = 1<<requestHour | 1<<requestWeekday | 1<<requestMonth | 1<<requestDay
	if set&clock != 0 {
		c := in.calendar()
		w.count(set, requestHour, "hour", uint32(c.hour))
		w.count(set, requestWeekday, "weekday", uint32(c.weekday))
		w.count(set, requestMonth, "month", uint32(c.month))
		w.count(set, requestDay, "day", uint32(c.day))
	}
	w.integer(set, requestNow, "now_unix_ms", in.NowUnixMS)
	if w.key(set, requestSeed, "seed") {
		w.b = strconv.AppendUint(w.b, in.Seed, 10)
	}
	w.b = append(w.b, '}')
}

func (w *writer) candidates(in *Input, stage Stage, set uint64) {
	fill := in.medians(stage)
	w.open("candidates", '[')
	for i := range in.Records {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		w.candidate(&in.Records[i], &fill, set)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}

func (w *writer) candidate(c *Candidate, fill *medians, set uint64) {
	w.text(set, candidateID, "id", c.ID)
	w.text(set, candidateProvider, "provider", c.Provider)
	w.text(set, candidateModel, "model", c.Model)
	w.text(set, candidateUpstreamModel, "upstream_model", c.UpstreamModel)
	w.text(set, candidateSupplyTier, "supply_tier", c.SupplyTier)
	w.count(set, candidateTier, "tier", c.Tier)
	w.pairs(set, candidateTags, "tags", c.Tags)
	w.text(set, candidateRegion, "region", c.Region)
	w.count(set, candidatePriority, "priority", c.Priority)
	w.count(set, candidateWeight, "weight", c.Weight)
	w.known(set, candidateContextLimit, "context_limit", widen(c.ContextLimit))
	w.known(set, candidateMaxOutput, "max_output", widen(c.MaxOutput))
	w.known(set, candidatePriceIn, "price_in", fill.fill(numPriceIn, c.PriceIn))
	w.known(set, candidatePriceOut, "price_out", fill.fill(numPriceOut, c.PriceOut))
	w.known(set, candidatePrice, "price", fill.fill(numPrice, c.Price))
	w.known(set, candidateEstCost, "est_cost_nusd", fill.fill(numEstCost, c.EstCost))
	w.known(set, candidateTTFT, "ttft_ms", fill.fill(numTTFT, c.TTFT))
	w.known(set, candidateLatencyP50, "latency_p50_ms", fill.fill(numLatencyP50, c.LatencyP50))
	w.known(set, candidateLatencyP95, "latency_p95_ms", fill.fill(numLatencyP95, c.LatencyP95))
	w.known(set, candidateThroughput, "throughput_tps_milli", fill.fill(numThroughput, c.Throughput))
	w.known(set, candidateSuccess, "success_ppm", fill.fill(numSuccess, c.Success))
	w.count(set, candidateSamples, "samples", c.Samples)
	w.count(set, candidateInFlight, "in_flight", c.InFlight)
	w.known(set, candidateQuotaLeft, "quota_left_ppm", fill.fill(numQuotaLeft, c.QuotaLeft))
	w.known(set, candidateQuotaReset, "quota_reset_unix_ms", c.QuotaReset)
	w.text(set, candidateCircuit, "circuit", CircuitNames[min(c.Circuit, CircuitOpen)])
	w.flag(set, candidateAffinity, "affinity", c.Flags&Affinity)
	w.flag(set, candidatePreferred, "preferred", c.Flags&Preferred)
	w.flag(set, candidateLocked, "locked", c.Flags&Locked)
	w.known(set, candidateLastSuccess, "last_success_unix_ms", c.LastSuccess)
	w.skipped(set, c)
}

func (w *writer) skipped(set uint64, c *Candidate) {
	if !w.key(set, candidateSkipped, "skipped") {
		return
	}
	if c.Skipped == 0 {
		w.b = append(w.b, "null"...)
		return
	}
	w.open("", '{')
	w.text(1, 0, "reason", SkipNames[min(int(c.Skipped), len(SkipNames)-1)])
	w.known(1, 0, "until_unix_ms", c.SkippedUntil)
	w.b = append(w.b, '}')
}

// widen makes one number of what is unknown.
func widen(n uint32) int64 {
	if n == UnknownCount {
		return Unknown
	}
	return int64(n)
}

// open begins an object or list, under a name if there is one.
func (w *writer) open(name string, bracket byte) {
	if name != "" {
		w.name(name)
	}
	w.b = append(w.b, bracket)
}

// name writes the name of a value, behind a comma unless it is the first.
func (w *writer) name(name string) {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

// key writes the name of a field if it is read.
func (w *writer) key(set uint64, place int, name string) bool {
	if set>>place&1 == 0 {
		return false
	}
	w.name(name)
	return true
}

func (w *writer) text(set uint64, place int, name, s string) {
	if w.key(set, place, name) {
		w.b = appendString(w.b, s)
	}
}

func (w *writer) foreign(set uint64, place int, name, s string) {
	if w.key(set, place, name) {
		w.b = appendString(w.b, cut(s, MaxText))
	}
}

func (w *writer) flag(set uint64, place int, name string, f Flags) {
	if w.key(set, place, name) {
		w.b = strconv.AppendBool(w.b, f != 0)
	}
}

func (w *writer) count(set uint64, place int, name string, n uint32) {
	w.integer(set, place, name, int64(n))
}

func (w *writer) integer(set uint64, place int, name string, n int64) {
	if w.key(set, place, name) {
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

// known writes a number that is left out while nobody knows it.
func (w *writer) known(set uint64, place int, name string, n int64) {
	if n != Unknown {
		w.integer(set, place, name, n)
	}
}

func (w *writer) pairs(set uint64, place int, name string, tags []Tag) {
	if !w.key(set, place, name) {
		return
	}
	w.unsorted = w.unsorted || !sorted(tags)
	w.b = append(w.b, '{')
	passed := 0
	for _, t := range tags {
		if passed == MaxPairs || !usable(t.Key) {
			continue
		}
		if passed > 0 {
			w.b = append(w.b, ',')
		}
		passed++
		w.b = appendString(w.b, t.Key)
		w.b = append(w.b, ':')
		w.b = appendString(w.b, cut(t.Value, MaxText))
	}
	w.b = append(w.b, '}')
}

// plain are the characters that stand for themselves in a JSON text.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func appendString(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// JSONSize is how many bytes a text is in the JSON form, without its quotes.
func JSONSize(s string) int {
	n := len(s)
	for i := range len(s) {
		n += extra(s[i])
	}
	return n
}

// extra is how many bytes more than one a byte takes in the JSON form.
func extra(c byte) int {
	switch {
	case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
		return len(`\n`) - 1
	case c < ' ':
		return len(`\u0000`) - 1
	}
	return 0
}

// appendEscaped appends what stands between the quotes of a text, with a
// question mark for each byte that is not UTF-8.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, '?')
		}
		i++
		start = i
	}
	return append(b, s[start:]...)
}
