package gatewright.ranking

score contains {"id": c.id, "score": c.price} if some c in input.candidates

# want: refused 3 score is a set
