package openai

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// AppendEmbeddings is AppendWithModel for an answer of embeddings: those that
// do not come in the format that the client asked for, float or base64, are
// turned into it. An empty format means float, and with any other the answer is
// left as it came. Some upstreams know one format only and give it whatever they
// are asked for; a client that expects the other one would read other numbers.
//
// The error wraps fault.ErrUndecodable and says which embedding cannot be read; then
// dst is returned as it was.
func (a *Answer) AppendEmbeddings(dst, body []byte, model, format string) ([]byte, error) {
	convert := encodeEmbedding
	switch {
	case format == formatBase64 && a.numbers:
	case (format == formatFloat || format == "") && a.encoded:
		convert = decodeEmbedding
	default:
		return a.AppendWithModel(dst, body, model), nil
	}
	x := embeddingScan{Cursor: scan.NewCursor(body, maxDepth), convert: convert, edits: slices.Clone(a.edits)}
	for inside := x.EnterObject(); inside && x.Member(); {
		if string(x.Key()) != "data" || !x.EnterArray() {
			continue
		}
		for i := 0; x.Element(); i++ {
			if !x.element() {
				return dst, fault.Undecodable("data[%d].embedding cannot be turned into another format", i)
			}
		}
	}
	changed := *a
	changed.edits = x.edits
	return changed.AppendWithModel(dst, body, model), nil
}

// embeddingScan is a walk over embeddings that turns them into another format.
type embeddingScan struct {
	scan.Cursor
	convert func(c *scan.Cursor) (text []byte, ok bool)
	edits   []scan.Edit
}

// element takes one of the elements and reports false if what it holds cannot
// be converted.
func (x *embeddingScan) element() bool {
	if !x.EnterObject() {
		return true
	}
	for x.Member() {
		if string(x.Key()) != "embedding" {
			continue
		}
		x.Kind() // brings the position to the value
		start := x.Pos()
		text, ok := x.convert(&x.Cursor)
		if !ok {
			return false
		}
		if text != nil {
			x.edits = append(x.edits, scan.Edit{Start: start, End: x.Pos(), Text: text})
		}
	}
	return true
}

const floatBytes = 4 // of a number in base64, little-endian

// encodeEmbedding takes an embedding and returns it in base64, nil if it is
// already.
func encodeEmbedding(c *scan.Cursor) (text []byte, ok bool) {
	if c.Kind() != scan.KindArray {
		c.Skip()
		return nil, true
	}
	var raw []byte
	c.EnterArray()
	for c.Element() {
		f, err := strconv.ParseFloat(string(c.Raw()), 32)
		if err != nil {
			return nil, false
		}
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(f)))
	}
	text = make([]byte, 0, base64.StdEncoding.EncodedLen(len(raw))+len(`""`))
	text = base64.StdEncoding.AppendEncode(append(text, '"'), raw)
	return append(text, '"'), true
}

// decodeEmbedding takes an embedding and returns it as a list of numbers, nil if
// it is one.
func decodeEmbedding(c *scan.Cursor) (text []byte, ok bool) {
	encoded, _, isText := c.Text()
	if !isText {
		c.Skip()
		return nil, true
	}
	raw, err := base64.StdEncoding.AppendDecode(nil, scan.AppendText(nil, encoded))
	if err != nil || len(raw)%floatBytes != 0 {
		return nil, false
	}
	const usual = 12 // bytes of a number as text
	text = append(make([]byte, 0, len(raw)/floatBytes*usual), '[')
	for ; len(raw) > 0; raw = raw[floatBytes:] {
		f := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, f, 'g', -1, 32)
	}
	return append(text, ']'), true
}
