package gatewright.admission

deny contains {"code": "x"} if {
	some c in input.candidates
	print(c.id, c.tags, input.request.model)
	c.id == "nobody"
}

# want: runs {"deny":[]}
