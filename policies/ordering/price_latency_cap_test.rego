package gatewright.ranking_test

import data.gatewright.ranking

candidates := [
	{"id": "dear", "price": 900, "ttft_ms": 300},
	{"id": "cheap", "price": 100, "ttft_ms": 1500},
	{"id": "slow", "price": 1, "ttft_ms": 1600},
	{"id": "slower", "price": 1, "ttft_ms": 4000},
]

test_price_decides_within_the_cap if {
	s := ranking.score with input.candidates as candidates
		with data.params as {}
	s.cheap < s.dear
	s.cheap == 100
}

test_late_ones_come_last_by_lateness if {
	s := ranking.score with input.candidates as candidates
		with data.params as {}
	s.dear < s.slow
	s.slow < s.slower
}

test_the_cap_can_be_set if {
	s := ranking.score with input.candidates as candidates
		with data.params as {"ttft_ms": 2000}
	s.slow < s.cheap
}
