package gatewright.admission

deny contains {"code": "x"} if regex.match(object.get(input.request.tags, "pattern", ""), input.request.model)

# want: refused 3 must be a constant
