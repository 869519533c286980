package request

import (
	"bytes"
	"strconv"

	"gatewright/internal/wire/scan"
)

// Integer returns the value of a JSON number that is a whole one, in whatever
// form: 512, 512.0 and 5.12e2 are the same.
func Integer(raw []byte) (n int64, whole bool) {
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

// LooseText takes the value that is due if it is a string and returns its text.
// What is none, or no text, is an empty one and no fault.
func LooseText(c *scan.Cursor) string {
	raw, decoded, ok := c.Text()
	if !ok {
		return ""
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return ""
	}
	return text
}

// Filled takes the value that is due and reports whether it holds anything: a
// text that is not empty, an array or object with something in it.
func Filled(c *scan.Cursor) bool {
	switch c.Kind() {
	case scan.KindString, scan.KindArray, scan.KindObject:
		raw := c.Raw()
		if len(raw) == 0 {
			return false
		}
		inner := raw[1 : len(raw)-1]
		if raw[0] != '"' {
			inner = bytes.TrimSpace(inner)
		}
		return len(inner) > 0
	case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber:
	}
	c.Skip()
	return false
}
