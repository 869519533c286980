package http1

import (
	"bytes"
	"strings"
)

// What an octet may be in the text of a head.
const (
	inToken uint8 = 1 << iota // of a field's name
	inValue                   // of a field's value
)

// octets says it for each.
var octets = func() (t [256]uint8) {
	for c := range t {
		if c >= ' ' && c != 0x7f || c == '\t' {
			t[c] |= inValue
		}
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= inToken
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= inToken
		t[c-'a'+'A'] |= inToken
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] |= inToken
	}
	return t
}()

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isToken reports whether s is a token: one character at least, all of them such
// as a name may hold.
func isToken(s string) bool {
	for i := range len(s) {
		if octets[s[i]]&inToken == 0 {
			return false
		}
	}
	return s != ""
}

// isValue reports whether a field's value holds nothing that it may not.
func isValue(b []byte) bool {
	for _, c := range b {
		if octets[c]&inValue == 0 {
			return false
		}
	}
	return true
}

// canonical brings a field's name into its canonical form, in place, as
// http.CanonicalHeaderKey does. It reports whether the name is one.
func canonical(name []byte) bool {
	const toLower = 'a' - 'A'
	upper := true
	for i, c := range name {
		switch {
		case octets[c]&inToken == 0:
			return false
		case upper && 'a' <= c && c <= 'z':
			name[i] = c - toLower
		case !upper && 'A' <= c && c <= 'Z':
			name[i] = c + toLower
		}
		upper = c == '-'
	}
	return len(name) > 0
}

func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// hasToken reports whether a list, spread over the values of a field, holds a
// token, in letters of any case.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.Trim(item, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// cutItem returns the first item of a list, and the rest of it.
func cutItem(list []byte) (item, rest []byte) {
	item, rest, _ = bytes.Cut(list, []byte{','})
	return trim(item), rest
}
