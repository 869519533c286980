package gatewright.admission

deny contains {"code": "x"} if {
	some c in input.candidates
	trace(c.id)
}

# want: refused 5 trace
