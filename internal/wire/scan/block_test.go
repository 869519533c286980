package scan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatewright/internal/wire/scan"
)

// slowAppend is AppendString a character at a time.
func slowAppend(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || strings.ContainsRune("<>&\x7f\u2028\u2029", r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	b.WriteByte('"')
	return b.String()
}

// longText draws a text of several blocks: plain runs of any length, and between
// them what needs care.
func longText(t *rapid.T, pieces []string) string {
	var b strings.Builder
	for range rapid.IntRange(0, 40).Draw(t, "pieces") {
		b.WriteString(strings.Repeat("x", rapid.IntRange(0, 40).Draw(t, "run")))
		b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
	}
	return b.String()
}

func TestAppendStringInBlocks(t *testing.T) {
	pieces := []string{
		"\n", "\t\t\t", `"`, `\`, `\\\\`, "<", ">", "&", "\x00", "\x1f", "\x7f", "!", "#", "%", "=", "?", "]", "~", " ", "é", "語語語語語語語語語語語語",
		"\u2028", "\u2029", "😀", "\xff", "\xe2\x80", strings.Repeat("\n", 70), strings.Repeat("\x01", 70), strings.Repeat("é", 50),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := longText(t, pieces)
		dst := append(make([]byte, 0, rapid.IntRange(5, 400).Draw(t, "room")), "kept;"...)
		if got, want := string(scan.AppendString(dst, text)), "kept;"+slowAppend(text); got != want {
			t.Fatalf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	})
}

func TestTextInBlocks(t *testing.T) {
	pieces := []string{
		`\n`, `\t\t\t`, `\"`, `\\`, `\\\\\\\\`, `\/`, `\b\f\r`, `\u0041`, `\u00E9`, `\u8a9e`, `\ud83d\uDE00`, `\u0000`, `\ufffd`, "é", "語",
		strings.Repeat(`\\`, 70), strings.Repeat(`\u4f60`, 20), `u`, `n`,
	}
	broken := []string{`\ud83d`, `\ude00`, `\ud83dx`, `\ud83d\n`, `\ud83d\u0041`}
	rapid.Check(t, func(t *rapid.T) {
		raw := `"` + longText(t, pieces) + `"`
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if got, err := scan.String([]byte(raw)); got != want || err != nil {
			t.Fatalf("%s: got %q, %v; want %q", raw, got, err, want)
		}
		half := raw[:len(raw)-1] + rapid.SampledFrom(broken).Draw(t, "half") + longText(t, pieces) + `"`
		if got, err := scan.String([]byte(half)); !errors.Is(err, scan.ErrSurrogate) {
			t.Fatalf("%s: got %q, %v", half, got, err)
		}
	})
}
