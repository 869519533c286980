package check

import "slices"

// effort estimates what the functions cost the engine's compiler where that is
// not linear in the size of the code.
//
// It walks back from each use of a local, basic block by basic block, to where
// the value is known, and from the end of each loop for each local that the
// loop uses: up to 2 µs a step. And it looks from each block of a function at
// those before it: up to 6 ns a pair. Both were measured on modules that were
// made to be slow; code of ordinary compilers costs it a tenth.
//
// Blocks are numbered through the whole module, so that what one function
// leaves behind needs no clearing for the next.
type effort struct {
	walk  int64 // steps
	pairs int64
	off   bool // stop counting: it is too much already

	block int64 // the number of the current basic block
	first int64 // the function's first

	open   []region
	closed []span // regions that ended inside the innermost open one, in order
	writes []change
	uses   []change
	locals []known
}

// region is a block, loop or if that has not ended.
type region struct {
	first  int64
	loop   bool
	writes int // where the region's part of effort.writes begins
	uses   int // where the region's part of effort.uses begins
	closed int // where the regions that ended inside this one begin
}

type span struct{ first, last int64 }

// known is the last block in which the value of a local is known, and the
// region for which a write of it was noted last.
type known struct{ block, noted int64 }

// change is a local that is set or used in a region, and where its value was
// known before. When the region ends, whoever uses a local that was set in it
// must look behind the region again.
type change struct{ local, before int64 }

// stepsOfCharge is what a place where the budget is charged costs, in steps.
const stepsOfCharge = 8

// begin starts a function with so many locals.
func (e *effort) begin(locals int64) {
	if e.off {
		return
	}
	e.walk += locals
	e.block++
	e.first = e.block
	e.open, e.closed, e.writes, e.uses = e.open[:0], e.closed[:0], e.writes[:0], e.uses[:0]
	for int64(len(e.locals)) < locals {
		e.locals = append(e.locals, known{})
	}
}

// end finishes it.
func (e *effort) end() {
	if e.off {
		return
	}
	blocks := e.block - e.first + 1
	e.walk += blocks
	e.pairs += blocks * blocks
}

// step begins basic blocks.
func (e *effort) step(blocks int64) { e.block += blocks }

// charge is a place where the budget is charged, which makes two blocks more.
func (e *effort) charge() {
	e.walk += stepsOfCharge
	e.step(2)
}

// bulk is an instruction that the engine makes a loop of.
func (e *effort) bulk() {
	e.charge()
	e.walk += stepsOfCharge
	e.step(4)
}

// enter begins a region.
func (e *effort) enter(loop bool) {
	if e.off {
		return
	}
	e.step(2)
	if loop {
		e.charge()
	}
	e.open = append(e.open, region{e.block, loop, len(e.writes), len(e.uses), len(e.closed)})
}

// leave ends a region.
func (e *effort) leave() {
	if e.off {
		return
	}
	r := e.open[len(e.open)-1]
	e.open = e.open[:len(e.open)-1]
	if r.loop {
		e.leaveLoop(r)
	}
	writes := e.writes[r.writes:]
	e.writes = e.writes[:r.writes]
	for _, w := range writes {
		e.walk++
		e.locals[w.local].block = w.before
		e.note(w.local, w.before)
	}
	e.closed = append(e.closed[:r.closed], span{r.first, e.block})
	e.step(1)
}

// leaveLoop walks back from the end of a loop for each local that it uses, and
// leaves those to the loop around it that come from outside that one too.
func (e *effort) leaveLoop(r region) {
	outer := int64(0) // the first block of the loop around
	for i := len(e.open) - 1; i >= 0 && outer == 0; i-- {
		if e.open[i].loop {
			outer = e.open[i].first
		}
	}
	kept := e.uses[:r.uses]
	for _, u := range e.uses[r.uses:] {
		e.walk += 1 + e.block - e.where(u.local)
		if u.before < outer {
			kept = append(kept, u)
		}
	}
	e.uses = kept
}

// note remembers that a local is set in the innermost region and was known
// before it.
func (e *effort) note(local, before int64) {
	if len(e.open) == 0 {
		return
	}
	k, r := &e.locals[local], e.open[len(e.open)-1]
	if before < r.first && k.noted != r.first {
		k.noted = r.first
		e.writes = append(e.writes, change{local, before})
	}
}

// where returns the block at which a walk for the local stops: the one in
// which it is known, or the first of the region that ended with that block
// inside.
func (e *effort) where(local int64) int64 {
	b := max(e.locals[local].block, e.first)
	i, _ := slices.BinarySearchFunc(e.closed, b, func(s span, b int64) int {
		if s.last < b {
			return -1
		}
		return 1
	})
	if i < len(e.closed) && e.closed[i].first <= b {
		return e.closed[i].first
	}
	return b
}

// use is a read of a local.
func (e *effort) use(local int64) {
	if e.off {
		return
	}
	b := e.where(local)
	e.walk += e.block - b
	e.locals[local].block = e.block
	for i := len(e.open) - 1; i >= 0 && e.open[i].first > b; i-- {
		e.walk++
		if e.open[i].loop {
			e.uses = append(e.uses, change{local, b})
			return
		}
	}
}

// set is a write of a local.
func (e *effort) set(local int64) {
	if e.off {
		return
	}
	e.note(local, e.where(local))
	e.locals[local].block = e.block
}
