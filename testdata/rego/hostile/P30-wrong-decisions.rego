package gatewright.admission

decision := "allow" if {
	input.request.hour == 1
} else := 5 if {
	input.request.hour == 2
} else := null if {
	input.request.hour == 3
} else := {"olny": {}} if {
	input.request.hour == 4
} else := {"only": {"regoin": {"values": [], "reason": "x"}}} if {
	input.request.hour == 5
} else := {"limits": {"max_cost": {"value": 1, "reason": "x"}}} if {
	input.request.hour == 6
} else := {"refuse": {"message": "x"}}

# want: refused 3 a text, not an object
# want: refused 5 a number, not an object
# want: refused 7 null, not an object
# want: refused 9 olny
# want: refused 11 regoin
# want: refused 13 max_cost
# want: refused 15 code
