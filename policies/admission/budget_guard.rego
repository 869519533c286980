# Keeps callers within their budget.
#
# A caller with nothing left is refused with status 402. A caller that runs low
# is kept on the supply tiers that are named for that, and nobody is sent to a
# deployment that would cost more than the caller has left.
#
# Parameters, all optional:
#
#     low_nusd      below so much (nano-USD) a caller runs low; default: 1 USD
#     low_tiers     supply tiers for callers that run low; default: no restriction
#
# The answer is one decision for the whole pool, so its cost does not grow with
# the number of deployments. A caller without a budget has the largest number
# left, and nothing here applies.
package gatewright.admission

left := input.caller.budget_left_nusd

low if left < object.get(data.params, "low_nusd", 1000000000)

low_tiers := object.get(data.params, "low_tiers", [])

# What a caller cannot pay is out of reach, whatever else holds. A deployment
# without a known price stays.
limits := {"max_cost_nusd": {"value": left, "reason": "over_budget"}}

decision := {"refuse": {
	"code": "budget_exhausted",
	"message": "the budget of this key is used up",
	"status": 402,
}} if {
	left <= 0
} else := {
	"only": {"supply_tier": {"values": low_tiers, "reason": "budget_low"}},
	"limits": limits,
} if {
	low
	count(low_tiers) > 0
} else := {"limits": limits}
