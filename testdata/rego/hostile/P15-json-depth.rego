package gatewright.admission

deep := concat("", [lists, lists, lists, lists])

lists := "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

deny contains {"code": "x"} if json.unmarshal(concat("", [deep, input.request.model])) == 1

# want: fault
