package gatewright.ranking_test

import data.gatewright.ranking

candidates := [
	{"id": "dear", "price": 900, "samples": 100, "success_ppm": 999000},
	{"id": "cheap", "price": 100, "samples": 100, "success_ppm": 990000},
	{"id": "bad", "price": 1, "samples": 100, "success_ppm": 980000},
	{"id": "worse", "price": 1, "samples": 100, "success_ppm": 500000},
	{"id": "new", "price": 50, "samples": 3, "success_ppm": 300000},
]

test_the_cheapest_that_holds if {
	s := ranking.score with input.candidates as candidates
		with data.params as {}
	s.cheap < s.dear
}

test_failing_ones_come_last if {
	s := ranking.score with input.candidates as candidates
		with data.params as {}
	s.dear < s.bad
	s.bad < s.worse
}

test_too_few_requests_do_not_count if {
	ranking.score["new"] == 50 with input.candidates as candidates
		with data.params as {}
}

test_the_rate_can_be_set if {
	s := ranking.score with input.candidates as candidates
		with data.params as {"success_ppm": 400000}
	s.worse == 1
}
