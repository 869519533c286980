package gatewright.admission

deny contains "no"

deny contains {"code": "x", "mesage": "y"}

deny contains {"code": 5}

exclude contains {"id": c.id} if some c in input.candidates

exclude contains {"id": c.id, "reason": null} if some c in input.candidates

# want: refused 3 a text, not an object
# want: refused 5 mesage
# want: refused 7 not a text
# want: refused 9 reason
# want: refused 11 null
