# The twin of the built-in sort key reliability.
#
# The success rate: the higher the better.
package gatewright.ranking

score[c.id] := 0 - c.success_ppm if some c in input.candidates
