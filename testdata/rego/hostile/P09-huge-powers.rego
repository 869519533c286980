package gatewright.admission

square(n) := n * n

deny contains {"code": "x"} if p6 > 5

p0 := square(square(square(square((input.request.hour + 3) * 1000003))))

p1 := square(square(square(square(p0))))

p2 := square(square(square(square(p1))))

p3 := square(square(square(square(p2))))

p4 := square(square(square(square(p3))))

p5 := square(square(square(square(p4))))

p6 := square(square(square(square(p5))))

# want: bounded
