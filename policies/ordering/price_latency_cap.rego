# The cheapest deployment that answers fast enough.
#
# A score is a number for each candidate, the lower the earlier. Here it is the
# price; a deployment whose first token takes longer than the cap comes after
# all that keep to it, those that miss it by less first.
#
# Parameters, all optional:
#
#     ttft_ms    the cap on the median time to the first token; default: 1500
#
# A ranking is given the median of the pool for a deployment that nobody has
# measured or priced, so a new one is neither preferred nor punished.
package gatewright.ranking

cap := object.get(data.params, "ttft_ms", 1500)

# More than any price: 10,000 USD for a million tokens, in nano-USD.
late := 10000000000000

score[c.id] := c.price if {
	some c in input.candidates
	c.ttft_ms <= cap
}

score[c.id] := late * (c.ttft_ms - cap) if {
	some c in input.candidates
	c.ttft_ms > cap
}
