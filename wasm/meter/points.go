package meter

import "math"

// slack is how many units a point may charge for code that a branch may skip.
// With more of it there are fewer points to pass and the charge is further from
// what runs.
const slack = 256

// point is a place in a body where the budget is charged for the code ahead.
type point struct {
	at        int   // offset in the module of the instruction behind it
	cost      int64 // 0 if it is not needed
	skippable int64 // the part of cost that a branch may skip
	outer     int   // the point that was in force before this one; -1 for none
	must      bool  // function entry or loop head
}

// scope is the function, or a block, loop or if that the walk is inside of.
type scope struct {
	op     byte // of what began it; opBlock for the function
	before int  // the point in force when it began
	escape int  // the outermost scope that a branch from inside goes to the end of
	dead   bool // what comes next in it cannot run
}

const noEscape = math.MaxInt

// planner finds the points of one body after the other.
type planner struct {
	m      *module
	points []point // in the order of their offsets
	scopes []scope
	now    int  // the point in force, an index of points
	length bool // an instruction is charged by length
}

// plan fills points for the body that r is at. A body that does not keep to
// the rules of nesting is a fault of r.
func (p *planner) plan(r *reader, entry int64, locals uint32) {
	p.points = append(p.points[:0], point{at: r.at, cost: entry, outer: -1, must: true})
	p.scopes = append(p.scopes[:0], scope{op: opBlock, before: -1, escape: noEscape})
	p.now, p.length = 0, false
	for len(p.scopes) > 0 && r.more() {
		start := r.at
		in := r.instruction()
		p.m.checkIndex(r, start, in, locals)
		if !r.ok() {
			return
		}
		p.length = p.length || in.lengthy()
		if in.op == opElse && p.scopes[len(p.scopes)-1].op != opIf {
			r.failAt(start, "else without if")
			return
		}
		p.step(in, r.at)
	}
	if len(p.scopes) > 0 || r.at != len(r.b) {
		r.fail("the body does not end where it says")
	}
}

// step takes one instruction into account; next is the offset behind it.
func (p *planner) step(in instruction, next int) {
	top := len(p.scopes) - 1
	s := &p.scopes[top]
	if !s.dead {
		p.points[p.now].cost += p.m.fixedCost(in)
	}
	switch in.op {
	case opBlock, opIf, opLoop:
		p.scopes = append(p.scopes, scope{op: in.op, before: p.now, escape: noEscape, dead: s.dead})
		if !s.dead && in.op != opBlock {
			p.open(next, in.op == opLoop)
		}
	case opElse:
		p.closeTo(s.before)
		s.op = opElse
		if s.dead = p.scopes[top-1].dead; !s.dead {
			p.open(next, false)
		}
	case opEnd:
		p.end(next)
	case opBrIf, opBr, opBrTable:
		s.escape = min(s.escape, max(0, top-int(min(in.index, math.MaxInt32))))
		s.dead = s.dead || in.op != opBrIf
		if !s.dead {
			p.open(next, false)
		}
	case opReturn, opUnreachable:
		s.escape, s.dead = 0, true
	}
}

// end leaves the innermost scope. When something inside it branches further
// out, what follows it is code that a branch may skip.
func (p *planner) end(next int) {
	top := len(p.scopes) - 1
	s := p.scopes[top]
	p.scopes = p.scopes[:top]
	p.closeTo(s.before)
	if top == 0 || s.escape >= top {
		return
	}
	outer := &p.scopes[top-1]
	outer.escape = min(outer.escape, s.escape)
	if !outer.dead {
		p.open(next, false)
	}
}

// open puts a new point into force.
func (p *planner) open(at int, must bool) {
	p.points = append(p.points, point{at: at, outer: p.now, must: must})
	p.now = len(p.points) - 1
}

// closeTo ends the points that were opened since another was in force, the
// last first. One that need not be there is dropped when the point before it
// may charge for its code too.
func (p *planner) closeTo(before int) {
	for p.now != before {
		q := &p.points[p.now]
		if !q.must {
			if o := &p.points[q.outer]; o.skippable+q.cost <= slack {
				o.cost += q.cost
				o.skippable += q.cost
				q.cost = 0
			}
		}
		p.now = q.outer
	}
}
