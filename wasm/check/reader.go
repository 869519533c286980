package check

import "unicode/utf8"

// reader walks the bytes of one section. The first fault sticks: from then on
// every read gives zero and stands still, so that code may read on and ask once
// whether all went well. It never allocates and never believes a count.
type reader struct {
	b  []byte // the module, cut at the end of what may be read
	at int    // offset in the module of the next byte

	failed bool
	what   string // the fault; "" if it has been reported already
	fix    string
	where  int
}

// fail ends the reading with a fault at an offset.
func (r *reader) fail(at int, what, fix string) {
	if !r.failed {
		r.failed, r.where, r.what, r.fix = true, at, what, fix
	}
}

// stop ends the reading because of something that is reported elsewhere.
func (r *reader) stop() { r.fail(r.at, "", "") }

func (r *reader) short() {
	r.fail(r.at, "ends in the middle of an entry", fixBroken)
}

// left is how many bytes there are still to read.
func (r *reader) left() int {
	if r.failed {
		return 0
	}
	return len(r.b) - r.at
}

func (r *reader) byte() byte {
	if r.left() == 0 {
		r.short()
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// take returns the next n bytes, a view into the module.
func (r *reader) take(n uint32) []byte {
	if int64(n) > int64(r.left()) {
		r.short()
		return nil
	}
	b := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

// rest returns all that is left.
func (r *reader) rest() []byte {
	b := r.b[len(r.b)-r.left():]
	r.at += len(b)
	return b
}

// part returns a reader for the next n bytes and steps over them.
func (r *reader) part(n uint32) reader {
	start := r.at
	r.take(n)
	return reader{b: r.b[:r.at], at: start, failed: r.failed}
}

// u32 reads an unsigned number of 32 bits.
func (r *reader) u32() uint32 {
	start := r.at
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail(start, "a number does not fit into 32 bits", fixBroken)
	return 0
}

// signed reads a signed number of up to 64 bits.
func (r *reader) signed(bits int) int64 {
	start := r.at
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		if over := bits - shift; over < 7 {
			// What lies beyond the number repeats its sign.
			if beyond := c & 0x7f >> (over - 1); c >= 0x80 || (beyond != 0 && beyond != 0x7f>>(over-1)) {
				break
			}
		}
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if s := shift + 7; s < 64 && c&0x40 != 0 {
				v |= -1 << s
			}
			return v
		}
	}
	r.fail(start, "a number is too long", fixBroken)
	return 0
}

// name reads a text. It is a view into the module.
func (r *reader) name() []byte {
	start := r.at
	b := r.take(r.u32())
	if !utf8.Valid(b) {
		r.fail(start, "a name is not UTF-8", fixBroken)
		return nil
	}
	return b
}
