package gatewright.admission

deny[{"code": "x"}] { input.request.hour > 20 }

# want: refused 3 if
