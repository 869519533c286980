package gatewright.admission

deny contains {"code": "x", "message": sprintf("%1000000d", [input.request.hour])} if input.request.hour > 3

deny contains {"code": "y", "message": sprintf("%*d", [1000000, input.request.hour])} if input.request.hour > 3

# want: refused 3 width
# want: refused 5 width
