package fake

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// unpacked wants a label and a body that a reader unpacks to the normal answer.
func unpacked(label string, readers ...func([]byte) ([]byte, error)) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if got := r.header.Get("Content-Encoding"); got != label || r.readErr != nil {
			t.Fatalf("label %q, want %q; %v", got, label, r.readErr)
		}
		for _, read := range readers {
			body, err := read(r.body)
			if err != nil {
				t.Fatal(err)
			}
			r.body = body
		}
		answered(t, r)
	}
}

// spoiled wants gzip that fails after some bytes with an error that is one of
// these.
func spoiled(least int, want ...error) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.readErr != nil || r.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("got %v %v", r.header, r.readErr)
		}
		body, err := gunzip(r.body)
		if len(body) < least || !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) || err != nil && errors.Is(w, errAny) }) {
			t.Errorf("%d bytes, then %v; want at least %d and %v", len(body), err, least, want)
		}
	}
}

var errAny = errors.New("any error")

func gunzip(p []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(p))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func inflate(p []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(p))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func encodingCases() []faultCase {
	return []faultCase{
		{fault: "gzip", check: unpacked("gzip", gunzip)},
		{fault: "gzip", stream: true, check: unpacked("gzip", gunzip)},
		{fault: "deflate", check: unpacked("deflate", inflate)},
		{fault: "deflate", stream: true, check: unpacked("deflate", inflate)},
		{fault: "br", check: unpacked("br", unstoreBrotli)},
		{fault: "br", stream: true, check: unpacked("br", unstoreBrotli)},
		{fault: "zstd", check: unpacked("zstd", unstoreZstd)},
		{fault: "zstd", stream: true, check: unpacked("zstd", unstoreZstd)},
		{fault: "gzip-twice", check: unpacked("gzip, gzip", gunzip, gunzip)},
		{fault: "gzip-twice", stream: true, check: unpacked("gzip, gzip", gunzip, gunzip)},
		{fault: "gzip-truncated", check: spoiled(100, io.ErrUnexpectedEOF)},
		{fault: "gzip-truncated", stream: true, check: spoiled(500, io.ErrUnexpectedEOF)},
		{fault: "gzip-corrupt", check: spoiled(100, errAny)},
		{fault: "{fault: gzip-corrupt, after: 5}", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			spoiled(500, errAny)(t, r)
			body, _ := gunzip(r.body) // the error is checked above
			if got := tell(t, body); got.texts != 5 || got.finish != "" {
				t.Errorf("got %+v before the garbage, want 5 content events", got)
			}
		}},
		{fault: "gzip-checksum", check: spoiled(300, gzip.ErrChecksum)},
		{fault: "gzip-mislabeled", check: unpacked("gzip")},
		{fault: "gzip-mislabeled", stream: true, check: unpacked("gzip")},
		{fault: "gzip-unlabeled", check: unpacked("", gunzip)},
		{fault: "encoding-unknown", check: unpacked("x-simulated")},
		{fault: "{fault: gzip-bomb, size: 8MiB}", check: func(t *testing.T, r reply) {
			t.Helper()
			if len(r.body) > 32<<10 {
				t.Errorf("the bomb has %d bytes", len(r.body))
			}
			body, err := gunzip(r.body)
			if err != nil || len(body) < 8<<20 {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			wholeAnswer(t, body)
		}},
		{fault: "{fault: gzip-bomb, size: 1B}", stream: true, check: unpacked("gzip", gunzip)},
	}
}

// The stored forms of brotli and zstd, byte for byte. Both were read back by
// decoders that are not of this project.
func TestStoredForms(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      filter
		chunks []string
		want   string
	}{
		{"brotli", newBrotli(), []string{"hello", "!"}, "400010" + hex.EncodeToString([]byte("hello")) + "000008" + hex.EncodeToString([]byte("!")) + "03"},
		{"brotli, nothing", newBrotli(), nil, "06"},
		{"zstd", newZstd(), []string{"hello", "!"}, "28b52ffd0038" + "280000" + hex.EncodeToString([]byte("hello")) + "080000" + hex.EncodeToString([]byte("!")) + "010000"},
		{"zstd, nothing", newZstd(), nil, "28b52ffd0038" + "010000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []byte
			for _, p := range c.chunks {
				got = append(got, c.f.add([]byte(p))...)
			}
			got = append(got, c.f.end()...)
			if diff := cmp.Diff(c.want, hex.EncodeToString(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoredFormsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOfN(rapid.IntRange(0, zstdBlockMax+10), 0, 3).Draw(t, "chunks")
		var plain, br, zs []byte
		brotli, zstd := newBrotli(), newZstd()
		for i, n := range chunks {
			p := bytes.Repeat([]byte{byte('a' + i)}, n)
			plain = append(plain, p...)
			br = append(br, brotli.add(p)...)
			zs = append(zs, zstd.add(p)...)
		}
		br, zs = append(br, brotli.end()...), append(zs, zstd.end()...)
		for name, got := range map[string]func() ([]byte, error){
			"brotli": func() ([]byte, error) { return unstoreBrotli(br) },
			"zstd":   func() ([]byte, error) { return unstoreZstd(zs) },
		} {
			if back, err := got(); err != nil || !bytes.Equal(back, plain) {
				t.Fatalf("%s: %d bytes of %d, %v", name, len(back), len(plain), err)
			}
		}
	})
}

var errStored = errors.New("not a stored stream")

// unstoreBrotli reads brotli of uncompressed meta-blocks, from RFC 7932.
func unstoreBrotli(p []byte) ([]byte, error) {
	var out []byte
	bits := bitReader{p: p}
	if bits.take(1) != 0 { // WBITS 16
		return nil, errStored
	}
	for {
		if bits.take(1) == 1 { // ISLAST
			if bits.take(1) != 1 { // ISLASTEMPTY
				return nil, errStored
			}
			return out, bits.err
		}
		if nibbles := bits.take(2); nibbles != 0 {
			return nil, errStored
		}
		n := bits.take(16) + 1
		if bits.take(1) != 1 { // ISUNCOMPRESSED
			return nil, errStored
		}
		out = append(out, bits.bytes(n)...)
		if bits.err != nil {
			return nil, bits.err
		}
	}
}

type bitReader struct {
	p   []byte
	at  int // in bits
	err error
}

func (b *bitReader) take(n int) int {
	v := 0
	for i := range n {
		if b.at/8 >= len(b.p) {
			b.err = io.ErrUnexpectedEOF
			return 0
		}
		v |= int(b.p[b.at/8]>>(b.at%8)&1) << i
		b.at++
	}
	return v
}

func (b *bitReader) bytes(n int) []byte {
	from := (b.at + 7) / 8
	if from+n > len(b.p) {
		b.err = io.ErrUnexpectedEOF
		return nil
	}
	b.at = (from + n) * 8
	return b.p[from : from+n]
}

// unstoreZstd reads zstd of raw blocks, from RFC 8878.
func unstoreZstd(p []byte) ([]byte, error) {
	if !bytes.HasPrefix(p, []byte{0x28, 0xb5, 0x2f, 0xfd, 0, zstdWindow}) {
		return nil, errStored
	}
	var out []byte
	for p = p[6:]; len(p) >= 3; {
		head := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
		last, kind, n := head&1, head>>1&3, head>>3
		if kind != 0 || 3+n > len(p) || n > zstdBlockMax {
			return nil, errStored
		}
		out = append(out, p[3:3+n]...)
		if p = p[3+n:]; last == 1 {
			if len(p) != 0 {
				return nil, errStored
			}
			return out, nil
		}
	}
	return nil, io.ErrUnexpectedEOF
}
