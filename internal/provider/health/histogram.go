package health

// cells is the number of cells of a histogram.
const cells = 185

// bounds[i] is the smallest value of cell i+1, cell 0 takes what is smaller
// than all. Each is a tenth above the last, in whole numbers, so every machine
// has the same ones: from 100 µs in nanoseconds (or 0.1 token/s in
// micro-tokens per second) to about an hour (or 3.7 million tokens/s).
//
// Stored records refer to cells by number: to change the bounds, change
// slotVersion.
var bounds = makeBounds()

func makeBounds() (b [cells - 1]int64) {
	const first = 100_000
	b[0] = first
	for i := 1; i < len(b); i++ {
		b[i] = b[i-1] + b[i-1]/10
	}
	return b
}

// cell returns the number of the cell that a value falls into.
func cell(v int64) int {
	lo, hi := 0, len(bounds) // bounds[:lo] ≤ v < bounds[hi:]
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bounds[mid] <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// middle returns the value that stands for a cell: the one whose relative
// distance to both bounds is the same, 1/21.
func middle(cell int) int64 {
	switch cell {
	case 0:
		return bounds[0]
	case cells - 1:
		return bounds[cells-2]
	}
	lo, hi := float64(bounds[cell-1]), float64(bounds[cell])
	return int64(2 * lo * hi / (lo + hi))
}

// counts is one histogram of one slot.
type counts [cells]uint32

// histogram is the sum of the slots of a window.
type histogram struct {
	total uint64
	cells [cells]uint64
}

func (h *histogram) add(v int64) {
	h.total++
	h.cells[cell(v)]++
}

// merge adds the counts of a slot.
func (h *histogram) merge(c *counts) {
	for i, n := range c {
		h.cells[i] += uint64(n)
		h.total += uint64(n)
	}
}

// remove takes away the counts of a slot that was merged or added before.
func (h *histogram) remove(c *counts) {
	for i, n := range c {
		h.cells[i] -= uint64(n)
		h.total -= uint64(n)
	}
}

// slowest returns the value that 95 of 100 keep to, of few the largest; 0 when
// there is none.
func (h *histogram) slowest() int64 {
	rank := h.total - h.total/20 // from 1
	var seen uint64
	for i, n := range h.cells {
		if seen += n; n > 0 && seen >= rank {
			return middle(i)
		}
	}
	return 0
}

// median returns the middle value, of an even number the mean of the middle
// two; 0 when there is none.
func (h *histogram) median() int64 {
	if h.total == 0 {
		return 0
	}
	low, high := (h.total+1)/2, h.total/2+1 // ranks from 1
	var seen uint64
	first := -1
	for i, n := range h.cells {
		seen += n
		if first < 0 && seen >= low {
			first = i
		}
		if seen >= high {
			a, b := middle(first), middle(i)
			return a + (b-a)/2
		}
	}
	return 0
}
