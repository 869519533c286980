package form

import (
	"bytes"
	"strings"
)

// header reads the header of a part, which begins at an offset: lines, each
// with its line break.
func (w *walker) header(p *Part, at int, header []byte) error {
	disposed := false
	for len(header) > 0 {
		line, rest, _ := bytes.Cut(header, crlf)
		name, value, colon := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.IndexFunc(line, control) >= 0:
			return w.fail(at, "a line of a part's header holds a control character, or a line break that is not CR LF")
		case bytes.HasPrefix(line, w.delimiter):
			return w.fail(at, "a part's header holds the boundary")
		case !colon || !token(name):
			return w.fail(at, "a line of a part's header is not NAME: VALUE")
		}
		value = bytes.Trim(value, " \t")
		switch {
		case bytes.EqualFold(name, []byte("Content-Disposition")):
			if disposed {
				return w.fail(at, "a part has two Content-Disposition lines")
			}
			disposed = true
			if what := p.dispose(value); what != "" {
				return w.fail(at, "%s", what)
			}
		case bytes.EqualFold(name, []byte("Content-Transfer-Encoding")):
			p.Encoded = p.Encoded || !plainEncoding(string(value))
		}
		at += len(line) + len(crlf)
		header = rest
	}
	if !disposed {
		return w.fail(at, "a part has no Content-Disposition")
	}
	return nil
}

func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// plainEncoding reports whether bytes under a Content-Transfer-Encoding are the
// value itself.
func plainEncoding(value string) bool {
	switch strings.ToLower(value) {
	case "binary", "8bit", "7bit":
		return true
	}
	return false
}

// dispose reads a Content-Disposition and returns what is wrong with it, or "".
func (p *Part) dispose(value []byte) string {
	kind, rest, _ := bytes.Cut(value, []byte(";"))
	if !bytes.EqualFold(bytes.Trim(kind, " \t"), []byte("form-data")) {
		return "a part's Content-Disposition is not form-data"
	}
	named := false
	for rest = bytes.TrimLeft(rest, " \t"); len(rest) > 0; {
		key, text, after, ok := parameter(rest)
		if !ok {
			return "a part's Content-Disposition cannot be read"
		}
		switch key = strings.ToLower(key); {
		case key == "name" && named:
			return "a part has two names"
		case key == "name" && (text == "" || strings.IndexByte(text, '\\') >= 0):
			return "a part's name is empty or holds a backslash"
		case key == "name":
			named, p.Name = true, text
		case strings.HasPrefix(key, "name*"):
			return "a part's name is in an extended notation: write name=\"…\""
		case key == "filename", strings.HasPrefix(key, "filename*"):
			p.File = true
		}
		rest = after
	}
	if !named {
		return "a part has no name"
	}
	return ""
}

// parameter splits KEY=VALUE off the front of a list; a quoted value comes
// without its quotes, and with the backslashes in it.
func parameter(list []byte) (key, value string, rest []byte, ok bool) {
	name, list, ok := bytes.Cut(list, []byte("="))
	if !ok || !token(name) {
		return "", "", nil, false
	}
	if len(list) == 0 || list[0] != '"' {
		text, rest, _ := bytes.Cut(list, []byte(";"))
		text = bytes.TrimRight(text, " \t")
		return string(name), string(text), bytes.TrimLeft(rest, " \t"), token(text)
	}
	end := 1
	for ; end < len(list) && list[end] != '"'; end++ {
		if list[end] == '\\' {
			end++
		}
	}
	if end >= len(list) {
		return "", "", nil, false
	}
	rest = bytes.TrimLeft(list[end+1:], " \t")
	if len(rest) > 0 && rest[0] != ';' {
		return "", "", nil, false
	}
	return string(name), string(list[1:end]), bytes.TrimLeft(rest, "; \t"), true
}

// token reports whether a text is a token of HTTP: at least one character, none
// of them a separator, a control or beyond ASCII.
func token(text []byte) bool {
	for _, b := range text {
		if b <= ' ' || b >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, b) >= 0 {
			return false
		}
	}
	return len(text) > 0
}
