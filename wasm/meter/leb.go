package meter

// reader walks the bytes of a module. The first fault sticks: from then on
// every read gives zero and stands still, so a caller may read on and ask once.
type reader struct {
	b     []byte // the module, cut at the end of what may be read
	at    int    // offset in the module of the next byte
	fault *Error
}

func (r *reader) fail(what string) { r.failAt(r.at, what) }

func (r *reader) failAt(offset int, what string) {
	if r.fault == nil {
		r.fault = &Error{Offset: offset, What: what}
	}
}

func (r *reader) ok() bool { return r.fault == nil }

// more reports whether there is something left to read.
func (r *reader) more() bool { return r.fault == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if !r.more() {
		r.fail("the module ends too early")
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// take returns the next n bytes, a view into the module.
func (r *reader) take(n uint32) []byte {
	if r.fault != nil || int64(n) > int64(len(r.b)-r.at) {
		r.fail("the module ends too early")
		return nil
	}
	b := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

// part returns a reader for the next n bytes and steps over them.
func (r *reader) part(n uint32) *reader {
	start := r.at
	r.take(n)
	return &reader{b: r.b[:r.at], at: start, fault: r.fault}
}

func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail("a number is longer than 5 bytes")
	return 0
}

// skip steps over one number of up to n bytes.
func (r *reader) skip(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("a number is too long")
}

// appendUnsigned writes a number that is not negative.
func appendUnsigned[N int | uint32](b []byte, v N) []byte {
	for v >= 0x80 {
		b = append(b, byte(v&0x7f)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendSized writes bytes with their length in front.
func appendSized[B []byte | string](b []byte, content B) []byte {
	return append(appendUnsigned(b, len(content)), content...)
}

func appendSigned(b []byte, v int64) []byte {
	for v < -0x40 || v >= 0x40 {
		b = append(b, byte(v&0x7f)|0x80)
		v >>= 7
	}
	return append(b, byte(v&0x7f))
}
