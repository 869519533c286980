package gatewright.admission

pairs contains sprintf("%s-%s-%s", [a.id, b.id, c.id]) if {
	some a in input.candidates
	some b in input.candidates
	some c in input.candidates
}

deny contains {"code": "x"} if count(pairs | {p | some q in pairs; p := upper(q)}) == 3

# want: stopped
