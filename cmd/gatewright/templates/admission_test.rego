package gatewright.admission_test

import data.gatewright.admission

asks(hour, metadata) := {"request": {"hour": hour, "metadata": metadata}}

test_open_all_day if {
	admission.decision == {} with input as asks(3, {})
		with data.params as {}
}

test_closed if {
	d := admission.decision with input as asks(20, {})
		with data.params as {"from": 8, "to": 20}
	d.refuse.code == "closed"
}

test_kept_in_a_region if {
	d := admission.decision with input as asks(12, {"region": "eu"})
		with data.params as {}
	d.only.region.values == ["eu"]
}
