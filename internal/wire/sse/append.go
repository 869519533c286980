package sse

import "bytes"

// Append appends one event to dst in canonical framing and returns the longer
// slice: an "event:" line when name is not empty, one "data:" line for each
// line of data, and the blank line that ends the event. Line breaks inside
// data (LF, CR or CRLF) become further data lines, so data can never start a
// field or an event of its own; a reader joins the lines with LF again. A name
// is cut at its first line break.
func Append(dst []byte, name string, data []byte) []byte {
	if name = firstLine(name); name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for more := true; more; {
		var line []byte
		line, data, more = cutLine(data)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// AppendComment appends a comment block, which every reader ignores, to dst
// and returns the longer slice. Line breaks inside text start further comment
// lines.
func AppendComment(dst []byte, text string) []byte {
	rest := []byte(text)
	for more := true; more; {
		var line []byte
		line, rest, more = cutLine(rest)
		dst = append(dst, ':')
		if len(line) > 0 {
			dst = append(dst, ' ')
			dst = append(dst, line...)
		}
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// cutLine splits data at its first line break; more is false when there was
// none.
func cutLine(data []byte) (line, rest []byte, more bool) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		end = len(data)
	}
	if cr := bytes.IndexByte(data[:end], '\r'); cr >= 0 {
		end = cr
	}
	if end == len(data) {
		return data, nil, false
	}
	rest = data[end+1:]
	if data[end] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return data[:end], rest, true
}

func firstLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' {
			return s[:i]
		}
	}
	return s
}
