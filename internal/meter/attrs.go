package meter

import (
	"bytes"
	"log/slog"
)

// collector makes attributes of the fields, for handlers that write in a way of
// their own.
type collector struct {
	attrs []slog.Attr
	outer []slog.Attr // while a group is open
	group string
}

var _ fields = (*collector)(nil)

func (c *collector) add(a slog.Attr) {
	if l, ok := a.Value.Any().(*list); ok {
		a.Value = slog.AnyValue(document(bytes.Clone(l.buf)))
	}
	c.attrs = append(c.attrs, a)
}

func (c *collector) open(group string) {
	c.outer, c.attrs, c.group = c.attrs, nil, group
}

func (c *collector) close() {
	inner := c.attrs
	c.attrs = c.outer
	c.attrs = append(c.attrs, slog.GroupAttrs(c.group, inner...))
}

// document is JSON text. JSON handlers show it as a value, others as text.
type document []byte

// MarshalJSON returns the document.
func (d document) MarshalJSON() ([]byte, error) { return d, nil }

// MarshalText returns the document.
func (d document) MarshalText() ([]byte, error) { return d, nil }
