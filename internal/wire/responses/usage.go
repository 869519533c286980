package responses

import (
	"strconv"

	"gatewright/internal/wire/scan"
)

// Usage is what an answer consumed, in tokens. Cached and cache-write tokens
// are inside InputTokens, reasoning tokens inside OutputTokens, whatever way
// the service counts.
type Usage struct {
	InputTokens      int64
	OutputTokens     int64
	CachedTokens     int64 // read from a prompt cache
	CacheWriteTokens int64 // written to a prompt cache
	ReasoningTokens  int64
	// Known is false if the answer did not say.
	Known bool
}

// counts is a usage object as a service sent it. A count that is absent is -1.
type counts struct {
	input, output, total, cached, write, reasoning int64
}

// readUsage takes the usage object that is due. The usage is not known if it is
// no object or names no count.
func readUsage(c *scan.Cursor) Usage {
	if !c.EnterObject() {
		return Usage{}
	}
	n := counts{-1, -1, -1, -1, -1, -1}
	for c.Member() {
		switch string(c.Key()) {
		case "input_tokens":
			count(c, &n.input)
		case "output_tokens":
			count(c, &n.output)
		case "total_tokens":
			count(c, &n.total)
		case "input_tokens_details", "output_tokens_details":
			n.details(c)
		}
	}
	if n.input < 0 && n.output < 0 {
		return Usage{}
	}
	return n.usage()
}

func (n *counts) details(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "cached_tokens":
			count(c, &n.cached)
		case "cache_write_tokens":
			count(c, &n.write)
		case "reasoning_tokens":
			count(c, &n.reasoning)
		}
	}
}

// usage brings the counts to one way of counting. A service that leaves its
// reasoning out of the output shows it by the total.
func (n *counts) usage() Usage {
	u := Usage{
		InputTokens:      max(n.input, 0),
		OutputTokens:     max(n.output, 0),
		CachedTokens:     max(n.cached, 0),
		CacheWriteTokens: max(n.write, 0),
		ReasoningTokens:  max(n.reasoning, 0),
		Known:            true,
	}
	if gap := n.total - u.InputTokens - u.OutputTokens; gap > 0 && gap == u.ReasoningTokens {
		u.OutputTokens += gap
	}
	u.ReasoningTokens = min(u.ReasoningTokens, u.OutputTokens)
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.CacheWriteTokens = min(u.CacheWriteTokens, u.InputTokens-u.CachedTokens)
	return u
}

// count takes a number of tokens that is due; what is no such number leaves
// into as it is.
func count(c *scan.Cursor, into *int64) {
	const most = 1 << 40 // more is nonsense
	if c.Kind() != scan.KindNumber {
		return
	}
	if n, whole := integer(c.Raw()); whole && n >= 0 && n <= most {
		*into = n
	}
}

// integer returns the value of a JSON number that is a whole one, in whatever
// form: 512, 512.0 and 5.12e2 are the same.
func integer(raw []byte) (n int64, whole bool) {
	const longest = 40 // bytes; no number in bounds needs more
	if len(raw) == 0 || len(raw) > longest {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	const exact = 1 << 53
	if err != nil || f != float64(int64(f)) || f > exact || f < -exact {
		return 0, false
	}
	return int64(f), true
}
