package request

import "gatewright/internal/wire/scan"

// Tokens takes the value that is due if it is a number and returns the number of
// tokens that it is, false if it can be none.
func Tokens(c *scan.Cursor) (n int64, ok bool) {
	const most = 1 << 40 // more is nonsense
	if c.Kind() != scan.KindNumber {
		return 0, false
	}
	n, whole := Integer(c.Raw())
	return n, whole && n >= 0 && n <= most
}

// Count takes a number of tokens that is due; what is no such number leaves
// into as it is.
func Count(c *scan.Cursor, into *int64) {
	if n, ok := Tokens(c); ok {
		*into = n
	}
}

// Details are the parts of a count, as OpenAI's protocols tell them in the
// members of a usage that end in _tokens_details. What is not told is 0.
type Details struct {
	Cached     int64 // read from a prompt cache
	CacheWrite int64 // written to a prompt cache
	Reasoning  int64
}

// Add takes the value that is due, which should be an object, and takes over
// what it tells.
func (d *Details) Add(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "cached_tokens":
			Count(c, &d.Cached)
		case "cache_write_tokens":
			Count(c, &d.CacheWrite)
		case "reasoning_tokens":
			Count(c, &d.Reasoning)
		}
	}
}
