package openai

import "gatewright/internal/wire/scan"

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
	input, output, total               int64
	cached, cacheHit, write, reasoning int64
}

// readUsage takes the usage object that is due. The usage is not known if it is
// no object or names no count.
func readUsage(c *scan.Cursor) Usage {
	if !c.EnterObject() {
		return Usage{}
	}
	n := counts{-1, -1, -1, -1, -1, -1, -1}
	for c.Member() {
		switch string(c.Key()) {
		case "prompt_tokens", "input_tokens":
			count(c, &n.input)
		case "completion_tokens", "output_tokens":
			count(c, &n.output)
		case "total_tokens":
			count(c, &n.total)
		case "cached_tokens": // Moonshot
			count(c, &n.cached)
		case "prompt_cache_hit_tokens": // DeepSeek
			count(c, &n.cacheHit)
		case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
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

// usage brings the counts to one way of counting. When the total is larger than
// input and output together, the difference says what the service leaves out
// of them: reasoning (xAI), cached input, or, if it names neither, thinking
// that it does not show (Gemini).
func (n *counts) usage() Usage {
	u := Usage{
		InputTokens:      max(n.input, 0),
		OutputTokens:     max(n.output, 0),
		CachedTokens:     max(n.cached, n.cacheHit, 0),
		CacheWriteTokens: max(n.write, 0),
		ReasoningTokens:  max(n.reasoning, 0),
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
