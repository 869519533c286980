package gatewright.admission

deny contains {"code": "x"} if opa.runtime().env.HOME == "/root"

# want: refused 3 opa.runtime
