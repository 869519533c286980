# Keeps a request in the region that it names in its metadata:
#
#     "metadata": {"residency": "eu"}
#
# This is an admission policy: it removes deployments, and cannot order them. What
# it removed is printed as "left out: policy:residency". Edit it and save: the
# gateway checks it and uses it, or says in which line it is wrong and goes on with
# the one before.
package gatewright.admission

residency := object.get(input.request.metadata, "residency", "")

decision := {"only": {"region": {"values": [residency], "reason": "elsewhere"}}} if {
	residency != ""
} else := {}
