package gatewright.ranking_test

import data.gatewright.ranking

at := {
	"request": {"now_unix_ms": 1000},
	"candidates": [
		{"id": "soon", "quota_left_ppm": 500000, "quota_reset_unix_ms": 2000},
		{"id": "later", "quota_left_ppm": 900000, "quota_reset_unix_ms": 9000},
		{"id": "empty", "quota_left_ppm": 10000, "quota_reset_unix_ms": 1500},
		{"id": "past", "quota_left_ppm": 900000, "quota_reset_unix_ms": 900},
		{"id": "none", "quota_left_ppm": 900000},
	],
}

test_the_first_reset_comes_first if {
	ranking.score == {"soon": 1000, "later": 8000} with input as at
		with data.params as {}
}

test_the_floor_can_be_set if {
	s := ranking.score with input as at
		with data.params as {"floor_ppm": 0}
	s.empty == 500
}
