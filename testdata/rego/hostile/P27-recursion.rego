package gatewright.admission

deny contains {"code": "x"} if even(input.request.hour)

even(n) if odd(n - 1)

odd(n) if even(n - 1)

# want: refused 5 recursive
# want: refused 7 recursive
