package openai

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
	input, output, total, cacheHit int64
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
		case "prompt_tokens", "input_tokens":
			request.Count(c, &n.input)
		case "completion_tokens", "output_tokens":
			request.Count(c, &n.output)
		case "total_tokens":
			request.Count(c, &n.total)
		case "cached_tokens": // Moonshot
			request.Count(c, &n.Cached)
		case "prompt_cache_hit_tokens": // DeepSeek
			request.Count(c, &n.cacheHit)
		case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
			n.Add(c)
		}
	}
	if n.input < 0 && n.output < 0 {
		return Usage{}
	}
	return n.usage()
}

// usage brings the counts to one way of counting. When the total is larger than
// input and output together, the difference says what the service leaves out
// of them: reasoning (xAI), cached input, or, if it names neither, thinking
// that it does not show (Gemini).
func (n *counts) usage() Usage {
	u := Usage{
		InputTokens:      max(n.input, 0),
		OutputTokens:     max(n.output, 0),
		CachedTokens:     max(n.Cached, n.cacheHit, 0),
		CacheWriteTokens: max(n.CacheWrite, 0),
		ReasoningTokens:  max(n.Reasoning, 0),
		Known:            true,
	}
	switch gap := n.total - u.InputTokens - u.OutputTokens; {
	case gap <= 0 || n.output < 0:
	case gap == u.ReasoningTokens:
		u.OutputTokens += gap
	case gap == u.CachedTokens, gap == u.CachedTokens+u.CacheWriteTokens:
		u.InputTokens += gap
	case u.ReasoningTokens == 0 && u.CachedTokens == 0:
		u.OutputTokens += gap
		u.ReasoningTokens = gap
	}
	u.ReasoningTokens = min(u.ReasoningTokens, u.OutputTokens)
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.CacheWriteTokens = min(u.CacheWriteTokens, u.InputTokens-u.CachedTokens)
	return u
}
