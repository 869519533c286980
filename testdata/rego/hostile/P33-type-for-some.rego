package gatewright.admission

deny contains {"code": "x"} if to_number(object.get(input.request.tags, "level", "low")) > 5

# want: fault
