package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

// pageImage is a file that a test changes before it is walked.
type pageImage struct {
	b        []byte
	meta     metaPage
	pageSize int
}

// at is the content of a page from offset on.
func (p *pageImage) at(id uint64, offset int) []byte {
	return p.b[int(id)*p.pageSize+offset:]
}

// set64 writes a number into a page.
func (p *pageImage) set64(id uint64, offset int, v uint64) {
	binary.NativeEndian.PutUint64(p.at(id, offset), v)
}

// set32 writes a number into a page.
func (p *pageImage) set32(id uint64, offset int, v uint32) {
	binary.NativeEndian.PutUint32(p.at(id, offset), v)
}

// set16 writes a number into a page.
func (p *pageImage) set16(id uint64, offset int, v uint16) {
	binary.NativeEndian.PutUint16(p.at(id, offset), v)
}

// bucketHead returns the offset of the head of the first bucket in the root page
// that has pages of its own, and the number of the first of those.
func (p *pageImage) bucketHead(t *testing.T) (offset int, root uint64) {
	t.Helper()
	count := int(binary.NativeEndian.Uint16(p.at(p.meta.root, 10)))
	for i := range count {
		element := pageHeaderSize + i*elementSize
		e := p.at(p.meta.root, element)
		offset = element + int(binary.NativeEndian.Uint32(e[4:])) + int(binary.NativeEndian.Uint32(e[8:]))
		if root = binary.NativeEndian.Uint64(p.at(p.meta.root, offset)); root != 0 {
			return offset, root
		}
	}
	t.Fatal("no bucket with pages")
	return 0, 0
}

func TestWalkPages(t *testing.T) {
	path := sampleStore(t, t.TempDir())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, p *pageImage)
		want  string // empty: sound
	}{
		{"sound", func(*testing.T, *pageImage) {}, ""},
		{"the root is outside", func(_ *testing.T, p *pageImage) { p.meta.root = p.meta.highWater }, "outside the used part"},
		{"the root is a meta page", func(_ *testing.T, p *pageImage) { p.meta.root = 1 }, "outside the used part"},
		{"the root is the free list", func(_ *testing.T, p *pageImage) { p.meta.root = p.meta.freelist }, "neither a branch nor a leaf"},
		{"a page with another's number", func(_ *testing.T, p *pageImage) { p.set64(p.meta.root, 0, 5) }, "says that it is page 5"},
		{"an overflow past the end", func(_ *testing.T, p *pageImage) { p.set32(p.meta.root, 12, 1<<31) }, "past the used part"},
		{"more elements than fit", func(_ *testing.T, p *pageImage) { p.set16(p.meta.root, 10, 60000) }, "60000 elements do not fit"},
		{"a value outside the page", func(_ *testing.T, p *pageImage) { p.set32(p.meta.root, pageHeaderSize+4, 1<<30) }, "value lies outside the page"},
		{"a branch without children", func(_ *testing.T, p *pageImage) {
			p.set16(p.meta.root, 8, branchPage)
			p.set16(p.meta.root, 10, 0)
		}, "a branch without children"},
		{"a branch that leads to itself", func(_ *testing.T, p *pageImage) {
			p.set16(p.meta.root, 8, branchPage)
			p.set16(p.meta.root, 10, 1)
			p.set32(p.meta.root, pageHeaderSize, 0)
			p.set32(p.meta.root, pageHeaderSize+4, 0)
			p.set64(p.meta.root, pageHeaderSize+8, p.meta.root)
		}, "is used twice"},
		{"a bucket that is the root again", func(t *testing.T, p *pageImage) {
			t.Helper()
			offset, _ := p.bucketHead(t)
			p.set64(p.meta.root, offset, p.meta.root)
		}, "is used twice"},
		{"a bucket without a head", func(_ *testing.T, p *pageImage) {
			p.set32(p.meta.root, pageHeaderSize+12, bucketSize-1)
		}, "a bucket without a head"},
		{"no free list", func(_ *testing.T, p *pageImage) { p.meta.freelist = p.meta.root }, "is used twice"},
		{"a free page that is in use", func(t *testing.T, p *pageImage) {
			t.Helper()
			_, root := p.bucketHead(t)
			p.set64(p.meta.freelist, pageHeaderSize, root)
		}, "is in use or listed twice"},
		{"a free page listed twice", func(_ *testing.T, p *pageImage) {
			p.set64(p.meta.freelist, pageHeaderSize, binary.NativeEndian.Uint64(p.at(p.meta.freelist, pageHeaderSize+8)))
		}, "is in use or listed twice"},
		{"a free page outside", func(_ *testing.T, p *pageImage) { p.set64(p.meta.freelist, pageHeaderSize, p.meta.highWater) }, "is outside the used part"},
		{"a longer free list than fits", func(_ *testing.T, p *pageImage) { p.set16(p.meta.freelist, 10, 5000) }, "5000 entries do not fit"},
		{"a count beyond all bounds", func(_ *testing.T, p *pageImage) {
			p.set16(p.meta.freelist, 10, longFreelist)
			p.set64(p.meta.freelist, pageHeaderSize, 1<<62)
		}, "entries do not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &pageImage{b: bytes.Clone(whole), meta: l.meta, pageSize: int(l.meta.pageSize)}
			c.spoil(t, p)
			problems := walkPages(bytes.NewReader(p.b), p.meta)
			if c.want == "" {
				if len(problems) > 0 {
					t.Errorf("got %v, want no problem", problems)
				}
				return
			}
			for _, err := range problems {
				if strings.Contains(err.Error(), c.want) {
					return
				}
			}
			t.Errorf("got %v, want one with %q", problems, c.want)
		})
	}
}

func TestVerifyInline(t *testing.T) {
	leaf := func(count, flags uint16, size int) []byte {
		b := make([]byte, size)
		binary.NativeEndian.PutUint16(b[8:], flags)
		binary.NativeEndian.PutUint16(b[10:], count)
		return b
	}
	element := leaf(1, leafPage, 64)
	binary.NativeEndian.PutUint32(element[pageHeaderSize+4:], 16)
	binary.NativeEndian.PutUint32(element[pageHeaderSize+8:], 8)
	binary.NativeEndian.PutUint32(element[pageHeaderSize+12:], 24)
	long := bytes.Clone(element)
	binary.NativeEndian.PutUint32(long[pageHeaderSize+12:], 25)
	nested := bytes.Clone(element)
	binary.NativeEndian.PutUint32(nested[pageHeaderSize:], bucketLeaf)
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty leaf", leaf(0, leafPage, pageHeaderSize), ""},
		{"one element to the very end", element, ""},
		{"no page", nil, "without a page"},
		{"branch", leaf(0, branchPage, pageHeaderSize), "no leaf"},
		{"elements that do not fit", leaf(3, leafPage, 63), "no leaf"},
		{"a value past the end", long, "element 0 does not fit"},
		{"a bucket in it", nested, "element 0 does not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := verifyInline(c.b)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
