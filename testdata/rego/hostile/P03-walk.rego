package gatewright.admission

deny contains {"code": "x"} if {
	walk(input.candidates, [p, v])
	walk(input.candidates, [q, w])
	p == q
	v != w
}

# want: refused 4 walk
# want: refused 5 walk
