# The twin of the built-in sort key price.
#
# What the caller pays, three times input and once output: the lower the better.
package gatewright.ranking

score[c.id] := c.price if some c in input.candidates
