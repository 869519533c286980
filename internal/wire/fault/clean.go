package fault

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanMessage makes a text safe to show: see [Fault].
func cleanMessage(s string) string {
	s = s[:min(len(s), maxText)]
	s = visible(s)
	s = stripTags(s)
	s = mask(s)
	return cut(strings.TrimSpace(s), MaxMessage)
}

// cleanField does the same for a type, a code or a param.
func cleanField(s string) string {
	return cut(strings.TrimSpace(mask(stripTags(visible(s)))), maxField)
}

// visible makes s valid UTF-8 and replaces each run of white space and of
// characters that do not show (controls, direction marks) by one space.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// stripTags takes out what a browser would read as markup: tags, comments, and
// the content of scripts and styles. A "<" that begins no tag stays.
func stripTags(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		size := tagSize(s)
		if size == 0 {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		s = s[size:]
	}
	return dropOpeners(b.String())
}

// tagSize measures the tag that s begins with, 0 if it begins with none. A
// script or style counts up to its end.
func tagSize(s string) int {
	if len(s) < 2 || !opensTag(s[1]) {
		return 0
	}
	for _, element := range []string{"<script", "<style"} {
		if len(s) < len(element) || !strings.EqualFold(s[:len(element)], element) {
			continue
		}
		closer := "</" + element[1:]
		if i := bytes.Index(lowerASCII([]byte(s)), []byte(closer)); i > 0 {
			return i + len(closer) + strings.IndexByte(s[i+len(closer):], '>') + 1
		}
		return len(s)
	}
	i := strings.IndexAny(s[1:], "<>")
	if i < 0 || s[1+i] == '<' {
		return 0
	}
	return i + 2
}

func opensTag(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '/' || b == '!' || b == '?'
}

// dropOpeners removes each "<" that still could open a tag: those of unfinished
// tags, and those that came to stand before a letter when a tag was taken out.
// It goes from the end, so that what it drops cannot make another.
func dropOpeners(s string) string {
	kept := make([]byte, len(s))
	at := len(s)
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '<' && at < len(s) && opensTag(kept[at]) {
			continue
		}
		at--
		kept[at] = s[i]
	}
	return string(kept[at:])
}

// cut shortens s to limit bytes at the boundary of a character and says so with
// an ellipsis.
func cut(s string, limit int) string {
	const ellipsis = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
