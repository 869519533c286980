package gatewright.ranking_test

import data.gatewright.ranking

candidates := [
	{"id": "cheap", "price": 1000000000, "ttft_ms": 2000},
	{"id": "quick", "price": 2000000000, "ttft_ms": 100},
]

test_time_counts if {
	s := ranking.score with input.candidates as candidates
		with data.params as {}
	s.quick < s.cheap
}

test_time_can_be_worth_nothing if {
	s := ranking.score with input.candidates as candidates
		with data.params as {"nusd_per_ms": 0}
	s.cheap < s.quick
}
