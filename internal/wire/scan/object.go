package scan

// Member is one member of an object.
type Member struct {
	// Key is the member's name with its escapes decoded. It is valid until
	// the callback that received it returns.
	Key []byte
	// Index counts the members from 0.
	Index int
	// KeyStart is the offset of the quote that begins the key; the value is
	// body[Start:End].
	KeyStart, Start, End int
}

// Object calls visit for each member of the object that body is, in order, and
// checks the whole text on the way: see the package's doc for what is checked.
// An error of visit ends the walk and is returned as it is; otherwise the error
// is a *SyntaxError or a *DepthError. Members seen before the error were
// visited. The same key may come more than once.
func Object(body []byte, maxDepth int, visit func(Member) error) error {
	c := NewCursor(body, maxDepth)
	if !c.EnterObject() {
		c.Fail("the text is not an object")
		return c.err
	}
	for i := 0; c.Member(); i++ {
		m := Member{Key: c.Key(), Index: i, KeyStart: c.KeyStart()}
		m.Start, m.End = c.Skip()
		if c.err != nil {
			break
		}
		if err := visit(m); err != nil {
			return err
		}
	}
	return c.Close()
}
