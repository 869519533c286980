package gatewright.admission

deny contains {"code": "x"} if "10.0.0.1" in net.cidr_expand("0.0.0.0/0")

# want: refused 3 net.cidr_expand
