package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

// readHead reads the head of the answer, after any informational ones.
func (x *exchange) readHead(method string) error {
	left := x.origin.options.MaxHead
	for {
		size, err := x.wholeHead(left)
		if err != nil {
			return err
		}
		h := head{fields: make([]field, 0, usualFields), limit: x.origin.options.MaxFields}
		size, err = h.parse(x.in.held()[:size])
		if err != nil {
			return err
		}
		left -= size
		text := string(x.in.held()[:size])
		x.in.r += size
		if h.status >= http.StatusOK || h.status == http.StatusSwitchingProtocols {
			return x.accept(&h, text, method)
		}
	}
}

// usualFields is how many fields most answers have at most.
const usualFields = 32

// wholeHead reads until a whole head is held, and returns where it ends at the
// latest.
func (x *exchange) wholeHead(limit int) (int, error) {
	seen := 0
	for {
		held := x.in.held()
		if n := headEnd(held, max(seen-len("\r\n\r"), 0)); n >= 0 && n <= limit {
			return n, nil
		}
		if seen = len(held); seen >= limit {
			return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, x.origin.options.MaxHead)
		}
		if err := x.in.fill(x.conn.in); err != nil {
			return 0, cut(err)
		}
	}
}

var (
	usualEnd = []byte("\r\n\r\n")
	bareEnd  = []byte("\n\n")
	mixedEnd = []byte("\n\r\n")
)

// headEnd returns where an empty line ends at or behind from; -1 = there is
// none. There may be another before it, of the kinds that are rare.
func headEnd(b []byte, from int) int {
	for _, end := range [...][]byte{usualEnd, bareEnd, mixedEnd} {
		if i := bytes.Index(b[from:], end); i >= 0 {
			return from + i + len(end)
		}
	}
	return -1
}

// cut makes the end of a connection within an answer an error of its own.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// head is what stands before a body.
type head struct {
	minor  int // of the version
	status int
	reason span // of the status line: from the status on
	fields []field
	limit  int // of fields

	length  int64 // -1 = it is not said
	chunked bool
	close   bool // said by a field
	keep    bool
}

// span is a part of a text.
type span struct{ from, to int }

func (s span) behind(n int) span { return span{s.from + n, s.to + n} }

// field is a line of the head: name, which is canonical, and value.
type field struct{ name, value span }

// parse reads a head that is whole, and brings its names into their canonical
// form. It returns where the head ends.
func (h *head) parse(b []byte) (int, error) {
	h.length = -1
	at := 0
	line, at := nextLine(b, at)
	if err := h.statusLine(line); err != nil {
		return 0, err
	}
	for {
		start := at
		line, at = nextLine(b, at)
		if len(line) == 0 {
			return at, h.consistent()
		}
		if len(h.fields) == h.limit {
			return 0, fmt.Errorf("%w: more than %d fields", ErrTooLarge, h.limit)
		}
		name, value, err := cutField(line)
		if err != nil {
			return 0, err
		}
		if err := h.take(line[:name.to], line[value.from:value.to]); err != nil {
			return 0, err
		}
		h.fields = append(h.fields, field{name.behind(start), value.behind(start)})
	}
}

// nextLine returns the line that begins at an index, without its end, and the
// index behind that. There is one: the head is whole.
func nextLine(b []byte, at int) ([]byte, int) {
	n := bytes.IndexByte(b[at:], '\n')
	line := b[at : at+n]
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, at + n + 1
}

// statusLine reads the first line.
func (h *head) statusLine(line []byte) error {
	const version = "HTTP/1.x"
	if len(line) < len(version)+len(" 200") || string(line[:len(version)-1]) != version[:len(version)-1] ||
		!isDigit(line[len(version)-1]) || line[len(version)] != ' ' {
		return fmt.Errorf("%w: it does not begin with HTTP/1.1 and a status", ErrMalformed)
	}
	h.minor = int(line[len(version)-1] - '0')
	status := bytes.TrimLeft(line[len(version):], " ")
	if len(status) < 3 || !isDigit(status[0]) || !isDigit(status[1]) || !isDigit(status[2]) ||
		status[0] == '0' || len(status) > 3 && status[3] != ' ' || !isValue(status) {
		return fmt.Errorf("%w: the status is no number of three digits", ErrMalformed)
	}
	h.reason = span{len(line) - len(status), len(line)}
	h.status = int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0')
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutField finds the name in a line, which it makes canonical, and the value.
func cutField(line []byte) (name, value span, err error) {
	i := bytes.IndexByte(line, ':')
	switch {
	case isBlank(line[0]):
		return name, value, fmt.Errorf("%w: a folded line", ErrMalformed)
	case i < 0:
		return name, value, fmt.Errorf("%w: a field without a colon", ErrMalformed)
	case !canonical(line[:i]):
		return name, value, fmt.Errorf("%w: the name of a field holds what it must not", ErrMalformed)
	}
	value = span{i + 1, len(line)}
	for value.from < value.to && isBlank(line[value.from]) {
		value.from++
	}
	for value.from < value.to && isBlank(line[value.to-1]) {
		value.to--
	}
	if !isValue(line[value.from:value.to]) {
		return name, value, fmt.Errorf("%w: the value of a field holds a control character", ErrMalformed)
	}
	return span{0, i}, value, nil
}

// take takes over what a field says of the answer's form.
func (h *head) take(name, value []byte) error {
	// Most fields are told apart from these by their length.
	switch len(name) {
	case len("Content-Length"):
		if string(name) == "Content-Length" {
			return h.takeLength(value)
		}
	case len("Transfer-Encoding"):
		if string(name) != "Transfer-Encoding" {
			return nil
		}
		if h.chunked || !bytes.EqualFold(value, []byte("chunked")) {
			return fmt.Errorf("%w: a transfer coding other than chunked", ErrMalformed)
		}
		h.chunked = true
	case len("Connection"):
		if string(name) != "Connection" {
			return nil
		}
		for list := value; len(list) > 0; {
			var item []byte
			item, list = cutItem(list)
			h.close = h.close || bytes.EqualFold(item, []byte("close"))
			h.keep = h.keep || bytes.EqualFold(item, []byte("keep-alive"))
		}
	}
	return nil
}

func (h *head) takeLength(value []byte) error {
	n := int64(0)
	for _, c := range value {
		if !isDigit(c) || n > (math.MaxInt64-9)/10 {
			return fmt.Errorf("%w: the length is no number", ErrMalformed)
		}
		n = n*10 + int64(c-'0')
	}
	if len(value) == 0 || h.length >= 0 && h.length != n {
		return fmt.Errorf("%w: the length is said twice, or not at all", ErrMalformed)
	}
	h.length = n
	return nil
}

// consistent refuses a head that two readers could read in two ways.
func (h *head) consistent() error {
	switch {
	case h.chunked && h.length >= 0:
		return fmt.Errorf("%w: both a length and the chunked coding", ErrMalformed)
	case h.chunked && h.minor == 0:
		return fmt.Errorf("%w: the chunked coding in HTTP/1.0", ErrMalformed)
	}
	return nil
}

// hop reports whether a field belongs to the connection, and is not handed on.
func hop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// header returns the fields of a head, whose text is given.
func (h *head) header(text string) http.Header {
	out := make(http.Header, len(h.fields))
	values := make([]string, 0, len(h.fields)) // one memory for all
	for i := range h.fields {
		f := &h.fields[i]
		name := text[f.name.from:f.name.to]
		if hop(name) {
			continue
		}
		value := text[f.value.from:f.value.to]
		switch have := out[name]; {
		case have == nil:
			values = append(values, value)
			out[name] = values[len(values)-1 : len(values) : len(values)]
		case name != "Content-Length": // the same once more
			out[name] = append(have, value)
		}
	}
	return out
}

var chunkedCoding = []string{"chunked"}

// accept makes the answer of its head, and says how its body is read.
func (x *exchange) accept(h *head, text, method string) error {
	a := &x.answer
	a.Status, a.StatusCode = text[h.reason.from:h.reason.to], h.status
	a.Proto, a.ProtoMajor, a.ProtoMinor = text[:len("HTTP/1.1")], 1, h.minor
	a.Header = h.header(text)
	x.closes = x.closes || h.close || h.minor == 0 && !h.keep
	if h.chunked {
		a.TransferEncoding = chunkedCoding
	}
	switch bodyless := h.status < http.StatusOK || h.status == http.StatusNoContent || h.status == http.StatusNotModified; {
	case method == http.MethodHead:
		a.ContentLength = h.length
	case bodyless:
		// What says otherwise may send one all the same.
		x.closes = x.closes || h.status < http.StatusOK || h.chunked || h.length > 0 && h.status != http.StatusNotModified
	case h.chunked:
		a.ContentLength = -1
		x.body.kind = bodyChunked
	case h.length > 0:
		a.ContentLength = h.length
		x.body.kind, x.body.left = bodySized, uint64(h.length)
	case h.length < 0:
		a.ContentLength = -1
		x.body.kind, x.closes = bodyRest, true
	}
	a.Close = x.closes
	return nil
}
