package gatewright.admission

default allow := true

deny contains {"code": "x"} if input.request.hour > 20

# want: refused 3 allow is never used
