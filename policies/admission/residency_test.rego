package gatewright.admission_test

import data.gatewright.admission

params := {"regions": {"eu": ["eu-west", "eu-central"], "ch": ["ch-north"]}}

request(tags) := {"request": {"tags": tags}}

test_residency_names_the_regions if {
	d := admission.decision with input as request({"residency": "eu"})
		with data.params as params
	d == {"only": {"region": {"values": ["eu-west", "eu-central"], "reason": "residency"}}}
}

test_without_a_tag_anywhere if {
	d := admission.decision with input as request({})
		with data.params as params
	d == {}
}

test_default_is_for_requests_without_a_tag if {
	d := admission.decision with input as request({})
		with data.params as object.union(params, {"default": "ch"})
	d.only.region.values == ["ch-north"]
}

test_unknown_residency_is_refused if {
	d := admission.decision with input as request({"residency": "uk"})
		with data.params as params
	d.refuse.status == 400
	contains(d.refuse.message, "uk")
}
