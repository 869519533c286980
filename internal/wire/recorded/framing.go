package recorded

import (
	"bytes"
	"unicode/utf8"
)

// Framing is a way in which a body comes.
type Framing struct {
	Name   string
	Writes [][]byte // of the service, each on its way before the next
}

// The names of framings, of which bodies without characters of several bytes lack
// one and bodies that are no streams the last three.
const (
	Whole            = "whole"
	OneByte          = "one byte a write"
	InsideCharacters = "inside characters"
	CRLF             = "CRLF"
	BetweenCRLF      = "between CR and LF"
	Comments         = "comments"
)

// Framings returns the ways in which the same answer can come, always in the same
// order.
func (e *Entry) Framings() []Framing {
	all := []Framing{
		{Whole, [][]byte{e.Body}},
		{OneByte, piecewise(e.Body, func(int) bool { return true })},
	}
	inside := piecewise(e.Body, func(i int) bool { return i+1 < len(e.Body) && !utf8.RuneStart(e.Body[i+1]) })
	if len(inside) > 1 {
		all = append(all, Framing{InsideCharacters, inside})
	}
	if !e.Stream() {
		return all
	}
	lines := bytes.ReplaceAll(e.Body, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n"))
	return append(all,
		Framing{CRLF, [][]byte{crlf}},
		Framing{BetweenCRLF, piecewise(crlf, func(i int) bool { return crlf[i] == '\r' })},
		Framing{Comments, [][]byte{bytes.ReplaceAll(lines, []byte("\n\n"), []byte("\n\n: keep-alive\n\n:\n\n"))}},
	)
}

// piecewise cuts a body behind the places for which cut reports true.
func piecewise(body []byte, cut func(i int) bool) (pieces [][]byte) {
	from := 0
	for i := range body {
		if cut(i) || i == len(body)-1 {
			pieces = append(pieces, body[from:i+1])
			from = i + 1
		}
	}
	return pieces
}
