package scan

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
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
	text := make([]byte, decoded+block)
	n, half := decode(text, raw)
	if half {
		return "", ErrSurrogate
	}
	return unsafe.String(&text[0], n), nil //nolint:gosec // nobody else knows the bytes
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
