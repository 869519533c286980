package form

import (
	"bytes"
	"fmt"
)

// The bounds of a form, besides the size of its body.
const (
	MaxParts  = 1000
	MaxHeader = 8 << 10 // bytes of the header of one part
)

// SyntaxError says where a text is not the form that it should be.
type SyntaxError struct {
	Offset int // bytes from the beginning of the text
	Msg    string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

// Part is one part of a form.
type Part struct {
	// Name is the field's name as it stands in the form: nothing is decoded.
	Name string
	// File says that the part has a file name.
	File bool
	// Encoded says that the part claims to be in a transfer encoding, so that its
	// bytes are not its value.
	Encoded bool
	// The value is body[Start:End].
	Start, End int
	// body[From:To] is the part with the delimiter in front of it: the form
	// without these bytes is the form without the part.
	From, To int
}

// Walk calls visit for each part of the form that body is, in order. An error
// of visit ends the walk and is returned as it is; otherwise the error is a
// *SyntaxError. Parts before the error were visited. A name may come more than
// once, and there is at least one part.
func Walk(body []byte, boundary string, visit func(Part) error) error {
	w := walker{body: body, line: []byte("\n--" + boundary)}
	w.delimiter = w.line[1:]
	at, err := w.first()
	for n := 0; err == nil; n++ {
		if n == MaxParts {
			return w.fail(at, "the form has more than %d parts", MaxParts)
		}
		var part Part
		var last bool
		if part, last, err = w.part(at); err != nil {
			return err
		}
		if err = visit(part); err != nil {
			return err
		}
		if at = part.To; last {
			return w.end(at)
		}
	}
	return err
}

type walker struct {
	body      []byte
	line      []byte // a line feed and the delimiter
	delimiter []byte // without the line break in front
}

func (w *walker) fail(offset int, format string, args ...any) error {
	return &SyntaxError{Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// first returns where the delimiter of the first part begins.
func (w *walker) first() (int, error) {
	at := 0
	if bytes.HasPrefix(w.body, crlf) {
		at = len(crlf)
	}
	if len(w.body) == 0 {
		return 0, w.fail(0, "the form is empty")
	}
	if !bytes.HasPrefix(w.body[at:], w.delimiter) {
		return 0, w.fail(at, "the form does not begin with the boundary of its content type")
	}
	// Nobody writes a lone CR in front of a boundary, and somebody might read it
	// as the end of a line.
	if i := bytes.Index(w.body, append([]byte{'\r'}, w.delimiter...)); i >= 0 {
		return 0, w.fail(i, wrongBreak)
	}
	return at, nil
}

const wrongBreak = "a boundary stands behind a line break that is not CR LF"

var (
	crlf  = []byte("\r\n")
	blank = []byte("\r\n\r\n")
)

// part reads the part whose delimiter begins at an offset. last says that the
// delimiter behind it closes the form.
func (w *walker) part(at int) (p Part, last bool, err error) {
	head, closing, err := w.behind(at)
	switch {
	case err != nil:
		return Part{}, false, err
	case closing:
		return Part{}, false, w.fail(at, "the form has no parts")
	}
	// The line break before the first line makes an empty header end like any.
	size := bytes.Index(w.body[head-len(crlf):min(head+MaxHeader+len(blank), len(w.body))], blank)
	if size < 0 {
		if len(w.body)-head <= MaxHeader {
			return Part{}, false, w.fail(len(w.body), "the form ends inside a part's header")
		}
		return Part{}, false, w.fail(head, "a part's header is larger than %d bytes", MaxHeader)
	}
	header := w.body[head : head-len(crlf)+size+len(crlf)]
	p = Part{From: at, Start: head - len(crlf) + size + len(blank)}
	if err := w.header(&p, head, header); err != nil {
		return Part{}, false, err
	}
	if p.To, err = w.next(p.Start); err != nil {
		return Part{}, false, err
	}
	p.End = p.To - len(crlf)
	_, last, err = w.behind(p.To)
	return p, last, err
}

// behind returns the offset of the line that follows the delimiter at an
// offset, or says that the delimiter is the closing one.
func (w *walker) behind(at int) (line int, closing bool, err error) {
	i := at + len(w.delimiter)
	if bytes.HasPrefix(w.body[i:], []byte("--")) {
		return i + len("--"), true, nil
	}
	for i < len(w.body) && (w.body[i] == ' ' || w.body[i] == '\t') {
		i++
	}
	switch rest := w.body[i:]; {
	case bytes.HasPrefix(rest, crlf):
		return i + len(crlf), false, nil
	case bytes.HasPrefix(rest, []byte("\n")):
		return 0, false, w.fail(i, "a line break that is not CR LF stands behind a boundary")
	case len(rest) < len(crlf):
		return 0, false, w.fail(len(w.body), "the form ends too early")
	}
	return 0, false, w.fail(at, "a line begins with the boundary and goes on with something else")
}

// next returns the offset of the delimiter that ends a value which begins at an
// offset.
func (w *walker) next(start int) (int, error) {
	i := bytes.Index(w.body[start-1:], w.line) // behind the line feed that ends the header
	at := start + i
	switch {
	case i < 0:
		return 0, w.fail(len(w.body), "the form ends without its closing boundary")
	case at == start:
		return 0, w.fail(at, "a part has a header and no value")
	case !bytes.HasSuffix(w.body[start:at], crlf):
		return 0, w.fail(at, wrongBreak)
	}
	return at, nil
}

// end checks what follows the delimiter at an offset, which closes the form.
func (w *walker) end(at int) error {
	i := at + len(w.delimiter) + len("--")
	for _, b := range w.body[i:] {
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return w.fail(i, "text follows the closing boundary")
		}
	}
	return nil
}
