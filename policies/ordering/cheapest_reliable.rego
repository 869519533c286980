# The cheapest deployment that has held its success rate.
#
# A deployment with enough requests behind it and a success rate below the one
# that is asked for comes after all others, the better of them first. One with
# too few requests to tell is taken at its word.
#
# Parameters, all optional:
#
#     success_ppm    the success rate to hold, in millionths; default: 990000 (99 %)
#     samples        the requests that it takes to tell; default: 20
package gatewright.ranking

want := object.get(data.params, "success_ppm", 990000)

enough := object.get(data.params, "samples", 20)

failing(c) if {
	c.samples >= enough
	c.success_ppm < want
}

# More than any price: 10,000 USD for a million tokens, in nano-USD.
unreliable := 10000000000000

score[c.id] := c.price if {
	some c in input.candidates
	not failing(c)
}

score[c.id] := unreliable * (want - c.success_ppm) if {
	some c in input.candidates
	failing(c)
}
