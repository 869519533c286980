package scan_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatewright/internal/wire/scan"
)

// slowString is how a string is read byte by byte: the offset behind its closing
// quote and its length once decoded, or the offset of the error.
func slowString(data string) (end, decoded, fault int) {
	i := 1
	for i < len(data) {
		switch b := data[i]; {
		case b == '"':
			return i + 1, decoded, -1
		case b < ' ':
			return 0, 0, i
		case b != '\\':
			i, decoded = i+1, decoded+1
		case i+1 < len(data) && strings.IndexByte(`"\/bfnrt`, data[i+1]) >= 0:
			i, decoded = i+2, decoded+1
		default:
			high, ok := slowHex(data[i:])
			if !ok {
				return 0, 0, i
			}
			low, pair := slowHex(data[i+6:])
			switch {
			case high >= 0xd800 && high < 0xdc00 && pair && low >= 0xdc00 && low < 0xe000:
				i, decoded = i+12, decoded+4
			case high >= 0xd800 && high < 0xe000:
				i, decoded = i+6, decoded+len("\ufffd")
			default:
				i, decoded = i+6, decoded+utf8.RuneLen(high)
			}
		}
	}
	return 0, 0, i
}

// slowHex reads the \u escape that s begins with.
func slowHex(s string) (r rune, ok bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	for _, b := range s[2:6] {
		n := strings.IndexRune("0123456789abcdefABCDEF", b)
		if n < 0 {
			return 0, false
		}
		if n > 0xf {
			n -= 6
		}
		r = r<<4 | rune(n)
	}
	return r, true
}

// TestStringsAsReadByteByByte compares on strings that are nearly good, with
// what needs a closer look on every side of a block's bounds.
func TestStringsAsReadByteByByte(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		`\n`, `\"`, `\\`, `\/`, `\t`, `\x`, `\`, `"`, "\n", "\x00", "\x1f", " ", "!", "#", "]", "[", "\x7f", "\x80", "é", "\xff", "你",
		`\u`, `\u0`, `\u00e`, `\u0000`, `\u007f`, `\u0080`, `\u07FF`, `\u0800`, `\uFFff`, `\u4f60\u597d`, `\u12g4`, `\u123\n`, `\u1 34`,
		`\ud83d`, `\ude00`, `\ud83d\ude00`, `\ud83d\ud83d\ude00`, `\uD83D\uDE00`, `\ud83d\u0041`, `\ud83d\n`, `\ud83d\`,
		"a", "plain", strings.Repeat("x", 7), strings.Repeat("y", 8), strings.Repeat("z", 25), strings.Repeat("w", 31), strings.Repeat("v", 64),
	})
	rapid.Check(t, func(t *rapid.T) {
		data := `"` + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") + rapid.SampledFrom([]string{`"`, "", `"` + strings.Repeat("]", 40)}).Draw(t, "end")
		end, decoded, fault := slowString(data)
		c := scan.NewCursor([]byte(data), 0)
		raw, got, ok := c.Text()
		var syntax *scan.SyntaxError
		switch {
		case ok != (fault < 0):
			t.Fatalf("%q: taken: %v, error: %v; want a fault at %d", data, ok, c.Err(), fault)
		case ok && (string(raw) != data[1:end-1] || got != decoded || c.Pos() != end || c.StringBytes() != int64(decoded)):
			t.Fatalf("%q: got %q of %d bytes and %d, want %q of %d", data, raw, got, c.StringBytes(), data[1:end-1], decoded)
		case !ok && (!errors.As(c.Err(), &syntax) || syntax.Offset != fault):
			t.Fatalf("%q: got error %v, want one at %d", data, c.Err(), fault)
		}
	})
}
