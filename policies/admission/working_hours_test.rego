package gatewright.admission_test

import data.gatewright.admission

# Wednesday, 2025-01-15, 17:30 UTC: 18:30 in Berlin.
at(team) := {"request": {"team": team, "now_unix_ms": 1736962200000}}

test_open_in_utc if {
	count(admission.deny) == 0 with input as at("search")
		with data.params as {}
}

test_closed_in_berlin if {
	some d in admission.deny with input as at("search")
		with data.params as {"zone": "Europe/Berlin"}
	d.code == "closed"
	contains(d.message, "Wednesday, 18")
}

test_closed_on_other_days if {
	count(admission.deny) == 1 with input as at("search")
		with data.params as {"days": ["Monday"]}
}

test_exempt_teams_are_always_open if {
	count(admission.deny) == 0 with input as at("oncall")
		with data.params as {"zone": "Europe/Berlin", "exempt": ["oncall"]}
}
