# Says who is tried first: it gives each candidate a score, and the lowest is tried
# first. This one weighs the price of a million tokens against the time to the first
# token.
#
# Parameters, all optional:
#
#     nusd_per_ms    what a millisecond less is worth, in nano-USD; default: 1,000,000
#
# What is in input: docs/wasm-abi.md. A price or a time that nobody knows is the
# pool's median here, so that what is new is neither first nor last.
package gatewright.ranking

nusd_per_ms := object.get(data.params, "nusd_per_ms", 1000000)

score[c.id] := c.price + (c.ttft_ms * nusd_per_ms) if some c in input.candidates
