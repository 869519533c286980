package gatewright.admission

deny contains {"code": "x"} if count(a9) == 5

double(a) := array.concat(array.concat(a, a), array.concat(a, a))

a0 := [c.id | some c in input.candidates]

a1 := double(a0)

a2 := double(a1)

a3 := double(a2)

a4 := double(a3)

a5 := double(a4)

a6 := double(a5)

a7 := double(a6)

a8 := double(a7)

a9 := double(a8)

# want: stopped
