package gatewright.admission_test

import data.gatewright.admission

tiers := {"low_nusd": 5000, "low_tiers": ["economy"]}

test_nothing_left_is_refused if {
	d := admission.decision with input.caller.budget_left_nusd as 0
		with data.params as tiers
	d.refuse.status == 402
	d.refuse.code == "budget_exhausted"
}

test_low_is_kept_on_cheap_tiers if {
	d := admission.decision with input.caller.budget_left_nusd as 4999
		with data.params as tiers
	d.only.supply_tier.values == ["economy"]
	d.limits.max_cost_nusd.value == 4999
}

test_enough_is_limited_by_cost_alone if {
	d := admission.decision with input.caller.budget_left_nusd as 5000
		with data.params as tiers
	d == {"limits": {"max_cost_nusd": {"value": 5000, "reason": "over_budget"}}}
}

test_low_without_tiers_is_not_restricted if {
	d := admission.decision with input.caller.budget_left_nusd as 10
		with data.params as {}
	object.keys(d) == {"limits"}
}
