package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// block is how many bytes of a string are looked at together.
const block = 32

// skipString checks the string whose opening quote is at i and returns the
// offset behind its closing quote, or -1 after an error.
//
// Most bytes of a request are inside strings, and most of those stand for
// themselves: so a block at a time is asked which of its bytes need a closer
// look. In text and code that is one in a few dozen, at places that no processor
// foresees, and a wrong guess costs more than the block. Hence all marks of a
// block are worked through in one loop, instead of searching anew behind each.
func (c *Cursor) skipString(i int) int {
	data := c.data
	start := i + 1
	saved := 0                                                   // bytes by which decoding shortens the string
	for i = start; i < start+block && i+8 <= len(data); i += 8 { // keys and names end within this
		if m := special(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			if end := i + bits.TrailingZeros64(m)/8; data[end] == '"' {
				return c.stringEnd(start, end, saved)
			}
			break
		}
	}
	for i+block <= len(data) {
		b := data[i : i+block : i+block]
		w0, w1 := exactly(binary.LittleEndian.Uint64(b)), exactly(binary.LittleEndian.Uint64(b[8:]))
		w2, w3 := exactly(binary.LittleEndian.Uint64(b[16:])), exactly(binary.LittleEndian.Uint64(b[24:]))
		if w0|w1|w2|w3 == 0 {
			i += block
			continue
		}
		marks := w0>>7*gather>>56 | w1>>7*gather>>56<<8 | w2>>7*gather>>56<<16 | w3>>7*gather>>56<<24 // bit n: byte n
		next := i + block
		for marks != 0 {
			at := i + bits.TrailingZeros64(marks)
			if data[at] != '\\' {
				return c.stringEnd(start, at, saved)
			}
			size := 2
			if at+1 < len(data) && short[data[at+1]] {
				saved++
			} else {
				var less int
				if size, less = escapedRunes(data[at:]); size == 0 {
					c.fail(at, "a bad escape in a string")
					return -1
				}
				saved += less
			}
			marks &= ^uint64(0) << (at - i + size)
			next = max(next, at+size)
		}
		i = next
	}
	return c.skipTail(start, i, saved)
}

// skipTail is skipString for what is left of a string from i on, near the end of
// the data.
func (c *Cursor) skipTail(start, i, saved int) int {
	for i < len(c.data) {
		if plain[c.data[i]] {
			i++
			continue
		}
		if c.data[i] != '\\' {
			return c.stringEnd(start, i, saved)
		}
		size, less := 2, 1
		if i+1 == len(c.data) || !short[c.data[i+1]] {
			if size, less = escapedRunes(c.data[i:]); size == 0 {
				c.fail(i, "a bad escape in a string")
				return -1
			}
		}
		i += size
		saved += less
	}
	c.fail(i, "")
	return -1
}

// stringEnd ends the string that begins at start at the byte at, which is its
// closing quote or a control byte.
func (c *Cursor) stringEnd(start, at, saved int) int {
	if c.data[at] != '"' {
		c.fail(at, "a control byte in a string")
		return -1
	}
	c.decoded = at - start - saved
	c.strings += int64(c.decoded)
	return at + 1
}

// escapedRunes returns the size of the \u escapes that s begins with, which
// follow one another in text of other scripts, and by how much decoding shortens
// them. The size is 0 when the first is none.
func escapedRunes(s []byte) (size, saved int) {
	for len(s)-size >= 6 && s[size] == '\\' && s[size+1] == 'u' {
		e := s[size:]
		high, low := digit[e[2]]<<4|digit[e[3]], digit[e[4]]|digit[e[5]]
		switch {
		case digit[e[2]]|digit[e[3]]|low > 0xf:
			return size, saved
		case high == 0 && digit[e[4]] < 8: // below U+0080
			saved += 6 - 1
		case high < 8: // below U+0800
			saved += 6 - 2
		case high&0xf8 != 0xd8:
			saved += 6 - 3
		default: // half a surrogate pair, maybe with the other half
			r, n := escapedRune(e)
			size += n - 6
			saved += n - utf8.RuneLen(r)
		}
		size += 6
	}
	return size, saved
}

const (
	ones   = 0x0101010101010101
	lows   = 0x7f7f7f7f7f7f7f7f
	highs  = 0x8080808080808080
	gather = 0x0102040810204080 // times bits 0, 8, 16, …: they become the highest byte
)

// exactly marks the bytes of w that do not stand for themselves in a string, each
// in its highest bit: a quote, a backslash, a control byte. Of the bytes below
// 0x80 only a quote and the control bytes are, with their second bit turned,
// below 0x21.
func exactly(w uint64) uint64 {
	low := w & lows
	return ^((low^ones*2+ones*(0x80-0x21))&(low^ones*'\\'+lows) | w) & highs
}

// special is exactly for who wants the lowest mark only: those above it may be
// too many.
func special(w uint64) uint64 {
	return ((w ^ ones*2 - ones*0x21) | (w ^ ones*'\\' - ones)) &^ w & highs
}

var (
	// plain holds the bytes that stand for themselves in a string.
	plain = func() (t [256]bool) {
		for b := range t {
			t[b] = b >= ' ' && b != '"' && b != '\\'
		}
		return t
	}()
	// short holds those that make an escape with the backslash before them.
	short = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}
	// digit holds the values of hexadecimal digits; 0xff is none.
	digit = func() (t [256]byte) {
		for b := range t {
			t[b] = 0xff
		}
		for i, b := range []byte("0123456789") {
			t[b] = byte(i)
		}
		for i, b := range []byte("abcdef") {
			t[b], t[b-0x20] = byte(10+i), byte(10+i)
		}
		return t
	}()
)
