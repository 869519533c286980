# Says who may serve a request. This one keeps requests to the hours of the day, in
# UTC, that its binding names, and those that must stay in a region there.
#
# Parameters, all optional:
#
#     from, to    hours between which requests are served; default: all day
#
# What is in input: docs/wasm-abi.md.
package gatewright.admission

from := object.get(data.params, "from", 0)

to := object.get(data.params, "to", 24)

open if {
	input.request.hour >= from
	input.request.hour < to
}

region := object.get(input.request.metadata, "region", "")

# One decision about the whole pool. An empty one allows all; without any the
# request would be refused, so there is always a last else.
decision := {"refuse": {
	"code": "closed",
	"message": sprintf("requests are served from %d to %d o'clock", [from, to]),
	"status": 403,
}} if {
	not open
} else := {"only": {"region": {"values": [region], "reason": "other_region"}}} if {
	region != ""
} else := {}
