# The twin of the built-in check cost_cap. A policy does not see the caps of the
# configuration: its own is the parameter max_cost_nusd, 0 = none.
#
# A candidate on which the request is likely to cost more may not serve. A price
# that nobody knows removes nobody.
package gatewright.admission

most := object.get(data.params, "max_cost_nusd", 0)

exclude contains {"id": c.id, "reason": "cost_cap"} if {
	most > 0
	some c in input.candidates
	c.est_cost_nusd > most
}
