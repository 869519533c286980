# The twin of the built-in sort key throughput.
#
# The median speed of output: the higher the better.
package gatewright.ranking

score[c.id] := 0 - c.throughput_tps_milli if some c in input.candidates
