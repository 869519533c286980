package gatewright.ranking

order := [id |
	some a in input.candidates
	some b in input.candidates
	some c in input.candidates
	id := concat("-", [a.id, b.id, c.id])
]

# want: stopped
