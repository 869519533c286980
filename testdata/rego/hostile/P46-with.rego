package gatewright.admission

deny contains {"code": "x"} if count(input.candidates) > 3 with count as 1

deny contains {"code": "y"} if input.request.hour > 20 with input.request.hour as 3

# want: refused 3 with
# want: refused 5 with
