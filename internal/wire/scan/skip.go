package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// space returns the offset of the first byte at or after i that is not white
// space.
func (c *Cursor) space(i int) int {
	for i < len(c.data) {
		switch c.data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// skipValue checks the value that begins at i and returns the offset behind
// it, or -1 after an error.
func (c *Cursor) skipValue(i, depth int) int {
	if i == len(c.data) {
		c.fail(i, "")
		return -1
	}
	switch b := c.data[i]; {
	case b == '"':
		return c.skipString(i)
	case b == '-' || b-'0' <= 9:
		return c.skipNumber(i)
	case b == '{':
		return c.skipObject(i, depth+1)
	case b == '[':
		return c.skipArray(i, depth+1)
	case b == 't':
		return c.skipWord(i, "true")
	case b == 'f':
		return c.skipWord(i, "false")
	case b == 'n':
		return c.skipWord(i, "null")
	}
	c.fail(i, "a value is missing")
	return -1
}

func (c *Cursor) skipWord(i int, word string) int {
	end := i + len(word)
	if end > len(c.data) || string(c.data[i:end]) != word {
		c.fail(i, "a value is missing")
		return -1
	}
	return end
}

func (c *Cursor) skipObject(i, depth int) int {
	if depth > c.max {
		c.tooDeep()
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.data) && c.data[i] == '}' {
		return i + 1
	}
	for {
		if i == len(c.data) || c.data[i] != '"' {
			c.fail(i, "a key is missing")
			return -1
		}
		if i = c.skipString(i); i < 0 {
			return -1
		}
		if i = c.space(i); i == len(c.data) || c.data[i] != ':' {
			c.fail(i, "a colon is missing after a key")
			return -1
		}
		if i = c.skipValue(c.space(i+1), depth); i < 0 {
			return -1
		}
		i = c.space(i)
		if i < len(c.data) && c.data[i] == '}' {
			return i + 1
		}
		if i == len(c.data) || c.data[i] != ',' {
			c.fail(i, "a comma is missing")
			return -1
		}
		i = c.space(i + 1)
	}
}

func (c *Cursor) skipArray(i, depth int) int {
	if depth > c.max {
		c.tooDeep()
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.data) && c.data[i] == ']' {
		return i + 1
	}
	for {
		if i = c.skipValue(i, depth); i < 0 {
			return -1
		}
		i = c.space(i)
		if i < len(c.data) && c.data[i] == ']' {
			return i + 1
		}
		if i == len(c.data) || c.data[i] != ',' {
			c.fail(i, "a comma is missing")
			return -1
		}
		i = c.space(i + 1)
	}
}

// skipNumber checks the number that begins at i with a digit or a minus.
func (c *Cursor) skipNumber(i int) int {
	data := c.data
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	default:
		if i = c.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i] == '.' {
		if i = c.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		return c.digits(i)
	}
	return i
}

// digits returns the offset behind the digits at i, of which there must be at
// least one.
func (c *Cursor) digits(i int) int {
	start := i
	for i < len(c.data) && c.data[i]-'0' <= 9 {
		i++
	}
	if i == start {
		c.fail(i, "a digit is missing")
		return -1
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipString checks the string whose opening quote is at i and returns the
// offset behind its closing quote, or -1 after an error. It looks at eight
// bytes at a time for those that need a closer look: a quote, a backslash, a
// control byte.
func (c *Cursor) skipString(i int) int {
	data := c.data
	start := i + 1
	saved := 0 // bytes by which decoding shortens the string
	for i = start; ; {
		i = plainRun(data, i)
		switch {
		case i == len(data):
			c.fail(i, "")
			return -1
		case data[i] == '"':
			c.decoded = i - start - saved
			c.strings += int64(c.decoded)
			return i + 1
		case data[i] < ' ':
			c.fail(i, "a control byte in a string")
			return -1
		case i+1 < len(data) && short[data[i+1]]:
			i += 2
			saved++
		default:
			r, size := escapedRune(data[i:])
			if size == 0 {
				c.fail(i, "a bad escape in a string")
				return -1
			}
			i += size
			saved += size - utf8.RuneLen(r)
		}
	}
}

// plainRun returns the offset of the first byte at or after i that does not
// stand for itself in a string: a quote, a backslash, a control byte.
func plainRun(data []byte, i int) int {
	for wide := false; i+32 <= len(data); wide = true {
		p := data[i : i+32 : i+32]
		if wide {
			if special(binary.LittleEndian.Uint64(p))|special(binary.LittleEndian.Uint64(p[8:]))|
				special(binary.LittleEndian.Uint64(p[16:]))|special(binary.LittleEndian.Uint64(p[24:])) == 0 {
				i += 32
				continue
			}
		}
		if f := special(binary.LittleEndian.Uint64(p)); f != 0 {
			return i + bits.TrailingZeros64(f)/8
		}
		if f := special(binary.LittleEndian.Uint64(p[8:])); f != 0 {
			return i + 8 + bits.TrailingZeros64(f)/8
		}
		if f := special(binary.LittleEndian.Uint64(p[16:])); f != 0 {
			return i + 16 + bits.TrailingZeros64(f)/8
		}
		if f := special(binary.LittleEndian.Uint64(p[24:])); f != 0 {
			return i + 24 + bits.TrailingZeros64(f)/8
		}
		i += 32
	}
	for i < len(data) && plain[data[i]] {
		i++
	}
	return i
}

// special marks the bytes of w that end a run of plain ones: the lowest mark is
// exact, those above it may be too many.
func special(w uint64) uint64 {
	quote, slash := (w^(ones*'"'))-ones, (w^(ones*'\\'))-ones
	return (quote | slash | (w - ones*' ')) &^ w & highs
}

// plain holds the bytes that stand for themselves in a string, short those
// that make an escape with the backslash before them.
var (
	plain = func() (t [256]bool) {
		for b := range t {
			t[b] = b >= ' ' && b != '"' && b != '\\'
		}
		return t
	}()
	short = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}
)
