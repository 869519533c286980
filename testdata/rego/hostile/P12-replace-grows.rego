package gatewright.admission

double(t) := replace(t, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")

deny contains {"code": "x"} if contains(double(double(double(double(double(concat("", [input.request.model, "a"])))))), "b")

# want: stopped
