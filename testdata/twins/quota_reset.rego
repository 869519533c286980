# The twin of the built-in sort key quota_reset.
#
# When the longest window of the quota resets: the earlier the better. Who has no
# such instant gets no score.
package gatewright.ranking

score[c.id] := c.quota_reset_unix_ms if some c in input.candidates
