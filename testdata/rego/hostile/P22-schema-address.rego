package gatewright.admission

deny contains {"code": "x"} if json.verify_schema({"$ref": "http://127.0.0.1/"})[0]

# want: refused 3 json.verify_schema
