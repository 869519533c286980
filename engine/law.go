package engine

import "slices"

// keepLaw makes the order a permutation of the admitted pool, whatever the
// rules returned: indexes that are not admitted or appear again are dropped,
// admitted ones that are not named follow in the order of the pool. It returns
// the order and whether it had to be mended.
func keepLaw(order []int, pool []Candidate, seen []int) (kept, scratch []int, mended bool) {
	scratch = slices.Grow(seen[:0], len(pool))[:len(pool)]
	clear(scratch)
	kept = order[:0]
	for _, i := range order {
		if i < 0 || i >= len(pool) || pool[i].Skipped != nil || scratch[i] != 0 {
			mended = true
			continue
		}
		scratch[i] = 1
		kept = append(kept, i)
	}
	for i := range pool {
		if pool[i].Skipped == nil && scratch[i] == 0 {
			mended = true
			kept = append(kept, i)
		}
	}
	return kept, scratch, mended
}
