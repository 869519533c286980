package gatewright.admission

twice(t) := hex.encode(hex.encode(hex.encode(hex.encode(t))))

deny contains {"code": "x"} if twice(twice(twice(twice(input.request.endpoint)))) == "b"

# want: fault
