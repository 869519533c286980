# The twin of the built-in sort key quota_left.
#
# The share of the quota that is left: the more the better.
package gatewright.ranking

score[c.id] := 0 - c.quota_left_ppm if some c in input.candidates
