package gatewright.admission

deny contains {"code": "crowd", "message": sprintf("%s has %d candidates", [input.request.team, n])} if {
	n := count(input.candidates)
	n > data.limits.candidates
}
