package gatewright.admission

deny contains {"code": "x"} if glob.match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", ["."], input.request.model)

# want: refused 3 wildcards
