# Refuses requests outside the hours that the binding names, in UTC.
package gatewright.admission

deny contains {"code": "after_hours", "message": "come back in office hours"} if {
	input.request.hour < data.params.from
}

deny contains {"code": "after_hours", "message": "come back in office hours"} if {
	input.request.hour >= data.params.to
}
