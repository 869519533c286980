package anthropic

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// Usage is what an answer consumed, in tokens. The protocol counts cached input
// apart; here CachedTokens and CacheWriteTokens are inside InputTokens,
// CacheWriteLongTokens inside CacheWriteTokens, ReasoningTokens inside
// OutputTokens.
type Usage struct {
	InputTokens          int64
	OutputTokens         int64
	CachedTokens         int64 // read from a prompt cache
	CacheWriteTokens     int64 // written to a prompt cache
	CacheWriteLongTokens int64 // of them with a lifetime of an hour
	ReasoningTokens      int64
	// Known is false if the answer did not say.
	Known bool
}

// Counts are the counts of usage objects as they stand on the wire. Those of a
// stream are cumulative and each event may hold only some of them: [Counts.Add]
// replaces what an object holds and leaves the rest. The zero value knows none.
type Counts struct {
	input, output, read, write, short, long, thinking count
}

// count is a count that may be unknown.
type count struct {
	n    int64
	told bool
}

// Add takes the value that is due at c, which should be a usage object.
func (n *Counts) Add(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "input_tokens":
			n.input.take(c)
		case "output_tokens":
			n.output.take(c)
		case "cache_read_input_tokens":
			n.read.take(c)
		case "cache_creation_input_tokens":
			n.write.take(c)
		case "cache_creation":
			n.addWrites(c)
		case "output_tokens_details":
			n.addDetails(c)
		}
	}
}

func (n *Counts) addWrites(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "ephemeral_5m_input_tokens":
			n.short.take(c)
		case "ephemeral_1h_input_tokens":
			n.long.take(c)
		}
	}
}

func (n *Counts) addDetails(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		if string(c.Key()) == "thinking_tokens" {
			n.thinking.take(c)
		}
	}
}

// take takes a number of tokens that is due; what is no such number changes
// nothing.
func (t *count) take(c *scan.Cursor) {
	if n, ok := request.Tokens(c); ok {
		*t = count{n: n, told: true}
	}
}

// Usage brings the counts to one way of counting.
func (n *Counts) Usage() Usage {
	if !n.input.told && !n.output.told {
		return Usage{}
	}
	u := Usage{
		CachedTokens:         n.read.n,
		CacheWriteTokens:     max(n.write.n, n.short.n+n.long.n),
		CacheWriteLongTokens: n.long.n,
		OutputTokens:         n.output.n,
		ReasoningTokens:      min(n.thinking.n, n.output.n),
		Known:                true,
	}
	u.InputTokens = n.input.n + u.CachedTokens + u.CacheWriteTokens
	return u
}
