package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Bounds of a message.
const (
	lineLimit   = 32 << 10
	headerLimit = 1000
	bodyLimit   = 64 << 20
)

// lengthUnknown is the length of a body that neither says its length nor comes
// in frames.
const lengthUnknown = -1

// ErrMalformed says that a message is not HTTP/1.1 as the benchmark speaks it.
var ErrMalformed = errors.New("malformed HTTP message")

// Head is what stands before a body.
type Head struct {
	Start  []byte // the first line, without its end; valid until the next head is read
	Close  bool   // the connection ends after this message
	Expect bool   // the client waits for 100 Continue

	length  int64
	chunked bool
}

// Status returns the status of a response's head.
func (h *Head) Status() (int, error) {
	const from, to = len("HTTP/1.1 "), len("HTTP/1.1 200")
	if len(h.Start) < to || !bytes.HasPrefix(h.Start, []byte("HTTP/1.")) {
		return 0, fmt.Errorf("%w: status line %.40q", ErrMalformed, h.Start)
	}
	status, err := strconv.Atoi(string(h.Start[from:to]))
	if err != nil {
		return 0, fmt.Errorf("%w: status line %.40q", ErrMalformed, h.Start)
	}
	return status, nil
}

// Target returns method and path of a request's head.
func (h *Head) Target() (method, path []byte, err error) {
	method, rest, ok := bytes.Cut(h.Start, []byte(" "))
	path, version, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return nil, nil, fmt.Errorf("%w: request line %.40q", ErrMalformed, h.Start)
	}
	return method, path, nil
}

// Body is a body that was read. Its memory is used again when the next is read
// into it.
type Body struct {
	Bytes  []byte
	First  time.Time // when its first byte was there
	Frames int       // chunks of the chunked coding that held it; else 1
}

// Reader reads the messages of one connection. It is for one goroutine.
type Reader struct {
	buf   *bufio.Reader
	start []byte
}

// NewReader returns a reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{buf: bufio.NewReaderSize(r, lineLimit)} }

// Reset lets the reader go on with another connection.
func (r *Reader) Reset(c io.Reader) { r.buf.Reset(c) }

// line returns the next line without its end, valid until the next read.
func (r *Reader) line() ([]byte, error) {
	line, err := r.buf.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("%w: a line is longer than %d bytes", ErrMalformed, lineLimit)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// ReadHead reads a head. It returns io.EOF when the connection has ended before
// the head's first byte.
func (r *Reader) ReadHead(h *Head) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	r.start = append(r.start[:0], line...)
	*h = Head{Start: r.start, length: lengthUnknown}
	for range headerLimit {
		line, err := r.line()
		if err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			return nil
		}
		if err := h.field(line); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: more than %d header fields", ErrMalformed, headerLimit)
}

var (
	nameLength     = []byte("Content-Length")
	nameCoding     = []byte("Transfer-Encoding")
	nameConnection = []byte("Connection")
	nameExpect     = []byte("Expect")
)

// field takes over what a header field says of the message's form.
func (h *Head) field(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return fmt.Errorf("%w: header line %.40q", ErrMalformed, line)
	}
	// Nearly all fields are none of these, and differ in length.
	switch len(name) {
	case len(nameLength):
		if bytes.EqualFold(name, nameLength) {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil || n < 0 || n > bodyLimit {
				return fmt.Errorf("%w: Content-Length %.40q", ErrMalformed, value)
			}
			h.length = n
		}
	case len(nameCoding):
		if bytes.EqualFold(name, nameCoding) {
			if !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return fmt.Errorf("%w: Transfer-Encoding %.40q", ErrMalformed, value)
			}
			h.chunked = true
		}
	case len(nameConnection):
		if bytes.EqualFold(name, nameConnection) {
			h.Close = bytes.EqualFold(bytes.TrimSpace(value), []byte("close"))
		}
	case len(nameExpect):
		h.Expect = h.Expect || bytes.EqualFold(name, nameExpect)
	}
	return nil
}

// ReadRequestBody reads the body that belongs to a request's head into b.
func (r *Reader) ReadRequestBody(h *Head, b *Body) error {
	if !h.chunked && h.length == lengthUnknown {
		b.reset()
		return nil // a request that says nothing has none
	}
	return r.readBody(h, b)
}

// ReadResponseBody reads the body that belongs to a response's head into b. A
// body that ends with its connection sets the head's Close.
func (r *Reader) ReadResponseBody(h *Head, b *Body) error { return r.readBody(h, b) }

func (b *Body) reset() { *b = Body{Bytes: b.Bytes[:0]} }

func (r *Reader) readBody(h *Head, b *Body) error {
	b.reset()
	switch {
	case h.chunked:
		return unexpected(r.readChunks(b))
	case h.length == lengthUnknown:
		h.Close = true
		return r.readRest(b)
	case h.length == 0:
		b.First = time.Now()
		return nil
	}
	if _, err := r.buf.Peek(1); err != nil {
		return unexpected(err)
	}
	b.First, b.Frames = time.Now(), 1
	return unexpected(r.take(b, int(h.length)))
}

// readChunks reads a body in the chunked coding, and the trailer.
func (r *Reader) readChunks(b *Body) error {
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		if b.First.IsZero() {
			b.First = time.Now()
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 32)
		if err != nil || int64(size)+int64(len(b.Bytes)) > bodyLimit {
			return fmt.Errorf("%w: chunk size %.40q", ErrMalformed, line)
		}
		if size == 0 {
			return r.trailer()
		}
		b.Frames++
		if err := r.take(b, int(size)); err != nil {
			return err
		}
		if line, err = r.line(); err != nil {
			return err
		}
		if len(line) != 0 {
			return fmt.Errorf("%w: a chunk is longer than its size", ErrMalformed)
		}
	}
}

// trailer skips what may follow the last chunk.
func (r *Reader) trailer() error {
	for range headerLimit {
		line, err := r.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: more than %d trailer fields", ErrMalformed, headerLimit)
}

// readRest reads a body up to the connection's end.
func (r *Reader) readRest(b *Body) error {
	if _, err := r.buf.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	b.First, b.Frames = time.Now(), 1
	rest, err := io.ReadAll(io.LimitReader(r.buf, bodyLimit+1))
	b.Bytes = append(b.Bytes, rest...)
	if err == nil && len(rest) > bodyLimit {
		err = fmt.Errorf("%w: body is longer than %d bytes", ErrMalformed, bodyLimit)
	}
	return err
}

// take appends n bytes of the connection to b.
func (r *Reader) take(b *Body, n int) error {
	at := len(b.Bytes)
	b.Bytes = slices.Grow(b.Bytes, n)[:at+n]
	_, err := io.ReadFull(r.buf, b.Bytes[at:])
	return err
}

// unexpected makes the end of a connection inside a message an error of its own.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
