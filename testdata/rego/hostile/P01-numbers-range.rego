package gatewright.admission

deny contains {"code": "x"} if count(numbers.range(1, 1000000000)) > 1

# want: refused 3 numbers.range
