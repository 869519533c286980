# Refuses requests outside of working hours.
#
# Parameters, all optional:
#
#     zone      the time zone, like "Europe/Berlin"; default: UTC
#     from, to  the first hour that is open and the first that is not; default: 8 and 18
#     days      the days that are open, like ["Monday"]; default: Monday to Friday
#     exempt    teams that may always work
#
# A policy has no clock of its own: the time is that of the request, so that a
# decision can be looked at again later.
package gatewright.admission

zone := object.get(data.params, "zone", "UTC")

days := object.get(data.params, "days", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"])

exempt if input.request.team in object.get(data.params, "exempt", [])

# time.* count in nanoseconds.
now := [input.request.now_unix_ms * 1000000, zone]

hour := time.clock(now)[0]

day := time.weekday(now)

open if {
	day in days
	hour >= object.get(data.params, "from", 8)
	hour < object.get(data.params, "to", 18)
}

# `not open` is true also if anything above had no value: what is not known to be
# open is closed.
deny contains {
	"code": "closed",
	"message": sprintf("closed: it is %s, %d o'clock (%s)", [day, hour, zone]),
	"status": 403,
} if {
	not exempt
	not open
}
