package gatewright.admission

deny contains {"code": "a"} if rand.intn("x", 10) > 4

deny contains {"code": "b"} if time.now_ns() > 4

deny contains {"code": "c"} if uuid.rfc4122("x") == "y"

# want: refused 3 rand.intn
# want: refused 5 time.now_ns
# want: refused 7 uuid.rfc4122
