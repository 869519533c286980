package gatewright.admission

deny contains {"code": "x"} if count(net.lookup_ip_addr("localhost")) > 0

# want: refused 3 net.lookup_ip_addr
