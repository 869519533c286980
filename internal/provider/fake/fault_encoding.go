package fake

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
)

// encodingFaults are about Content-Encoding.
func encodingFaults() []faultDef {
	row := func(name, does string, play func(*exchange), p ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "encoding", Does: does, Applies: AppliesAny, Params: append(p, "headers"), Matrix: []string{"F53"}},
			play:      play,
		}
	}
	return []faultDef{
		row("gzip", "the normal answer, gzip", encoded("gzip", newGzip)),
		row("deflate", "the normal answer, deflate (zlib)", encoded("deflate", newDeflate)),
		row("br", "the normal answer, brotli (stored, not compressed)", encoded("br", newBrotli)),
		row("zstd", "the normal answer, zstd (stored, not compressed)", encoded("zstd", newZstd)),
		row("gzip-twice", "the normal answer, gzip in gzip, labelled so", encoded("gzip, gzip", newGzip, newGzip)),
		row("gzip-truncated", "gzip that stops half-way (a stream: after so many content events), ended properly as HTTP goes", func(x *exchange) {
			x.encode("gzip", newGzip)
			x.sendPart()
		}, "after"),
		row("gzip-corrupt", "gzip that turns into garbage half-way (a stream: after so many content events)", func(x *exchange) {
			x.encode("gzip", newGzip)
			if x.sendPart() {
				x.put([]byte("\x07 no block begins like this"))
			}
		}, "after"),
		row("gzip-checksum", "gzip with a wrong checksum at its end", encoded("gzip", newBadChecksum)),
		row("gzip-mislabeled", "a plain body labelled gzip", encoded("gzip")),
		row("gzip-unlabeled", "a gzip body without a label", encoded("", newGzip)),
		row("encoding-unknown", "a plain body labelled with an encoding that nobody knows", encoded("x-simulated")),
		{
			FaultInfo: FaultInfo{
				Name: "gzip-bomb", Class: "encoding", Applies: AppliesText, Params: params("size", "headers"), Matrix: []string{"F53"},
				Does: "gzip that is a thousand times smaller than the right answer of size bytes (default 1GiB) in it",
			},
			play: playBomb,
		},
	}
}

// filter changes the bytes of a body on their way out. Everything that was
// added is readable by the client before more comes.
type filter interface {
	// add returns what to send for p; it is valid until the next call.
	add(p []byte) []byte
	// end returns what closes the encoding.
	end() []byte
}

// encoded plays the normal answer through filters, under a label.
func encoded(label string, makers ...func() filter) func(*exchange) {
	return func(x *exchange) {
		x.encode(label, makers...)
		x.give()
	}
}

// encode labels the answer and puts filters before it.
func (x *exchange) encode(label string, makers ...func() filter) {
	if label != "" {
		x.w.Header().Set("Content-Encoding", label)
	}
	for _, m := range makers {
		x.filters = append(x.filters, m())
	}
}

// sendPart sends the first half of an answer, or a stream up to where it is
// struck; false when it could not.
func (x *exchange) sendPart() bool {
	out := x.render()
	if x.call.pieces() {
		return x.openStream() && x.events(0, out.upTo(x.after()))
	}
	if !x.waitWhole() {
		return false
	}
	x.header(x.call.answerType())
	x.begin(x.status)
	return x.write(out.buf[:len(out.buf)/2]) && x.flush()
}

// flusher is a compressing writer of the standard library.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// packer is a filter around a compressing writer.
type packer struct {
	buf bytes.Buffer
	w   flusher
	bad bool // spoil the trailer
}

func newGzip() filter {
	p := &packer{}
	p.w = gzip.NewWriter(&p.buf)
	return p
}

func newBadChecksum() filter {
	p := &packer{bad: true}
	p.w = gzip.NewWriter(&p.buf)
	return p
}

func newDeflate() filter {
	p := &packer{}
	p.w = zlib.NewWriter(&p.buf)
	return p
}

func (p *packer) add(data []byte) []byte {
	p.buf.Reset()
	_, _ = p.w.Write(data) // a buffer never fails to write
	_ = p.w.Flush()
	return p.buf.Bytes()
}

func (p *packer) end() []byte {
	p.buf.Reset()
	_ = p.w.Close()
	b := p.buf.Bytes()
	if p.bad {
		b[len(b)-8] ^= 0xff // the first byte of the CRC-32
	}
	return b
}

// zstdStore writes zstd (RFC 8878) in raw blocks.
type zstdStore struct {
	begun bool
}

func newZstd() filter { return &zstdStore{} }

// The bits of zstd's frames.
const (
	zstdMagic     = 0xfd2fb528
	zstdWindow    = 0x38 // a window of 128 KiB, no content size, no checksum
	zstdBlockMax  = 128 << 10
	zstdLastBlock = 1
)

func (z *zstdStore) add(p []byte) []byte {
	var out []byte
	if !z.begun {
		z.begun = true
		out = binary.LittleEndian.AppendUint32(out, zstdMagic)
		out = append(out, 0, zstdWindow)
	}
	for len(p) > 0 {
		n := min(len(p), zstdBlockMax)
		out = append(out, byte(n<<3&0xff), byte(n>>5&0xff), byte(n>>13)) // a raw block, not the last
		out = append(out, p[:n]...)
		p = p[n:]
	}
	return out
}

func (z *zstdStore) end() []byte {
	return append(z.add(nil), zstdLastBlock, 0, 0)
}

// brotliStore writes brotli (RFC 7932) in uncompressed meta-blocks.
type brotliStore struct {
	begun bool
}

func newBrotli() filter { return &brotliStore{} }

const brotliBlockMax = 1 << 16

// add writes meta-blocks of at most 64 KiB. The header of one is, from the
// lowest bit: not last (0), 4 nibbles (00), length-1 in 16 bits, uncompressed
// (1), then zeros up to a full byte; the first has the window size before it.
func (z *brotliStore) add(p []byte) []byte {
	var out []byte
	for len(p) > 0 {
		n := min(len(p), brotliBlockMax)
		header := uint32(n-1)<<3 | 1<<19 //nolint:gosec // n is at most 65,536
		if !z.begun {
			z.begun = true
			header <<= 1 // a window of 64 KiB: one bit, 0
		}
		out = append(out, byte(header&0xff), byte(header>>8&0xff), byte(header>>16&0xff))
		out = append(out, p[:n]...)
		p = p[n:]
	}
	return out
}

// end writes the last, empty meta-block: the bits 1, 1.
func (z *brotliStore) end() []byte {
	if !z.begun {
		return []byte{0x06} // the window size first
	}
	return []byte{0x03}
}

const (
	defaultBomb = 1 << 30
	bombChunk   = 1 << 20
)

// playBomb sends one gzip member. The middle of it is one compressed megabyte,
// sent again and again: each copy refers to the one before it.
func playBomb(x *exchange) {
	const mark = "BOMB"
	x.answer.reasoning, x.answer.calls = nil, nil
	x.answer.pieces = []string{mark}
	out := x.render()
	head, tail, _ := bytes.Cut(out.buf, []byte(mark))
	chunk := []byte(strings.Repeat("a", bombChunk))
	times := int((x.size(defaultBomb) + bombChunk - 1) / bombChunk)

	p := newGzip().(*packer)
	first := bytes.Clone(p.add(append(bytes.Clone(head), chunk...)))
	again := bytes.Clone(p.add(chunk))
	p.buf.Reset()
	_, _ = p.w.Write(tail)
	_ = p.w.Close()
	last := bytes.Clone(p.buf.Bytes())

	sum := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, chunk)
	for range times - 1 {
		sum = crc32.Update(sum, crc32.IEEETable, chunk)
	}
	sum = crc32.Update(sum, crc32.IEEETable, tail)
	trailer := last[len(last)-8:]
	binary.LittleEndian.PutUint32(trailer, sum)
	binary.LittleEndian.PutUint32(trailer[4:], uint32(len(head)+times*bombChunk+len(tail))) //nolint:gosec // modulo 2^32, as gzip has it

	x.encode("gzip")
	x.header(x.call.answerType())
	x.begin(x.status)
	ok := x.put(first)
	for ; ok && times > 1; times-- {
		ok = x.put(again)
	}
	if ok {
		x.put(last)
	}
}
