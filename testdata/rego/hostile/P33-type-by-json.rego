package gatewright.admission

# The text is an object of a number where a text is needed.
deny contains {"code": "x"} if startswith(json.unmarshal(`{"a": 5}`).a, input.request.model)

# want: fault
