package gatewright.admission

deny contains {"code": "x"} if io.jwt.decode_verify(input.request.model, {"cert": "http://127.0.0.1/jwks"})[0]

# want: refused 3 io.jwt.decode_verify
