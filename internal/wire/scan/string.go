package scan

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Errors of [String].
var (
	// ErrNotString says that the value is not a JSON string.
	ErrNotString = errors.New("not a string")
	// ErrSurrogate says that a string holds half of a surrogate pair, which is
	// no character.
	ErrSurrogate = errors.New("string holds half a surrogate pair")
	// ErrUTF8 says that a string holds bytes that are not UTF-8.
	ErrUTF8 = errors.New("string is not valid UTF-8")
)

// String returns the text that a JSON string value, quotes included, stands
// for. Unlike encoding/json it replaces nothing: it returns ErrSurrogate or
// ErrUTF8 for what is no text.
func String(raw []byte) (string, error) {
	c := NewCursor(raw, 0)
	text, decoded, ok := c.Text()
	if err := c.Close(); err != nil {
		return "", err
	}
	if !ok {
		return "", ErrNotString
	}
	return Text(text, decoded)
}

// Text returns the text that raw, the bytes between the quotes of a checked
// JSON string, stands for; decoded is its length as [Cursor.Text] told it. The
// errors are those of [String].
func Text(raw []byte, decoded int) (string, error) {
	if !utf8.Valid(raw) {
		return "", ErrUTF8
	}
	if decoded == len(raw) {
		return string(raw), nil
	}
	if halfPair(raw) {
		return "", ErrSurrogate
	}
	return string(AppendText(make([]byte, 0, decoded), raw)), nil
}

func halfPair(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return false // no surrogate, which most texts have none of
	}
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			i++
			continue
		}
		if raw[i+1] != 'u' {
			i += 2
			continue
		}
		r, size := escapedRune(raw[i:])
		if r == utf8.RuneError && hex4(raw[i+2:i+6]) != utf8.RuneError {
			return true
		}
		i += size
	}
	return false
}

// AppendText appends to dst the text that raw, the bytes between the quotes of
// a checked JSON string, stands for. Half a surrogate pair becomes U+FFFD;
// bytes that are not UTF-8 are copied.
func AppendText(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if run := bytes.IndexByte(raw[i:], '\\'); run < 0 {
			return append(dst, raw[i:]...)
		} else if run > 0 {
			dst = append(dst, raw[i:i+run]...)
			i += run
		}
		switch b := raw[i+1]; b {
		case 'u':
			r, size := escapedRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, b)
		}
		i += 2
	}
	return dst
}

// escapedRune decodes the \u escape, or the pair of them, that s begins with
// and returns its size in s: 6 or 12 bytes, 0 if it is none. Half a pair
// is U+FFFD.
func escapedRune(s []byte) (r rune, size int) {
	if len(s) < 6 || s[1] != 'u' {
		return utf8.RuneError, 0
	}
	if r = hex4(s[2:6]); r < 0 {
		return utf8.RuneError, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(s []byte) rune {
	var r rune
	for _, b := range s {
		switch {
		case b-'0' <= 9:
			b -= '0'
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(b)
	}
	return r
}

const hexDigits = "0123456789abcdef"

// AppendString appends s to dst as a JSON string, quotes included. It escapes
// what JSON demands, the line separators U+2028 and U+2029, and the bytes that
// HTML gives a meaning (<, > and &); bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
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
	return append(dst, '"')
}

// bare are the bytes that stand in a JSON string as they are, of ASCII.
var bare = func() (is [256]bool) {
	for b := ' '; b < 0x7f; b++ {
		is[b] = b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
	}
	return is
}()

// appendEscaped appends a byte that is not bare.
func appendEscaped(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
}
