package gatewright.admission

deny contains {"code": "x"} if bits.lsh(1, 8000000000) > 5

# want: refused 3 bits.lsh
