package gatewright.admission

deny contains {"code": "x"} if input.request.input_tokens / input.request.max_output_tokens < 3

deny contains {"code": "y"} if input.request.hour % 0 == 1

# want: refused 3 could be 0
# want: refused 5 could be 0
