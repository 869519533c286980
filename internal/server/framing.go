package server

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// framing follows the bytes of one client connection, request by request, and
// refuses what two readers could take for different requests. net/http reads
// some of that its own way (both length headers at once, folded lines, bare line
// feeds, chunk extensions, a target that contradicts Host); a proxy in front may
// read it another way, and then a request can hide in another one.
//
// It knows just enough of HTTP/1.1 to find where each request ends. All the rest
// is net/http's to judge. It is used by one reader at a time.
type framing struct {
	state framingState
	line  []byte // the part of the current line that earlier reads brought
	left  int64  // bytes left of the body or of the chunk
	size  int    // bytes of this request's header section so far
	limit func() int
	later bool // a request came before on this connection

	old       bool   // HTTP/1.0
	authority string // of a target that names one
	host      string
	hosts     int
	lengths   int
	length    int64
	chunked   bool
}

// framingState is what comes next on the connection.
type framingState uint8

const (
	atRequestLine framingState = iota
	atHeader
	inBody
	atChunkSize
	inChunk
	atChunkEnd
	atTrailer
)

const (
	// smallHeader is the size of a header section that is let pass without
	// asking for the limit; no limit can be below it.
	smallHeader = 4 << 10
	// maxChunkLine is the longest line of a chunk's size: 15 digits, so that no
	// size overflows, and the line end.
	maxChunkLine = 17
	maxDigits    = 18 // of a Content-Length
)

// feed takes the next bytes of the connection. It returns how many of them may
// be read on, and why the others may not.
func (f *framing) feed(p []byte) (int, *Error) {
	done := 0
	for done < len(p) {
		rest := p[done:]
		if f.state == inBody || f.state == inChunk {
			n := min(int64(len(rest)), f.left)
			f.left -= n
			done += int(n)
			if f.left == 0 {
				f.bodyPartEnds()
			}
			continue
		}
		end := bytes.IndexByte(rest, '\n') + 1
		part := rest
		if end > 0 {
			part = rest[:end]
		}
		if e := f.measure(part); e != nil {
			return done, e
		}
		if end == 0 {
			f.line = append(f.line, part...)
			return len(p), nil
		}
		line := part
		if len(f.line) > 0 {
			f.line = append(f.line, part...)
			line = f.line
		}
		if e := f.endLine(line); e != nil {
			return done, e
		}
		f.line = f.line[:0]
		done += end
	}
	return done, nil
}

func (f *framing) bodyPartEnds() {
	if f.state == inChunk {
		f.state = atChunkEnd
		return
	}
	f.next()
}

// next makes ready for the next request.
func (f *framing) next() {
	line := f.line[:0]
	if cap(line) > smallHeader {
		line = nil
	}
	*f = framing{line: line, limit: f.limit, later: true}
}

// measure bounds the line that part belongs to, before it is kept.
func (f *framing) measure(part []byte) *Error {
	switch f.state {
	case atRequestLine, atHeader, atTrailer:
		f.size += len(part)
		if f.size > smallHeader && f.size > f.limit() {
			return &Error{
				Code:    CodeHeaderTooLarge,
				Message: "the request line and headers are larger than " + strconv.Itoa(f.limit()) + " bytes: send fewer or shorter ones",
				close:   true,
			}
		}
		if f.state == atRequestLine && len(f.line) == 0 && !isToken(part[0]) && part[0] != '\r' {
			return ambiguous("the request line does not begin with a method")
		}
	case atChunkSize:
		if len(f.line)+len(part) > maxChunkLine {
			return ambiguous("the line of a chunk's size is too long; chunk extensions are not taken")
		}
	case atChunkEnd:
		if len(f.line)+len(part) > len("\r\n") {
			return ambiguous("a chunk is longer than its size says")
		}
	case inBody, inChunk: // not lines
	}
	return nil
}

// endLine judges a whole line, its end included.
func (f *framing) endLine(line []byte) *Error {
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return ambiguous("a line ends with a line feed alone: end each line with CR LF")
	}
	if bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0 {
		return ambiguous("a line holds a carriage return or a NUL byte")
	}
	switch f.state {
	case atRequestLine:
		return f.requestLine(text)
	case atHeader:
		if len(text) == 0 {
			return f.headerEnds()
		}
		return f.field(text)
	case atChunkSize:
		return f.chunkSize(text)
	case atChunkEnd:
		if len(text) != 0 {
			return ambiguous("a chunk is longer than its size says")
		}
		f.state = atChunkSize
	case atTrailer:
		if len(text) == 0 {
			f.next()
			return nil
		}
		return f.trailer(text)
	case inBody, inChunk: // not lines
	}
	return nil
}

// requestLine takes method, target and version, with one space between. One
// empty line is passed over behind an earlier request, which some clients send.
func (f *framing) requestLine(text []byte) *Error {
	if len(text) == 0 {
		if !f.later {
			return ambiguous("an empty line stands before the request")
		}
		f.later = false
		return nil
	}
	method, rest, _ := bytes.Cut(text, []byte(" "))
	target, version, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(method) == 0 || len(target) == 0 || bytes.IndexByte(version, ' ') >= 0 {
		return ambiguous("the request line is not method, target and version with one space between")
	}
	for _, c := range method {
		if !isToken(c) {
			return ambiguous("the method holds a character that no method has")
		}
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		f.old = true
	default:
		return ambiguous("the version is not HTTP/1.1 or HTTP/1.0")
	}
	f.authority = authorityOf(method, target)
	f.state = atHeader
	return nil
}

// authorityOf returns the host that a target names by itself, if it does.
func authorityOf(method, target []byte) string {
	if string(method) == http.MethodConnect {
		return string(target)
	}
	_, absolute, ok := bytes.Cut(target, []byte("://"))
	if !ok || target[0] == '/' {
		return ""
	}
	if end := bytes.IndexAny(absolute, "/?#"); end >= 0 {
		absolute = absolute[:end]
	}
	return string(absolute)
}

// field takes one header line.
func (f *framing) field(text []byte) *Error {
	name, value, e := splitField(text)
	if e != nil {
		return e
	}
	// By length first: most names are none of these.
	switch len(name) {
	case len("Host"):
		if strings.EqualFold(string(name), "Host") {
			f.hosts++
			if f.authority != "" {
				f.host = string(value)
			}
		}
	case len("Expect"):
		if strings.EqualFold(string(name), "Expect") && !strings.EqualFold(string(value), "100-continue") {
			return &Error{Code: CodeInvalidRequest, Status: http.StatusExpectationFailed, Message: "Expect is not 100-continue", close: true}
		}
	case len("Content-Length"):
		if strings.EqualFold(string(name), "Content-Length") {
			return f.contentLength(value)
		}
	case len("Transfer-Encoding"):
		if strings.EqualFold(string(name), "Transfer-Encoding") {
			if f.chunked || !strings.EqualFold(string(value), "chunked") {
				return ambiguous("Transfer-Encoding is not chunked, once")
			}
			f.chunked = true
		}
	}
	return nil
}

func (f *framing) contentLength(value []byte) *Error {
	f.lengths++
	if f.lengths > 1 {
		return ambiguous("there are two Content-Length headers")
	}
	if len(value) == 0 || len(value) > maxDigits {
		return ambiguous("Content-Length is not a number of bytes")
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return ambiguous("Content-Length is not a number of bytes")
		}
		f.length = f.length*10 + int64(c-'0')
	}
	return nil
}

// headerEnds decides where the body ends.
func (f *framing) headerEnds() *Error {
	switch {
	case f.hosts > 1:
		return ambiguous("there are two Host headers")
	case f.hosts == 0 && !f.old:
		return ambiguous("there is no Host header")
	case f.chunked && f.lengths > 0:
		return ambiguous("there are both Transfer-Encoding and Content-Length")
	case f.chunked && f.old:
		return ambiguous("HTTP/1.0 has no Transfer-Encoding")
	case f.authority != "" && f.hosts > 0 && !strings.EqualFold(f.authority, f.host):
		return ambiguous("the target names another host than Host does")
	case f.chunked:
		f.state = atChunkSize
	case f.length > 0:
		f.state, f.left = inBody, f.length
	default:
		f.next()
	}
	return nil
}

// chunkSize takes the hexadecimal size of a chunk, without an extension.
func (f *framing) chunkSize(text []byte) *Error {
	if len(text) == 0 {
		return ambiguous("a chunk has no size")
	}
	f.left = 0
	for _, c := range text {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 || (c < '0' || c > '9') && c < 'A' {
			return ambiguous("a chunk's size is not a hexadecimal number; chunk extensions are not taken")
		}
		f.left = f.left<<4 | int64(digit)
	}
	f.state = inChunk
	if f.left == 0 {
		f.state = atTrailer
	}
	return nil
}

// trailer takes a line behind the last chunk. Nothing there may say how a
// request is framed.
func (f *framing) trailer(text []byte) *Error {
	name, _, e := splitField(text)
	if e != nil {
		return e
	}
	for _, banned := range [...]string{"Content-Length", "Transfer-Encoding", "Host", "Authorization", "Content-Encoding", "Content-Type"} {
		if strings.EqualFold(string(name), banned) {
			return ambiguous(banned + " stands behind the body")
		}
	}
	return nil
}

// splitField splits a header line into its name and its value without the
// blanks around it.
func splitField(text []byte) (name, value []byte, e *Error) {
	if text[0] == ' ' || text[0] == '\t' {
		return nil, nil, ambiguous("a header line begins with a blank: put each header on one line")
	}
	colon := bytes.IndexByte(text, ':')
	if colon <= 0 {
		return nil, nil, ambiguous("a header line has no name")
	}
	name = text[:colon]
	for _, c := range name {
		if !isToken(c) {
			return nil, nil, ambiguous("a header's name holds a blank or another character that no name has")
		}
	}
	return name, bytes.Trim(text[colon+1:], " \t"), nil
}

// ambiguous refuses a request that could be read in two ways, or not at all.
func ambiguous(what string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "this is not a request that can be read in one way only: " + what, close: true}
}

// tokens are the characters of methods and header names.
var tokens = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

func isToken(c byte) bool { return tokens[c] }
