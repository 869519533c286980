package server

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoted shows text from outside in a message.
func quoted(s string) string { return strconv.Quote(clip(s, maxLogged)) }

// clip cuts s to limit bytes, between characters.
func clip(s string, limit int) string {
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

// printable makes text fit for a header value.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
