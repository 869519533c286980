package gatewright.admission_test

import data.gatewright.admission

params := {"teams": {"search": ["premium", "standard"]}, "default": ["economy"]}

of(team) := {"request": {"team": team}}

test_team_has_its_tiers if {
	d := admission.decision with input as of("search")
		with data.params as params
	d.only.supply_tier.values == ["premium", "standard"]
}

test_other_teams_have_the_default if {
	d := admission.decision with input as of("ads")
		with data.params as params
	d.only.supply_tier.values == ["economy"]
}

test_without_a_default_other_teams_are_refused if {
	d := admission.decision with input as of("ads")
		with data.params as {"teams": {}}
	d.refuse.code == "no_supply_tier"
}
