package gatewright.admission

decision := {"refuse": {"code": "x"}} if input.request.hour > 20

# want: refused 3 no value in some cases
