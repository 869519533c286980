package abi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// The text of a prompt is cut to MaxGranted bytes in both forms, before the
// character that does not fit in the longer of them.
func TestGranted(t *testing.T) {
	for _, some := range []string{"a", "é", "😀", "\n", "\"", "\x01", "a\x01é\n", "\xff"} {
		s := granted(strings.Repeat(some, 2*MaxGranted))
		text := appendEscaped(nil, s)
		if n := JSONSize(s); n != len(text) || n > MaxGranted || n < MaxGranted-8 || len(s) > MaxGranted {
			t.Errorf("%q: %d bytes, %d as JSON, and JSONSize says %d", some, len(s), len(text), n)
		}
		if utf8.ValidString(some) && !utf8.ValidString(s) {
			t.Errorf("%q is cut within a character", some)
		}
		if short := strings.Repeat(some, 10); granted(short) != short {
			t.Errorf("%q is cut", short)
		}
	}
}

// What JSON has a short escape for is written with it.
func TestShortEscapes(t *testing.T) {
	const text = "a\n\r\t\"\\\x01\x1f\x7fé"
	got := string(appendString(nil, text))
	if want := `"a\n\r\t\"\\\u0001\u001f` + "\x7fé" + `"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back != text {
		t.Errorf("read as %q, %v", back, err)
	}
}
