package gemini

import (
	"strconv"
	"strings"

	"gatewright/internal/wire/scan"
)

// Arguments of a call can be streamed: one part opens the call with its name and
// willContinue, further ones bring pieces of single values, each with the path
// of its place, and an empty one closes it.

// Limits of arguments that come in pieces.
const (
	maxPathSteps = 32
	maxElements  = 1024 // of an array
)

// piece is one of the partialArgs.
type piece struct {
	path string // JSONPath of a value: $.a['b'][0]
	text string // of a string, or a piece of one
	raw  []byte // a value of another kind, as JSON; nil for a string
}

func readPieces(c *scan.Cursor) (list []piece) {
	if !c.EnterArray() {
		return nil
	}
	for c.Element() {
		if !c.EnterObject() {
			continue
		}
		var p piece
		for c.Member() {
			switch string(c.Key()) {
			case "jsonPath":
				p.path = text(c)
			case "stringValue":
				p.text = text(c)
			case "numberValue", "boolValue":
				p.raw = c.Raw()
			case "nullValue":
				p.raw = []byte("null")
			}
		}
		list = append(list, p)
	}
	return list
}

// node is a value that is being put together.
type node struct {
	array bool
	keys  []string // of an object
	kids  []*node
	text  []byte
	raw   []byte
	leaf  bool
}

// add puts a piece in its place and reports false if that cannot be.
func (n *node) add(p piece) bool {
	at, rest := n, strings.TrimPrefix(p.path, "$")
	for steps := 0; rest != ""; steps++ {
		key, index, more, ok := step(rest)
		if !ok || steps == maxPathSteps || at.leaf || at == n && index >= 0 {
			return false
		}
		if at = at.child(key, index); at == nil {
			return false
		}
		rest = more
	}
	if at == n || len(at.kids) > 0 {
		return false
	}
	at.leaf = true
	if p.raw != nil {
		at.raw = append(at.raw[:0], p.raw...)
		return true
	}
	at.text = append(at.text, p.text...)
	return true
}

// step takes the first step of a path: .key, ['key'] or [0]. index is -1 for a
// key.
func step(path string) (key string, index int, rest string, ok bool) {
	if path[0] == '.' {
		end := strings.IndexAny(path[1:], ".[")
		if end < 0 {
			end = len(path) - 1
		}
		return path[1 : 1+end], -1, path[1+end:], end > 0
	}
	if path[0] != '[' || len(path) < 3 {
		return "", 0, "", false
	}
	if quote := path[1]; quote == '\'' || quote == '"' {
		key, rest, ok = strings.Cut(path[2:], string(quote)+"]")
		return key, -1, rest, ok
	}
	number, rest, ok := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(number)
	return "", index, rest, ok && err == nil && index >= 0 && index < maxElements
}

// child returns the child at a key or, if index is not negative, an index, and
// makes it if there is none. It is nil if n is of the other kind.
func (n *node) child(key string, index int) *node {
	if fresh := len(n.kids) == 0; fresh {
		n.array = index >= 0
	}
	if n.array != (index >= 0) {
		return nil
	}
	if n.array {
		for len(n.kids) <= index {
			n.kids = append(n.kids, &node{})
		}
		return n.kids[index]
	}
	for i, have := range n.keys {
		if have == key {
			return n.kids[i]
		}
	}
	n.keys = append(n.keys, key)
	n.kids = append(n.kids, &node{})
	return n.kids[len(n.kids)-1]
}

// append appends the value as JSON.
func (n *node) append(dst []byte) []byte {
	switch {
	case n.raw != nil:
		return append(dst, n.raw...)
	case n.leaf:
		return scan.AppendString(dst, string(n.text))
	case n.array:
		dst = append(dst, '[')
		for i, kid := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = kid.append(dst)
		}
		return append(dst, ']')
	case len(n.kids) == 0:
		return append(dst, "null"...) // an element that was skipped
	}
	dst = append(dst, '{')
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(scan.AppendString(dst, n.keys[i]), ':')
		dst = kid.append(dst)
	}
	return append(dst, '}')
}

// openCall is a call whose arguments still come.
type openCall struct {
	part Part
	root node
}

// take adds what a part brings and reports false if it does not fit.
func (o *openCall) take(call *Call) bool {
	for _, p := range call.pieces {
		if !o.root.add(p) {
			return false
		}
	}
	return true
}

// whole returns the part with all its arguments.
func (o *openCall) whole() Part {
	p := o.part
	p.Call.more, p.Call.pieces = false, nil
	if len(o.root.kids) > 0 {
		p.Call.Args = o.root.append(nil)
	}
	return p
}
