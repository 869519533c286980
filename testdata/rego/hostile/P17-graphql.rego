package gatewright.admission

deny contains {"code": "x"} if graphql.is_valid(input.request.model, input.request.endpoint)

# want: refused 3 graphql.is_valid
