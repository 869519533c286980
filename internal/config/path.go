package config

import (
	"strconv"
	"strings"
)

// path names a place in the file: "models.m.deployments[2].provider". Names
// with other characters than letters, digits, - and _ stand in quotes.
type path string

// key returns the path of the entry of that name. Of a name that is too long to
// be one only the length is kept.
func (p path) key(name string) path {
	if len(name) > maxName {
		name = "… of " + strconv.Itoa(len(name)) + " bytes"
	}
	if !plainName(name) {
		name = strconv.Quote(name)
	}
	if p == "" {
		return path(name)
	}
	return p + "." + path(name)
}

// index returns the path of the i-th item, from 0.
func (p path) index(i int) path { return p + path("["+strconv.Itoa(i)+"]") }

// within reports whether p is outer or lies inside it.
func (p path) within(outer path) bool {
	rest, ok := strings.CutPrefix(string(p), string(outer))
	return ok && (rest == "" || outer == "" || rest[0] == '.' || rest[0] == '[')
}

// parent returns the path that p is an entry or item of, "" at the top.
func (p path) parent() path {
	end, quoted := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++ // it stands in quotes alone, before the character that it escapes
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '.' || c == '['):
			end = i
		}
	}
	return p[:end]
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// place is a position in the text, both from 1; the zero value is none.
type place struct{ line, column int }
