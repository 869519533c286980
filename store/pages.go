package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt maps the file and follows page numbers in it without looking back: a
// wrong number is a fault that ends the process. So the layout is read with
// plain reads first. Numbers are in the byte order of the machine, as bbolt
// writes them.
const (
	pageHeaderSize = 16 // id uint64, flags uint16, count uint16, overflow uint32
	elementSize    = 16
	metaSize       = 64
	bucketSize     = 16 // root page uint64, sequence uint64

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketLeaf   = 0x01

	fileMagic    = 0xED0CDAED
	fileVersion  = 2
	noFreelist   = ^uint64(0)
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	firstPage    = 2 // behind the two meta pages
	longFreelist = 0xFFFF
)

// metaPage is one of the two pages that say where the tree begins. A commit
// writes them in turns, so that one is whole at any moment.
type metaPage struct {
	pageSize  int64
	root      uint64
	freelist  uint64
	highWater uint64 // the first page number that was never used
	txid      uint64
}

// layout is what the meta pages of a file say.
type layout struct {
	meta    metaPage
	damaged int   // number of a damaged meta page, -1 when both are whole
	reason  error // why that page cannot be used
}

// readLayout reads both meta pages and picks the newest whole one, as bbolt does.
// It fails when neither is whole or when the file ends before its last page.
func readLayout(r io.ReaderAt, size int64) (layout, error) {
	first, err0 := readMeta(r, 0)
	second, err1 := metaPage{}, errors.New("not found")
	if err0 == nil {
		second, err1 = readMeta(r, first.pageSize)
	} else {
		for at := int64(minPageSize); at <= maxPageSize && at < size; at *= 2 {
			if second, err1 = readMeta(r, at); err1 == nil {
				break
			}
		}
	}
	l := layout{damaged: -1}
	switch {
	case err0 != nil && err1 != nil:
		return l, fmt.Errorf("neither meta page can be used: page 0: %w; page 1: %w", err0, err1)
	case err0 != nil:
		l = layout{meta: second, damaged: 0, reason: err0}
	case err1 != nil:
		l = layout{meta: first, damaged: 1, reason: err1}
	case first.txid >= second.txid:
		l.meta = first
	default:
		l.meta = second
	}
	if pages := uint64(size / l.meta.pageSize); pages < l.meta.highWater { //nolint:gosec // a file size is never negative
		return l, fmt.Errorf("the file is cut short: it holds %d pages, its last commit used %d", pages, l.meta.highWater)
	}
	return l, nil
}

// readMeta reads and verifies the meta page at offset at.
func readMeta(r io.ReaderAt, at int64) (metaPage, error) {
	var b [pageHeaderSize + metaSize]byte
	if _, err := r.ReadAt(b[:], at); err != nil {
		return metaPage{}, err
	}
	return parseMeta(b[pageHeaderSize:])
}

// parseMeta verifies the 64 bytes of a meta page behind its page header.
func parseMeta(b []byte) (metaPage, error) {
	if len(b) < metaSize {
		return metaPage{}, errors.New("too short")
	}
	order := binary.NativeEndian
	if magic := order.Uint32(b); magic != fileMagic {
		return metaPage{}, fmt.Errorf("no bbolt file (magic %#08x)", magic)
	}
	if v := order.Uint32(b[4:]); v != fileVersion {
		return metaPage{}, fmt.Errorf("bbolt file version %d, want %d", v, fileVersion)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8]) // a hash never fails
	if sum.Sum64() != order.Uint64(b[metaSize-8:]) {
		return metaPage{}, errors.New("wrong checksum")
	}
	m := metaPage{
		pageSize:  int64(order.Uint32(b[8:])),
		root:      order.Uint64(b[16:]),
		freelist:  order.Uint64(b[32:]),
		highWater: order.Uint64(b[40:]),
		txid:      order.Uint64(b[48:]),
	}
	if m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return metaPage{}, fmt.Errorf("page size %d", m.pageSize)
	}
	return m, nil
}

// maxProblems bounds what one walk reports; the first already decides.
const maxProblems = 20

// pageWalk follows every page number of a file and notes what does not fit.
type pageWalk struct {
	r        io.ReaderAt
	meta     metaPage
	seen     []uint64 // one bit a page
	todo     []uint64 // pages still to visit
	problems []error
	page     []byte // the page being looked at
}

// walkPages verifies that every page of the tree is inside the file, of the
// right type, used once and not on the free list, and that no element points
// outside its page. It reads the head of each page only, not the long values.
func walkPages(r io.ReaderAt, meta metaPage) []error {
	w := &pageWalk{r: r, meta: meta, seen: make([]uint64, meta.highWater/64+1), todo: []uint64{meta.root}}
	for len(w.todo) > 0 && len(w.problems) < maxProblems {
		id := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if err := w.visit(id); err != nil {
			w.problems = append(w.problems, fmt.Errorf("page %d: %w", id, err))
		}
	}
	if meta.freelist != noFreelist && len(w.problems) < maxProblems {
		if err := w.visitFreelist(meta.freelist); err != nil {
			w.problems = append(w.problems, fmt.Errorf("free list in page %d: %w", meta.freelist, err))
		}
	}
	return w.problems
}

// header is the fixed start of a page.
type pageHeader struct {
	flags    uint16
	count    int
	overflow uint64 // pages that follow and belong to this one
}

// claim marks a page as used; false when it already was.
func (w *pageWalk) claim(id uint64) bool {
	word, bit := id/64, uint64(1)<<(id%64)
	if w.seen[word]&bit != 0 {
		return false
	}
	w.seen[word] |= bit
	return true
}

// enter reads the header of page id, claims all its pages and leaves at least
// the first of them in w.page.
func (w *pageWalk) enter(id uint64) (pageHeader, error) {
	if id < firstPage || id >= w.meta.highWater {
		return pageHeader{}, fmt.Errorf("outside the used part of the file (%d pages)", w.meta.highWater)
	}
	if err := w.read(id, w.meta.pageSize); err != nil {
		return pageHeader{}, err
	}
	order := binary.NativeEndian
	if own := order.Uint64(w.page); own != id {
		return pageHeader{}, fmt.Errorf("says that it is page %d", own)
	}
	h := pageHeader{
		flags:    order.Uint16(w.page[8:]),
		count:    int(order.Uint16(w.page[10:])),
		overflow: uint64(order.Uint32(w.page[12:])),
	}
	if h.overflow >= w.meta.highWater-id {
		return h, fmt.Errorf("reaches %d pages on, past the used part of the file", h.overflow)
	}
	for i := id; i <= id+h.overflow; i++ {
		if !w.claim(i) {
			return h, fmt.Errorf("page %d is used twice", i)
		}
	}
	return h, nil
}

// read fills w.page with n bytes from the start of page id.
func (w *pageWalk) read(id uint64, n int64) error {
	if int64(cap(w.page)) < n {
		w.page = make([]byte, n)
	}
	w.page = w.page[:n]
	_, err := w.r.ReadAt(w.page, int64(id)*w.meta.pageSize) //nolint:gosec // id is below the high-water mark
	return err
}

// visit looks at one page of the tree.
func (w *pageWalk) visit(id uint64) error {
	h, err := w.enter(id)
	if err != nil {
		return err
	}
	if h.flags != branchPage && h.flags != leafPage {
		return fmt.Errorf("flags %#x are neither a branch nor a leaf", h.flags)
	}
	total := int64(h.overflow+1) * w.meta.pageSize //nolint:gosec // bounded by the file
	need := int64(pageHeaderSize + h.count*elementSize)
	if need > total {
		return fmt.Errorf("%d elements do not fit", h.count)
	}
	if need > int64(len(w.page)) {
		if err := w.read(id, need); err != nil {
			return err
		}
	}
	if h.flags == branchPage && h.count == 0 {
		return errors.New("a branch without children")
	}
	for i := range h.count {
		if err := w.element(id, h.flags, i, total); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// element verifies the i-th element of the page in w.page, which is total bytes long.
func (w *pageWalk) element(id uint64, flags uint16, i int, total int64) error {
	order := binary.NativeEndian
	start := int64(pageHeaderSize + i*elementSize)
	e := w.page[start:]
	if flags == branchPage {
		if end := start + int64(order.Uint32(e)) + int64(order.Uint32(e[4:])); end > total {
			return errors.New("its key lies outside the page")
		}
		w.todo = append(w.todo, order.Uint64(e[8:]))
		return nil
	}
	kind, pos := order.Uint32(e), int64(order.Uint32(e[4:]))
	keyLen, valueLen := int64(order.Uint32(e[8:])), int64(order.Uint32(e[12:]))
	value := start + pos + keyLen
	if value+valueLen > total {
		return errors.New("its value lies outside the page")
	}
	if kind&bucketLeaf == 0 {
		return nil
	}
	if valueLen < bucketSize {
		return errors.New("a bucket without a head")
	}
	base := int64(id) * w.meta.pageSize //nolint:gosec // id is below the high-water mark
	var head [bucketSize]byte
	if _, err := w.r.ReadAt(head[:], base+value); err != nil {
		return err
	}
	if root := order.Uint64(head[:]); root != 0 {
		w.todo = append(w.todo, root)
		return nil
	}
	if valueLen > w.meta.pageSize {
		return errors.New("an inline bucket longer than a page")
	}
	inline := make([]byte, valueLen-bucketSize)
	if _, err := w.r.ReadAt(inline, base+value+bucketSize); err != nil {
		return err
	}
	return verifyInline(inline)
}

// verifyInline checks a bucket that is kept inside its parent's value: one leaf
// without further buckets.
func verifyInline(b []byte) error {
	order := binary.NativeEndian
	if len(b) < pageHeaderSize {
		return errors.New("an inline bucket without a page")
	}
	count := int(order.Uint16(b[10:]))
	if order.Uint16(b[8:]) != leafPage || pageHeaderSize+count*elementSize > len(b) {
		return errors.New("an inline bucket that is no leaf")
	}
	for i := range count {
		start := pageHeaderSize + i*elementSize
		e := b[start:]
		end := int64(start) + int64(order.Uint32(e[4:])) + int64(order.Uint32(e[8:])) + int64(order.Uint32(e[12:]))
		if order.Uint32(e)&bucketLeaf != 0 || end > int64(len(b)) {
			return fmt.Errorf("an inline bucket whose element %d does not fit", i)
		}
	}
	return nil
}

// visitFreelist verifies that no free page is in use, outside the file or
// listed twice.
func (w *pageWalk) visitFreelist(id uint64) error {
	h, err := w.enter(id)
	if err != nil {
		return err
	}
	if h.flags != freelistPage {
		return fmt.Errorf("flags %#x are no free list", h.flags)
	}
	total := int64(h.overflow+1) * w.meta.pageSize //nolint:gosec // bounded by the file
	if err := w.read(id, total); err != nil {
		return err
	}
	order := binary.NativeEndian
	ids, count := w.page[pageHeaderSize:], uint64(h.count) //nolint:gosec // a count is never negative
	if h.count == longFreelist {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return fmt.Errorf("%d entries do not fit", count)
	}
	for i := range count {
		free := order.Uint64(ids[8*i:])
		if free < firstPage || free >= w.meta.highWater {
			return fmt.Errorf("free page %d is outside the used part of the file", free)
		}
		if !w.claim(free) {
			return fmt.Errorf("free page %d is in use or listed twice", free)
		}
	}
	return nil
}
