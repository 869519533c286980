# Keeps requests in the regions that their residency allows.
#
# A request says where it must stay with the tag `residency`. A value that nobody
# has set up is refused: a misspelt one must not let the request go anywhere.
#
# Parameters:
#
#     regions    the regions of each residency, like {"eu": ["eu-west", "eu-central"]}
#     default    the residency of requests without the tag; default: none, so
#                that they may go anywhere
package gatewright.admission

residency := object.get(input.request.tags, "residency", object.get(data.params, "default", ""))

# The regions are looked up with a default, so that there is always a value: a
# lookup that finds nothing would be undefined, and so would all that uses it.
regions := object.get(data.params.regions, residency, [])

decision := {} if {
	residency == ""
} else := {"refuse": {
	"code": "unknown_residency",
	"message": sprintf("no regions are set up for the residency %q", [residency]),
	"status": 400,
}} if {
	count(regions) == 0
} else := {"only": {"region": {"values": regions, "reason": "residency"}}}
