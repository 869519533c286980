package scan

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"
)

// Large texts are decoded and encoded a block at a time, as they are skipped (see
// skipString): what has to change is found in all of a block at once, and whatever
// stands before it is copied as a whole block, of which only the beginning counts.
// Both loops end where a block from anywhere inside the next would not be all text.

// decode writes the text that raw stands for to dst, which must be longer than the
// text by a block, and returns the text's length, and whether half a surrogate
// pair is in it.
func decode(dst, raw []byte) (n int, half bool) {
	i := 0
	for len(raw)-i >= 2*block {
		b := raw[i : i+block : i+block]
		marks := gathered(
			backslashes(binary.LittleEndian.Uint64(b)), backslashes(binary.LittleEndian.Uint64(b[8:])),
			backslashes(binary.LittleEndian.Uint64(b[16:])), backslashes(binary.LittleEndian.Uint64(b[24:])),
		)
		from := i
		for marks != 0 {
			at := i + bits.TrailingZeros64(marks)
			copyBlock(dst[n:], raw[from:])
			n += at - from
			letter := raw[at+1]
			if from = at + 2; letter != 'u' {
				dst[n] = unescaped[letter]
				n++
			} else {
				from, n, half = decodeRune(dst, raw, at, n, half)
			}
			marks &= ^uint64(0) << (from - i)
		}
		next := max(i+block, from)
		if from < next {
			copyBlock(dst[n:], raw[from:])
			n += next - from
		}
		i = next
	}
	for i < len(raw) {
		switch b := raw[i]; {
		case b != '\\':
			dst[n] = b
			i, n = i+1, n+1
		case raw[i+1] != 'u':
			dst[n] = unescaped[raw[i+1]]
			i, n = i+2, n+1
		default:
			i, n, half = decodeRune(dst, raw, i, n, half)
		}
	}
	return n, half
}

// decodeRune decodes the \u escape, or the pair of them, at raw[at:] to dst[n:].
func decodeRune(dst, raw []byte, at, n int, half bool) (end, longer int, halves bool) {
	r, size := escapedRune(raw[at:])
	half = half || r == utf8.RuneError && hex4(raw[at+2:at+6]) != utf8.RuneError
	return at + size, n + utf8.EncodeRune(dst[n:], r), half
}

// unescaped are the bytes that those behind a backslash stand for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendString appends s to dst as a JSON string, quotes included. It escapes
// what JSON demands, the line separators U+2028 and U+2029, and the bytes that
// HTML gives a meaning (<, > and &); bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if len(s) >= 2*block {
		dst, s = appendBlocks(dst, s)
	}
	for i := 0; i < len(s); {
		run := i
		for run < len(s) && bare[s[run]] {
			run++
		}
		dst = append(dst, s[i:run]...)
		if i = run; i == len(s) {
			break
		}
		if b := s[i]; b < utf8.RuneSelf {
			dst = appendEscaped(dst, b)
			i++
			continue
		}
		dst, i = appendRunes(dst, s, i)
	}
	return append(dst, '"')
}

// appendBlocks appends all but the end of s, which it returns.
func appendBlocks(dst []byte, s string) (longer []byte, rest string) {
	const room = 8 * block                           // more than a block becomes
	in := unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // it is only read
	i := 0
	for len(s)-i >= 2*block {
		if cap(dst)-len(dst) < room {
			dst = slices.Grow(dst, len(s)-i+room)
		}
		b := in[i : i+block : i+block]
		marks := gathered(
			marked(binary.LittleEndian.Uint64(b)), marked(binary.LittleEndian.Uint64(b[8:])),
			marked(binary.LittleEndian.Uint64(b[16:])), marked(binary.LittleEndian.Uint64(b[24:])),
		)
		from := i
		for marks != 0 {
			at := i + bits.TrailingZeros64(marks)
			n := len(dst)
			copyBlock(dst[n:n+block], in[from:])
			n += at - from
			c := s[at]
			from = at + 1
			switch short := escapes[c]; {
			case short != 0:
				dst = dst[:n+2]
				dst[n], dst[n+1] = '\\', short
			case c < utf8.RuneSelf:
				dst = appendEscaped(dst[:n], c)
			default:
				if dst, from = appendRunes(dst[:n], s, at); cap(dst)-len(dst) < room {
					dst = slices.Grow(dst, len(s)-i+room)
				}
			}
			marks &= ^uint64(0) << (from - i)
		}
		next := max(i+block, from)
		if from < next {
			n := len(dst)
			copyBlock(dst[n:n+block], in[from:])
			dst = dst[:n+next-from]
		}
		i = next
	}
	return dst, s[i:]
}

// appendRunes appends the characters beyond ASCII that s has at i, and returns
// where they end.
func appendRunes(dst []byte, s string, i int) (longer []byte, end int) {
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst, i
}

const hexDigits = "0123456789abcdef"

// bare are the bytes that stand in a JSON string as they are, of ASCII.
var bare = func() (is [256]bool) {
	for b := ' '; b < 0x7f; b++ {
		is[b] = b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
	}
	return is
}()

// escapes are the bytes that stand behind a backslash for those that have a short
// escape.
var escapes = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r'}

// appendEscaped appends a byte of ASCII that is not bare.
func appendEscaped(dst []byte, b byte) []byte {
	if short := escapes[b]; short != 0 {
		return append(dst, '\\', short)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
}

// gathered joins the marks of a block, which are the highest bits of bytes: bit n
// stands for byte n.
func gathered(w0, w1, w2, w3 uint64) uint64 {
	return w0>>7*gather>>56 | w1>>7*gather>>56<<8 | w2>>7*gather>>56<<16 | w3>>7*gather>>56<<24
}

// backslashes marks the backslashes of w.
func backslashes(w uint64) uint64 { return ^(w&lows ^ ones*'\\' + lows | w) & highs }

// marked marks the bytes of w that are not bare. Each sum carries into the highest
// bit unless its byte is one of those that are looked for: the control bytes, then
// a quote or an ampersand, < or >, a backslash; the last but one sum does it only
// for 0x7f.
func marked(w uint64) uint64 {
	low := w & lows
	kept := (low + ones*0x60) & ((low | ones*4) ^ ones*'&' + lows) & ((low | ones*2) ^ ones*'>' + lows) & (low ^ ones*'\\' + lows)
	return (^kept | (low + ones) | w) & highs
}

// copyBlock copies a block from the beginning of src to that of dst, in words: at
// this size a call of copy costs more than what it does.
func copyBlock(dst, src []byte) {
	d, s := (*[block]byte)(dst), (*[block]byte)(src)
	w0, w1 := binary.LittleEndian.Uint64(s[:8]), binary.LittleEndian.Uint64(s[8:16])
	w2, w3 := binary.LittleEndian.Uint64(s[16:24]), binary.LittleEndian.Uint64(s[24:])
	binary.LittleEndian.PutUint64(d[:8], w0)
	binary.LittleEndian.PutUint64(d[8:16], w1)
	binary.LittleEndian.PutUint64(d[16:24], w2)
	binary.LittleEndian.PutUint64(d[24:], w3)
}
