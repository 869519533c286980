package config

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parameters are an object of the file as JSON, in the order of the file. Numbers
// are exactly as written.
type Parameters json.RawMessage

// Bounds of one object of parameters.
const (
	maxParameters  = 1 << 20 // bytes of its JSON
	maxParamDepth  = 32
	maxParamDigits = 64 // characters of one number
)

// readNode reads any object.
func (p *Parameters) readNode(d *decoder, n *yaml.Node, at path) {
	if !d.isMapping(n, at) {
		return
	}
	w := parameterWriter{decoder: d, top: at}
	w.object(n, at)
	if !d.broken(at) {
		*p = Parameters(w.out.Bytes())
	}
}

// parameterWriter turns nodes into JSON.
type parameterWriter struct {
	*decoder
	top   path // the object
	out   bytes.Buffer
	level int
	full  bool // a bound was met: nothing more is written
}

// value writes a node of any kind.
func (w *parameterWriter) value(n *yaml.Node, at path) {
	n, ok := w.enter(n, at)
	if !ok {
		return
	}
	defer w.leave()
	switch {
	case w.full:
	case w.out.Len() > maxParameters:
		w.tooLarge()
	case n.Kind == yaml.MappingNode:
		w.object(n, at)
	case n.Kind == yaml.SequenceNode:
		w.array(n, at)
	default:
		w.scalar(n, at)
	}
}

// deeper counts a level in; false when there are too many. Each call that
// returns true is paired with a decrement.
func (w *parameterWriter) deeper() bool {
	if w.level == maxParamDepth {
		w.stop("the parameters nest deeper than %d levels", maxParamDepth)
		return false
	}
	w.level++
	return true
}

func (w *parameterWriter) tooLarge() {
	w.stop("the parameters take more than %d bytes as JSON", maxParameters)
}

func (w *parameterWriter) stop(format string, limit int) {
	if !w.full {
		w.full = true
		w.fail(w.top, "move large data into a bundle of the policy", format, limit)
	}
}

func (w *parameterWriter) object(n *yaml.Node, at path) {
	if !w.deeper() {
		return
	}
	w.out.WriteByte('{')
	for i, e := range w.entries(n, at) {
		if i > 0 {
			w.out.WriteByte(',')
		}
		inner := at.key(e.name)
		w.places[inner] = place{e.key.Line, e.key.Column}
		w.text(e.name)
		w.out.WriteByte(':')
		w.value(e.value, inner)
	}
	w.out.WriteByte('}')
	w.level--
}

func (w *parameterWriter) array(n *yaml.Node, at path) {
	if !w.deeper() {
		return
	}
	w.out.WriteByte('[')
	for i, c := range n.Content {
		if w.stopped || w.full {
			break
		}
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.value(c, at.index(i))
	}
	w.out.WriteByte(']')
	w.level--
}

// parameterText is how a text of parameters is written: variables expand, and a
// date is text.
var parameterText = form{wants: "text", text: true, date: true}

func (w *parameterWriter) scalar(n *yaml.Node, at path) {
	// A number that no float64 holds is text to the reader.
	beyond := n.Style == 0 && json.Valid([]byte(n.Value))
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		w.out.WriteString("null")
	case tag == "!!bool":
		w.out.WriteString(strings.ToLower(n.Value)) // True and TRUE are taken too
	case tag == "!!int", tag == "!!float", tag == "!!str" && beyond:
		w.number(n.Value, at)
	default:
		if text, ok := w.written(n, field{}, parameterText, at); ok {
			w.text(text)
		}
	}
}

// number writes a number exactly as it stands there.
func (w *parameterWriter) number(text string, at path) {
	const fix = "write it as in JSON, such as 8 or 0.25, or in quotes"
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case len(text) > maxParamDigits:
		w.fail(at, "write it in quotes", "the number has more than %d characters", maxParamDigits)
	case !json.Valid([]byte(text)):
		w.fail(at, fix, "%s is no number that JSON has", w.unquoted(text))
	case err != nil || math.IsInf(value, 0):
		w.fail(at, "write it in quotes", "%s is too large", w.unquoted(text))
	default:
		w.out.WriteString(text)
	}
}

func (w *parameterWriter) text(text string) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return // no text makes it fail
	}
	if w.out.Len()+len(quoted) > maxParameters {
		w.tooLarge()
		return
	}
	w.out.Write(quoted)
}
