package gatewright.admission

deny contains {"code": "x"} if rego.parse_module("x.rego", input.request.model).package == 1

# want: refused 3 rego.parse_module
