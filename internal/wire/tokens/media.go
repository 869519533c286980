package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"  // its sizes are read
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"

	"gatewright/internal/wire/scan"
)

const (
	// pageTokens is what a page of a PDF has: Anthropic's guide gives 1,500 to
	// 3,000 for its text, and its picture comes on top.
	pageTokens = 3000
	// headBytes is how much of an image is looked at for its size, in characters
	// of base64. Photographs have previews in front of it.
	headBytes = 256 << 10
)

// medium is an image or a document that a block holds.
type medium struct {
	kind   string // of the block
	detail string // of an image: "low" costs less
	image  bool
	file   bool
	data   []byte // base64, or a data URL, as it stands in the body; nil = elsewhere
	media  string // its media type, if that is told
}

// source takes where an image or a document of Messages comes from. What is
// text there is counted at once.
func (r *reader) source(m *medium) {
	if r.Kind() != scan.KindObject {
		r.Skip()
		return
	}
	var kind string
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "type":
			kind = string(r.raw())
		case "media_type":
			m.media = string(r.raw())
		case "data":
			m.data = r.raw()
		case "content":
			r.content()
		}
	}
	switch kind {
	case "text":
		r.buf = scan.AppendText(r.buf[:0], m.data)
		r.texts.add(r.buf)
	case "content":
	default:
		m.file = m.kind == "document" || strings.Contains(m.media, "pdf")
		m.image = !m.file
	}
}

// imageURL takes an image of chat completions or Responses.
func (r *reader) imageURL(m *medium) {
	m.image = true
	if r.Kind() != scan.KindObject {
		m.data = r.raw()
		return
	}
	for r.EnterObject(); r.Member(); {
		switch string(r.Key()) {
		case "url":
			m.data = r.raw()
		case "detail":
			m.detail = string(r.raw())
		}
	}
}

// file takes a document of chat completions.
func (r *reader) file(m *medium) {
	m.file = true
	if r.Kind() != scan.KindObject {
		r.Skip()
		return
	}
	for r.EnterObject(); r.Member(); {
		if string(r.Key()) == "file_data" {
			m.data = r.raw()
		}
	}
}

// setFile takes a document of Responses; an image that is kept upstream has an
// id too.
func (m *medium) setFile(data []byte) {
	if m.kind == "input_image" {
		m.image = true
		return
	}
	m.file = true
	m.data = data
}

// tokens is what the medium costs. buf is room to decode in.
func (m *medium) tokens(f *family, buf *[]byte) int64 {
	switch {
	case m.image:
		width, height := m.size(buf)
		return f.images(width, height, m.detail)
	case m.file:
		return pageTokens * m.pages(buf)
	}
	return 0
}

// decode decodes what stands in the body as base64, at most limit characters.
// What follows a fault is left out.
func (m *medium) decode(buf *[]byte, limit int) []byte {
	text := m.data
	if bytes.HasPrefix(text, []byte("data:")) {
		_, text, _ = bytes.Cut(text, []byte(","))
	}
	text = text[:min(len(text), limit)]
	if bytes.IndexByte(text, '\\') >= 0 { // some writers escape slashes
		text = scan.AppendText(nil, text)
	}
	if room := base64.StdEncoding.DecodedLen(len(text)); cap(*buf) < room {
		*buf = make([]byte, room)
	}
	plain := (*buf)[:cap(*buf)]
	// Cut off as it may be, what came before the fault is good.
	n, _ := base64.StdEncoding.Decode(plain, text[:len(text)/4*4])
	return plain[:n]
}

// size returns width and height of an image that the body holds; 0 = unknown.
func (m *medium) size(buf *[]byte) (width, height int64) {
	head := m.decode(buf, headBytes)
	if c, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
		return int64(c.Width), int64(c.Height)
	}
	return webpSize(head)
}

// webpSize reads the size of a WebP image in any of its three forms.
func webpSize(b []byte) (width, height int64) {
	const shortest = 30
	if len(b) < shortest || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0
	}
	const bits14 = 1<<14 - 1
	switch string(b[12:16]) {
	case "VP8 ":
		return int64(binary.LittleEndian.Uint16(b[26:]) & bits14), int64(binary.LittleEndian.Uint16(b[28:]) & bits14)
	case "VP8L":
		v := int64(binary.LittleEndian.Uint32(b[21:]))
		return v&bits14 + 1, v>>14&bits14 + 1
	case "VP8X":
		three := func(p []byte) int64 { return int64(p[0]) | int64(p[1])<<8 | int64(p[2])<<16 }
		return three(b[24:]) + 1, three(b[27:]) + 1
	}
	return 0, 0
}

// pages counts the pages of a PDF as far as it shows them openly; at least 1.
func (m *medium) pages(buf *[]byte) int64 {
	text := m.decode(buf, len(m.data))
	n := int64(0)
	for {
		_, rest, found := bytes.Cut(text, []byte("/Type"))
		if !found {
			return max(n, 1)
		}
		text = rest
		name := bytes.TrimLeft(rest[:min(len(rest), 16)], " \r\n\t")
		if after, ok := bytes.CutPrefix(name, []byte("/Page")); ok && !bytes.HasPrefix(after, []byte("s")) {
			n++
		}
	}
}

// imageRule says what an image costs by its size in pixels; 0 = unknown.
type imageRule func(width, height int64, detail string) int64

// area is Anthropic's rule: a pixel in 750 is a token, of an image that is made
// to fit first. What is unknown costs the most.
func area(width, height int64, _ string) int64 {
	const edge, pixels, most = 1568, 750, 1600
	if width <= 0 || height <= 0 {
		return most
	}
	width, height = fit(width, height, edge)
	return min((width*height+pixels-1)/pixels, most)
}

// tiles is OpenAI's rule: a base and a price for each tile of an image that is
// made to fit first. What is unknown is taken to be square.
func tiles(width, height int64, detail string) int64 {
	const base, tile, side, box, short = 85, 170, 512, 2048, 768
	if detail == "low" {
		return base
	}
	if width <= 0 || height <= 0 {
		width, height = side*2, side*2
	}
	width, height = fit(width, height, box)
	if least := min(width, height); least > short {
		width, height = width*short/least, height*short/least
	}
	return base + tile*((width+side-1)/side)*((height+side-1)/side)
}

// flat is Google's rule: one price for a small image, or for each tile of a
// larger one.
func flat(width, height int64, _ string) int64 {
	const price, small, side, most = 258, 384, 768, 16
	if width <= small && height <= small {
		return price
	}
	return price * min(((width+side-1)/side)*((height+side-1)/side), most)
}

// fit scales an image down so that its longer side is at most edge.
func fit(width, height, edge int64) (w, h int64) {
	longest := max(width, height)
	if longest <= edge {
		return width, height
	}
	return max(width*edge/longest, 1), max(height*edge/longest, 1)
}
