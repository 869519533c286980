# Gives each team its supply tiers.
#
# Parameters:
#
#     teams      the supply tiers of each team, like {"search": ["premium", "standard"]}
#     default    those of all other teams; default: none, so that they are refused
#
# The answer depends on the team alone, so the gateway keeps it and asks again
# only for a team that it has not seen.
package gatewright.admission

tiers := object.get(data.params.teams, input.request.team, object.get(data.params, "default", []))

decision := {"refuse": {
	"code": "no_supply_tier",
	"message": sprintf("the team %q has no supply tier", [input.request.team]),
}} if {
	count(tiers) == 0
} else := {"only": {"supply_tier": {"values": tiers, "reason": "supply_tier_of_team"}}}
