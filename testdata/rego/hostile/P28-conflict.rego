package gatewright.admission

share := 1 if input.request.stream

share := 2 if input.request.hour > 3

deny contains {"code": "x"} if object.get({"share": share}, "share", 0) > 5

# want: fault
