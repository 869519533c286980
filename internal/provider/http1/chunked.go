package http1

import (
	"bytes"
	"fmt"
	"io"
)

// Bounds of the chunked coding, beside its data.
const (
	maxSizeLine  = 4 << 10  // bytes of a line with a size
	maxTrailer   = 8 << 10  // bytes of the trailer
	chunkGrant   = 16       // bytes beside the data that each chunk may have
	maxExcess    = 16 << 10 // bytes beyond that, and beyond twice the data
	maxChunkSize = 1 << 62
	maxDigits    = 16
)

// place is what comes next in the chunked coding.
type place uint8

const (
	placeSize    place = iota
	placeData          // while some is left
	placeDataEnd       // the line end behind it
	placeTrailer
)

// readChunks reads data from as many chunks as are here. It waits only as long
// as it has none.
func (x *exchange) readChunks(p []byte) (n int, err error) {
	b := &x.body
	for n < len(p) {
		if b.place == placeData {
			if n > 0 && x.in.empty() {
				return n, nil
			}
			m, err := x.some(p[n:])
			n += m
			if err != nil {
				return n, cut(err)
			}
			if b.left == 0 {
				b.place = placeDataEnd
			}
			continue
		}
		line, err := x.chunkLine(n == 0)
		if err == nil && line == nil {
			return n, nil
		}
		if err == nil {
			err = x.chunkStep(line)
		}
		if err != nil {
			return n, err
		}
	}
	// The end may be here too: seeing it now lets the connection go.
	return n, x.chunkEnd()
}

// chunkEnd takes in what follows the data if it is here. It returns io.EOF at
// the end of the body.
func (x *exchange) chunkEnd() error {
	for x.body.place != placeData {
		line, err := x.chunkLine(false)
		if err != nil || line == nil {
			return err
		}
		if err := x.chunkStep(line); err != nil {
			return err
		}
	}
	return nil
}

// chunkLine returns the next line, with its end; nil = it is not here, and wait
// is false.
func (x *exchange) chunkLine(wait bool) ([]byte, error) {
	limit := maxSizeLine
	switch x.body.place {
	case placeDataEnd:
		limit = len("\r\n")
	case placeTrailer:
		limit = maxTrailer - x.body.trail
	case placeSize, placeData:
	}
	for {
		held := x.in.held()
		if i := bytes.IndexByte(held[:min(len(held), limit)], '\n'); i >= 0 {
			x.in.r += i + 1
			return held[:i+1], nil
		}
		switch {
		case len(held) >= limit:
			return nil, fmt.Errorf("%w: the chunked coding holds too much that is no data, or no line end where one belongs", ErrMalformed)
		case x.body.here:
			return nil, errNotHere
		case !wait:
			return nil, nil
		}
		if err := x.in.fill(x.conn.in); err != nil {
			return nil, cut(err)
		}
	}
}

// chunkStep takes in a line that stands before, between or behind the data. It
// returns io.EOF after the last.
func (x *exchange) chunkStep(line []byte) error {
	b := &x.body
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.IndexByte(text, '\r') >= 0 {
		return fmt.Errorf("%w: a line of the chunked coding does not end in CR LF", ErrMalformed)
	}
	switch b.place {
	case placeSize:
		return x.chunkSize(text)
	case placeDataEnd:
		if len(text) > 0 {
			return fmt.Errorf("%w: a chunk is longer than its size", ErrMalformed)
		}
		b.place = placeSize
	case placeTrailer:
		if len(text) == 0 {
			return io.EOF
		}
		b.trail += len(line)
		_, _, err := cutField(text)
		return err
	case placeData:
	}
	return nil
}

// chunkSize takes in the line with a chunk's size.
func (x *exchange) chunkSize(text []byte) error {
	b := &x.body
	b.excess += int64(len(text)) + int64(len("\r\n"))
	digits, _, _ := bytes.Cut(bytes.TrimRight(text, " \t"), []byte{';'})
	if len(digits) == 0 || len(digits) > maxDigits {
		return fmt.Errorf("%w: a chunk without a size, or with one that is too long", ErrMalformed)
	}
	size := uint64(0)
	for _, c := range digits {
		d := hexDigit(c)
		if d > 0xf || size >= maxChunkSize>>4 {
			return fmt.Errorf("%w: the size of a chunk is no number", ErrMalformed)
		}
		size = size<<4 | uint64(d)
	}
	b.excess = max(b.excess-chunkGrant-2*int64(size), 0)
	if b.excess > maxExcess {
		return fmt.Errorf("%w: the chunked coding holds too much that is no data", ErrMalformed)
	}
	b.left, b.place = size, placeData
	if size == 0 {
		b.place = placeTrailer
	}
	return nil
}

// hexDigit returns the value of a hexadecimal digit; of anything else more.
func hexDigit(c byte) uint8 {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}
