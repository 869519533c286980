package gatewright.admission

deny contains {"code": "x"} if {
	some a in input.candidates
	some b in input.candidates
	some c in input.candidates
	a.price + b.price == c.price + 1
}

# want: stopped
