package gatewright.ranking

score[c.id] := (c.price + (c.ttft_ms * 1000000)) + penalty(c) if some c in input.candidates

penalty(c) := 1000000 if c.circuit == "half_open"

else := 0 if c.affinity

else := object.get(data.params, ["weights", c.region], 5)
