# The twin of the built-in sort key input_price.
#
# What the caller pays for input alone: the lower the better.
package gatewright.ranking

score[c.id] := c.price_in if some c in input.candidates
