package gatewright.admission_test

import data.gatewright.admission

candidates := [
	{"id": "a", "tags": {"approved": "public,internal"}},
	{"id": "b", "tags": {"approved": "public"}},
	{"id": "c", "tags": {}},
]

asks(tags) := {"request": {"tags": tags}, "candidates": candidates}

ids contains e.id if some e in admission.exclude

test_class_of_the_request if {
	ids == {"b", "c"} with input as asks({"data_class": "internal"})
		with data.params as {}
}

test_untagged_deployments_are_never_approved if {
	ids == {"c"} with input as asks({"data_class": "public"})
		with data.params as {}
}

test_requests_without_a_class_are_restricted if {
	ids == {"a", "b", "c"} with input as asks({})
		with data.params as {}
}

test_the_default_can_be_set if {
	ids == {"c"} with input as asks({})
		with data.params as {"default": "public"}
}
