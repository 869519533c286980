# Uses up the quota that is renewed first.
#
# Quota that is not used before it is renewed is lost. So a deployment whose
# quota is renewed soon and still has a share left comes before one that has
# time. A deployment without a known reset, or with too little left, gets no
# score: the gateway puts it behind those that have one, in its usual order.
#
# Parameters, all optional:
#
#     floor_ppm    the share that must be left, in millionths; default: 20000 (2 %)
package gatewright.ranking

least := object.get(data.params, "floor_ppm", 20000)

score[c.id] := c.quota_reset_unix_ms - input.request.now_unix_ms if {
	some c in input.candidates
	c.quota_left_ppm > least
	c.quota_reset_unix_ms > input.request.now_unix_ms
}
