# The twin of the built-in sort key in_flight.
#
# Requests running now: the fewer the better.
package gatewright.ranking

score[c.id] := c.in_flight if some c in input.candidates
