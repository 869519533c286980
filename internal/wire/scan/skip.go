package scan

// space returns the offset of the first byte at or after i that is not white
// space.
func (c *Cursor) space(i int) int {
	for i < len(c.data) {
		switch c.data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// skipValue checks the value that begins at i and returns the offset behind
// it, or -1 after an error.
func (c *Cursor) skipValue(i, depth int) int {
	if i == len(c.data) {
		c.fail(i, "")
		return -1
	}
	switch b := c.data[i]; {
	case b == '"':
		return c.skipString(i)
	case b == '-' || b-'0' <= 9:
		return c.skipNumber(i)
	case b == '{':
		return c.skipObject(i, depth+1)
	case b == '[':
		return c.skipArray(i, depth+1)
	case b == 't':
		return c.skipWord(i, "true")
	case b == 'f':
		return c.skipWord(i, "false")
	case b == 'n':
		return c.skipWord(i, "null")
	}
	c.fail(i, "a value is missing")
	return -1
}

func (c *Cursor) skipWord(i int, word string) int {
	end := i + len(word)
	if end > len(c.data) || string(c.data[i:end]) != word {
		c.fail(i, "a value is missing")
		return -1
	}
	return end
}

func (c *Cursor) skipObject(i, depth int) int {
	if depth > c.max {
		c.tooDeep()
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.data) && c.data[i] == '}' {
		return i + 1
	}
	for {
		if i == len(c.data) || c.data[i] != '"' {
			c.fail(i, "a key is missing")
			return -1
		}
		if i = c.skipString(i); i < 0 {
			return -1
		}
		if i = c.space(i); i == len(c.data) || c.data[i] != ':' {
			c.fail(i, "a colon is missing after a key")
			return -1
		}
		if i = c.skipValue(c.space(i+1), depth); i < 0 {
			return -1
		}
		i = c.space(i)
		if i < len(c.data) && c.data[i] == '}' {
			return i + 1
		}
		if i == len(c.data) || c.data[i] != ',' {
			c.fail(i, "a comma is missing")
			return -1
		}
		i = c.space(i + 1)
	}
}

func (c *Cursor) skipArray(i, depth int) int {
	if depth > c.max {
		c.tooDeep()
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.data) && c.data[i] == ']' {
		return i + 1
	}
	for {
		if i = c.skipValue(i, depth); i < 0 {
			return -1
		}
		i = c.space(i)
		if i < len(c.data) && c.data[i] == ']' {
			return i + 1
		}
		if i == len(c.data) || c.data[i] != ',' {
			c.fail(i, "a comma is missing")
			return -1
		}
		i = c.space(i + 1)
	}
}

// skipNumber checks the number that begins at i with a digit or a minus.
func (c *Cursor) skipNumber(i int) int {
	data := c.data
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	default:
		if i = c.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i] == '.' {
		if i = c.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		return c.digits(i)
	}
	return i
}

// digits returns the offset behind the digits at i, of which there must be at
// least one.
func (c *Cursor) digits(i int) int {
	start := i
	for i < len(c.data) && c.data[i]-'0' <= 9 {
		i++
	}
	if i == start {
		c.fail(i, "a digit is missing")
		return -1
	}
	return i
}
