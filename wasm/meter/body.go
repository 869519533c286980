package meter

// bodyWriter writes bodies with the charges in them, one after the other.
//
// A body becomes
//
//	block              ;; to leave this one is the trap
//	  block (results)  ;; takes the place of the function: same label, same type
//	    the body
//	  end
//	  return
//	end
//	unreachable
//
// so that all charges of a function share one trap, which keeps the code dense.
// The type of the inner block cannot be written down in place for more than
// one result; then each charge has a trap of its own.
type bodyWriter struct {
	planner
	out     []byte
	scratch uint32 // the local for a length that is needed twice
	shared  bool   // all charges share one trap
	depth   int    // how many blocks of the body the next instruction is inside of
}

// write returns the body that r is at with charges in it, without its size in
// front. The result is good until the next call.
func (w *bodyWriter) write(r *reader, t funcType) []byte {
	groups := r.u32()
	start := r.at
	locals := min(t.params, maxLocals)
	for n := groups; n > 0 && r.ok(); n-- {
		k := r.u32()
		if k > maxLocals-locals {
			r.fail("too many locals")
			return nil
		}
		locals += k
		r.byte()
	}
	if !r.ok() {
		return nil
	}
	declared := r.b[start:r.at]
	ahead := *r
	w.scratch = locals
	w.plan(&ahead, costFrame+int64(locals)+costResult*int64(t.results), locals)
	if r.fault = ahead.fault; r.fault != nil {
		return nil
	}
	if w.length {
		groups++
	}
	w.out = append(appendUnsigned(w.out[:0], groups), declared...)
	if w.length {
		w.out = append(w.out, 1, typeI32)
	}
	if w.shared = t.results <= 1; !w.shared {
		w.copy(r)
		return w.out
	}
	w.out = append(w.out, opBlock, blockVoid, opBlock, t.result)
	w.copy(r)
	w.out = append(w.out, opReturn, opEnd, opUnreachable, opEnd)
	return w.out
}

// copy writes the instructions and, between them, the charges.
func (w *bodyWriter) copy(r *reader) {
	w.depth = 0
	points := w.points
	for r.more() {
		for ; len(points) > 0 && points[0].at == r.at; points = points[1:] {
			if cost := points[0].cost; cost > 0 {
				w.left()
				w.out = appendSigned(append(w.out, opI64Const), cost)
				w.spend()
			}
		}
		start := r.at
		in := r.instruction()
		if in.lengthy() {
			w.chargeLength(in)
		}
		w.out = append(w.out, r.b[start:r.at]...)
		switch in.op {
		case opBlock, opLoop, opIf:
			w.depth++
		case opEnd:
			w.depth--
		}
	}
}

// chargeLength writes a charge for the number on top of the stack, which it
// leaves there.
func (w *bodyWriter) chargeLength(in instruction) {
	w.out = appendUnsigned(append(w.out, opLocalTee), w.scratch)
	w.left()
	w.out = appendUnsigned(append(w.out, opLocalGet), w.scratch)
	w.out = append(w.out, opExtendU)
	if shift, bits := in.lengthCost(); bits > 0 {
		w.out = append(appendSigned(append(w.out, opI64Const), bits), shift)
	}
	w.spend()
}

// left pushes what is left of the budget.
func (w *bodyWriter) left() {
	w.out = appendUnsigned(append(w.out, opGlobalGet), w.m.globals)
}

// spend takes the top of the stack from the budget under it, stores what is
// left and traps if that is negative.
func (w *bodyWriter) spend() {
	w.out = appendUnsigned(append(w.out, opI64Sub, opGlobalSet), w.m.globals)
	w.left()
	w.out = append(w.out, opI64Const, 0, opI64LtS)
	if w.shared {
		// Past the blocks of the body and the one that stands for the function.
		w.out = appendUnsigned(append(w.out, opBrIf), w.depth+1)
		return
	}
	w.out = append(w.out, opIf, blockVoid, opUnreachable, opEnd)
}
