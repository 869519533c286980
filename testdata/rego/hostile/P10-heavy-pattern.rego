package gatewright.admission

deny contains {"code": "x"} if regex.match("((a?){20}){20}((b?){20}){20}", input.request.model)

# want: refused 3 too heavy
