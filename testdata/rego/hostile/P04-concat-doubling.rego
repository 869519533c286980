package gatewright.admission

deny contains {"code": "x"} if contains(t7, "y")

t0 := concat("", [input.request.model, "0123456789abcdef"])

t1 := concat("", [t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0, t0])

t2 := concat("", [t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1, t1])

t3 := concat("", [t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2, t2])

t4 := concat("", [t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3, t3])

t5 := concat("", [t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4, t4])

t6 := concat("", [t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5, t5])

t7 := concat("", [t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6, t6])

# want: stopped
