package responses

import (
	"gatewright/internal/wire/request"
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

// counts is a usage object as a service sent it. An input or an output that is
// absent is -1.
type counts struct {
	input, output, total int64
	request.Details
}

// readUsage takes the usage object that is due. The usage is not known if it is
// no object or names no count.
func readUsage(c *scan.Cursor) Usage {
	if !c.EnterObject() {
		return Usage{}
	}
	n := counts{input: -1, output: -1}
	for c.Member() {
		switch string(c.Key()) {
		case "input_tokens":
			request.Count(c, &n.input)
		case "output_tokens":
			request.Count(c, &n.output)
		case "total_tokens":
			request.Count(c, &n.total)
		case "input_tokens_details", "output_tokens_details":
			n.Add(c)
		}
	}
	if n.input < 0 && n.output < 0 {
		return Usage{}
	}
	return n.usage()
}

// usage brings the counts to one way of counting. A service that leaves its
// reasoning out of the output shows it by the total.
func (n *counts) usage() Usage {
	u := Usage{
		InputTokens:      max(n.input, 0),
		OutputTokens:     max(n.output, 0),
		CachedTokens:     max(n.Cached, 0),
		CacheWriteTokens: max(n.CacheWrite, 0),
		ReasoningTokens:  max(n.Reasoning, 0),
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
