package scan

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values. KindInvalid stands for the end of the text and for a
// byte that begins no value.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String returns the kind as a person would name it: "a string", "null".
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindBool:
		return "true or false"
	case KindNumber:
		return "a number"
	case KindString:
		return "a string"
	case KindArray:
		return "an array"
	case KindObject:
		return "an object"
	case KindInvalid:
	}
	return "no value"
}

// Cursor walks over one JSON text. At any time one value may be due: the whole
// text at the beginning, then the one that [Cursor.Member] or [Cursor.Element]
// announced. It is taken by one of Enter, Text, Raw and Skip; one that nobody
// takes is skipped. So a loop names only what it wants:
//
//	c := scan.NewCursor(body, 128)
//	if c.EnterObject() {
//		for c.Member() {
//			if string(c.Key()) == "model" {
//				model = c.Raw()
//			}
//		}
//	}
//	err := c.Close()
//
// A loop must run until Member or Element reports false, which it does at the
// end of the container and after an error. The first error sticks, and what
// was read before it stays valid. A Cursor is not safe for concurrent use, and
// its text must not change while it is in use.
type Cursor struct {
	data  []byte
	pos   int
	depth int
	max   int
	err   error
	first bool // a container was just entered: no comma is due
	due   bool // a value is due

	keyStart int
	key      []byte
	scratch  []byte // for keys with escapes
	decoded  int    // decoded length of the last string
	strings  int64
}

// NewCursor returns a Cursor at the beginning of data that accepts arrays and
// objects nested up to maxDepth levels.
func NewCursor(data []byte, maxDepth int) Cursor {
	return Cursor{data: data, max: maxDepth, due: true}
}

// Sub returns a Cursor for the one value in data[start:end], with offsets that
// count from the beginning of the whole text.
func (c *Cursor) Sub(start, end int) Cursor {
	return Cursor{data: c.data[:end], pos: start, max: c.max, due: true}
}

// On returns the cursor as if it had walked over data to where it is. The bytes of
// data up to [Cursor.Pos] must be those that it has walked over.
func (c *Cursor) On(data []byte) Cursor {
	on := *c
	on.data, on.key, on.scratch = data, nil, nil
	return on
}

// Err returns the first error: *SyntaxError, *DepthError or nil.
func (c *Cursor) Err() error { return c.err }

// Close ends the walk: it skips what is due and returns the first error, which
// may be that something other than white space follows the value.
func (c *Cursor) Close() error {
	if c.due {
		c.Skip()
	}
	if c.err == nil {
		if c.pos = c.space(c.pos); c.pos < len(c.data) {
			c.fail(c.pos, "text after the end of the value")
		}
	}
	return c.err
}

// Pos returns the offset of the next byte: the beginning of the value that is
// due once Kind was called, the end of a value that was just taken.
func (c *Cursor) Pos() int { return c.pos }

// StringBytes returns how many bytes of text all strings passed so far hold,
// keys included, once their escapes are decoded.
func (c *Cursor) StringBytes() int64 { return c.strings }

// Kind returns the kind of the value that is due, judged by its first byte.
func (c *Cursor) Kind() Kind {
	if c.err != nil || !c.due {
		return KindInvalid
	}
	c.pos = c.space(c.pos)
	if c.pos == len(c.data) {
		return KindInvalid
	}
	switch b := c.data[c.pos]; {
	case b == '"':
		return KindString
	case b == '{':
		return KindObject
	case b == '[':
		return KindArray
	case b == 't' || b == 'f':
		return KindBool
	case b == 'n':
		return KindNull
	case b == '-' || b-'0' <= 9:
		return KindNumber
	}
	return KindInvalid
}

// EnterObject enters the value that is due if it is an object; otherwise it
// reports false and the value stays due.
func (c *Cursor) EnterObject() bool { return c.Kind() == KindObject && c.enter() }

// EnterArray enters the value that is due if it is an array; otherwise it
// reports false and the value stays due.
func (c *Cursor) EnterArray() bool { return c.Kind() == KindArray && c.enter() }

func (c *Cursor) enter() bool {
	if c.depth >= c.max {
		c.tooDeep()
		return false
	}
	c.depth++
	c.pos++
	c.first, c.due = true, false
	return true
}

// Member moves to the next member of the object that the cursor is in: Key
// tells its name and its value is due. It reports false at the end of the
// object, which it leaves, and after an error.
func (c *Cursor) Member() bool {
	if !c.next('}') {
		return false
	}
	if c.data[c.pos] != '"' {
		c.fail(c.pos, "a key is missing")
		return false
	}
	c.keyStart = c.pos
	end := c.skipString(c.pos)
	if end < 0 {
		return false
	}
	c.key = c.data[c.keyStart+1 : end-1]
	if len(c.key) != c.decoded {
		c.scratch = AppendText(c.scratch[:0], c.key)
		c.key = c.scratch
	}
	i := c.space(end)
	if i == len(c.data) || c.data[i] != ':' {
		c.fail(i, "a colon is missing after a key")
		return false
	}
	c.pos, c.due = i+1, true
	return true
}

// Element moves to the next element of the array that the cursor is in, which
// is then due. It reports false at the end of the array, which it leaves, and
// after an error.
func (c *Cursor) Element() bool {
	if !c.next(']') {
		return false
	}
	c.due = true
	return true
}

// next moves to what follows in a container, past the comma, or behind the
// container's end.
func (c *Cursor) next(closer byte) bool {
	if c.due {
		c.Skip()
	}
	if c.err != nil {
		return false
	}
	i := c.space(c.pos)
	if i < len(c.data) && c.data[i] == closer {
		c.pos, c.first = i+1, false
		c.depth--
		return false
	}
	if !c.first {
		if i == len(c.data) || c.data[i] != ',' {
			c.fail(i, "a comma is missing")
			return false
		}
		i = c.space(i + 1)
	}
	if i == len(c.data) {
		c.fail(i, "the text ends too early")
		return false
	}
	c.pos, c.first = i, false
	return true
}

// Key returns the name of the member at hand with its escapes decoded (a lone
// surrogate becomes U+FFFD). It is valid until the next call of Member.
func (c *Cursor) Key() []byte { return c.key }

// KeyStart returns the offset of the quote that begins the key at hand.
func (c *Cursor) KeyStart() int { return c.keyStart }

// Skip takes the value that is due, whatever it is, and returns the place of
// its text. After an error it returns two equal offsets.
func (c *Cursor) Skip() (start, end int) {
	if c.Kind() == KindInvalid {
		if c.err == nil {
			c.fail(c.pos, "a value is missing")
		}
		return c.pos, c.pos
	}
	start = c.pos
	end = c.skipValue(start, c.depth)
	if end < 0 {
		return start, start
	}
	c.pos, c.due = end, false
	return start, end
}

// Raw takes the value that is due and returns its text; it is empty after an
// error.
func (c *Cursor) Raw() []byte {
	start, end := c.Skip()
	return c.data[start:end]
}

// Text takes the value that is due if it is a string and returns the raw bytes
// between its quotes and the length that they have once decoded, which is
// smaller if the string holds escapes. Otherwise it reports false and the
// value stays due.
func (c *Cursor) Text() (raw []byte, decoded int, ok bool) {
	if c.Kind() != KindString {
		return nil, 0, false
	}
	start := c.pos
	end := c.skipString(start)
	if end < 0 {
		return nil, 0, false
	}
	c.pos, c.due = end, false
	return c.data[start+1 : end-1], c.decoded, true
}

// Bool takes the value that is due if it is true or false. Otherwise it
// reports false and the value stays due.
func (c *Cursor) Bool() (value, ok bool) {
	if c.Kind() != KindBool {
		return false, false
	}
	raw := c.Raw()
	return len(raw) == len("true"), len(raw) > 0
}

// Null takes the value that is due if it is null. Otherwise it reports false
// and the value stays due.
func (c *Cursor) Null() bool { return c.Kind() == KindNull && len(c.Raw()) > 0 }

func (c *Cursor) fail(offset int, msg string) {
	if c.err == nil {
		if offset >= len(c.data) {
			msg = "the text ends too early"
		}
		c.err = &SyntaxError{Offset: offset, Msg: msg}
	}
	c.due = false
}

func (c *Cursor) tooDeep() {
	if c.err == nil {
		c.err = &DepthError{Limit: c.max}
	}
	c.due = false
}

// Fail ends the walk with a SyntaxError at the value that is due: the caller
// wants a value of another kind.
func (c *Cursor) Fail(msg string) {
	c.Kind()
	c.fail(c.pos, msg)
}
