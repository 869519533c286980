package gatewright.decision

deny contains {"code": "x"} if input.request.hour > 20

# want: refused 1 no package gatewright.decision
