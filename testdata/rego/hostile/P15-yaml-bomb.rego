package gatewright.admission

deny contains {"code": "x"} if yaml.unmarshal(input.request.model).a == 1

# want: refused 3 yaml.unmarshal
