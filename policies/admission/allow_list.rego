# Allows only deployments that are approved for the class of the request's data.
#
# Each deployment lists what it is approved for in its tag `approved`, with commas
# between: `approved: public,internal`. A request names the class of its data in
# its tag `data_class`; without one it counts as the parameter `default` says,
# else as "restricted". A deployment without the tag is approved for nothing.
#
# This policy looks at each candidate by itself. With many deployments, give each
# of them one class and decide by the facet tag.approved instead: see
# tier_by_team.rego for a decision about a facet.
package gatewright.admission

class := object.get(input.request.tags, "data_class", object.get(data.params, "default", "restricted"))

# The default of object.get is what makes a deployment without the tag go:
# c.tags.approved alone would be undefined there, and `not` of something
# undefined is undefined too.
approved(c) := split(object.get(c.tags, "approved", ""), ",")

exclude contains {"id": c.id, "reason": "not_approved"} if {
	some c in input.candidates
	not class in approved(c)
}
