package gatewright.admission

double(t) := concat("", [t, t, t, t, t, t, t, t])

long := double(double(double(double(concat("", ["abcdefgh", input.request.model])))))

deny contains {"code": "x"} if regex.replace(long, "a.*?b", "$0$0") == "y"

# want: fault
