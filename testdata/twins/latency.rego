# The twin of the built-in sort key latency.
#
# The median time to first token: the lower the better.
package gatewright.ranking

score[c.id] := c.ttft_ms if some c in input.candidates
